import Foundation
import Synchronization

/// A server on loopback over TLS with one fault, run by a program of `FaultyServers`.
public final class FaultyServer: Sendable {
    private let process: Mutex<ChildProcess?>
    private let lines = Mutex<[String]>([])
    /// Opens when all output is in ``lines``.
    private let hasSaidAll = Gate()
    /// The port.
    public let port: Int

    private struct Failure: Error {}

    /// An HTTP/2 server.
    ///
    /// - Parameters:
    ///   - fault: a fault that `FaultyServers/http2.py` knows.
    ///   - body: a file with the body of answers; nil for a thousand digits.
    public static func http2(
        _ fault: String, _ pair: TestAuthority.Pair, body: String? = nil
    ) throws -> FaultyServer {
        try FaultyServer("http2.py", [pair.certificate, pair.key, fault] + (body.map { [$0] } ?? []))
    }

    /// A TLS relay to a plain server. It ends with it, with or without a close_notify.
    public static func relay(to port: Int, bidsFarewell: Bool, _ pair: TestAuthority.Pair) throws -> FaultyServer {
        try FaultyServer(
            "relay.py", [pair.certificate, pair.key, "\(port)", bidsFarewell ? "farewell" : "silence"])
    }

    /// Starts the program. It listens when this returns.
    private init(_ script: String, _ arguments: [String]) throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("FaultyServers/\(script)").path
        let pipe = try ChildProcess.makePipe()
        process = Mutex(try ChildProcess("/usr/bin/python3", ["-B", path] + arguments, output: pipe.writing))
        close(pipe.writing)
        let reader = FileHandle(fileDescriptor: pipe.reading, closeOnDealloc: true)
        guard let first = Self.line(reader), let port = Int(first) else { throw Failure() }
        self.port = port
        Thread.detachNewThread { [weak self, hasSaidAll] in
            defer { hasSaidAll.open() }
            while let line = Self.line(reader) {
                guard let self else { return }
                lines.withLock { $0.append(line) }
            }
        }
    }

    deinit {
        process.withLock { _ = $0?.end() }
    }

    /// The URL of a path.
    public func url(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }

    /// Ends the server and returns all its requests.
    ///
    /// It prints each request before the answer, but the output may be read later than the answer arrives. After the
    /// end it is complete.
    public func end() -> [String] {
        process.withLock { process in
            process?.end()
            process = nil
        }
        hasSaidAll.wait()
        return lines.withLock { $0 }
    }

    private static func line(_ reader: FileHandle) -> String? {
        var bytes: [UInt8] = []
        while let byte = try? reader.read(upToCount: 1)?.first {
            if byte == 10 { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return nil
    }
}
