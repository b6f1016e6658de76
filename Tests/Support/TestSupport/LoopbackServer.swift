import Foundation
import Synchronization

/// A real server on loopback, in a folder of its own and without privileges, that ends with this object.
public final class LoopbackServer: Sendable {
    /// The port.
    public let port: Int
    /// The folder with its files.
    public let folder: TestFolder
    private let process: ChildProcess

    private struct Failure: Error {
        let words: String
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - configuration: the text of its configuration file; `PORT` and `FOLDER` stand for the port and the folder.
    ///   - arguments: the arguments before the file's name.
    public init(
        _ program: String, _ arguments: [String], configuration: String, files: [String: [UInt8]] = [:]
    ) throws {
        let folder = TestFolder()
        for (name, bytes) in files { folder.write(name, bytes) }
        let probe = try ScriptedServer { _ in [] }
        let port = probe.port
        probe.stop()
        let path = folder.write(
            "server.conf",
            configuration.replacingOccurrences(of: "PORT", with: "\(port)")
                .replacingOccurrences(of: "FOLDER", with: folder.path))
        let words = open(folder.write("words", ""), O_WRONLY | O_CLOEXEC)
        defer { close(words) }
        process = try ChildProcess(program, arguments + [path], output: words, errors: words)
        (self.folder, self.port) = (folder, port)
        // Connections are refused until it listens, so they are repeated.
        for _ in 0..<3_000 {
            if Self.isOpen(port) { return }
            poll(nil, 0, 5)
        }
        throw Failure(words: (try? String(contentsOfFile: folder.path("words"), encoding: .utf8)) ?? "")
    }

    deinit {
        process.end()
    }

    /// The URL of a path.
    public func url(_ path: String, scheme: String = "http") -> String { "\(scheme)://127.0.0.1:\(port)\(path)" }

    private static func isOpen(_ port: Int) -> Bool {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
