import Foundation
import Synchronization

/// A real server on loopback, in a folder of its own and without privileges, that ends with this object.
///
/// It ends with the process as well, also with one that is killed.
public final class LoopbackServer: Sendable {
    /// The port.
    public let port: Int
    /// The folder with its files.
    public let folder: TestFolder
    private let process: ChildProcess
    /// One end of a pair of sockets. Only this process has it, so it closes whichever way this process ends.
    private let life: Int32

    private struct Failure: Error {
        let words: String
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - configuration: the text of its configuration file; nil for a program without one.
    ///   - arguments: the arguments, without the file's name, which is the last one.
    ///   - environment: the program's variables; nil for those of the tests.
    ///   - port: a certain port; 0 for any free one.
    ///
    /// In all of them, `PORT` and `FOLDER` stand for the port and the folder.
    public init(
        _ program: String, _ arguments: [String], configuration: String? = nil, files: [String: [UInt8]] = [:],
        environment: [String: String]? = nil, port: Int = 0
    ) throws {
        let folder = TestFolder()
        for (name, bytes) in files { folder.write(name, bytes) }
        let probe = try ScriptedServer(port: port) { _ in [] }
        let port = probe.port
        probe.stop()
        func fill(_ text: String) -> String {
            text.replacingOccurrences(of: "PORT", with: "\(port)")
                .replacingOccurrences(of: "FOLDER", with: folder.path)
        }
        let path = configuration.map { folder.write("server.conf", fill($0)) }
        let words = open(folder.write("words", ""), O_WRONLY | O_CLOEXEC)
        defer { close(words) }
        // No other child ever has an end: a pipe gets its flag only after it was made.
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(.EMFILE) }
        defer { close(ends[0]) }
        life = ends[1]
        process = try ChildProcess(
            "/bin/sh", ["-c", Self.guarded, program] + arguments.map(fill) + (path.map { [$0] } ?? []),
            environment: environment?.mapValues(fill), input: ends[0], output: words, errors: words)
        (self.folder, self.port) = (folder, port)
        // Connections are refused until it listens, so they are repeated.
        for _ in 0..<3_000 {
            if Self.isOpen(port) { return }
            if process.hasEnded { break }
            poll(nil, 0, 5)
        }
        throw Failure(words: text("words"))
    }

    deinit {
        close(life)
        process.wait()
    }

    /// Kills the program when this process's end is closed. The shell becomes the program, so both have the same number.
    private static let guarded = #"exec 3<&0 </dev/null; { read -r _ <&3; kill -9 $$; } & exec "$0" "$@" 3<&-"#

    /// The text of a file in the server's folder; empty if there is none.
    func text(_ name: String) -> String {
        // Servers write names that are not UTF-8 into it.
        String(decoding: FileManager.default.contents(atPath: folder.path(name)) ?? Data(), as: UTF8.self)
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
