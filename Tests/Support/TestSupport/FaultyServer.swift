import Foundation
import Synchronization

/// A server on loopback, over TLS, that does one thing wrong: a program of `FaultyServers`.
public final class FaultyServer: Sendable {
    private let process: Mutex<ChildProcess?>
    private let lines = Mutex<[String]>([])
    /// Open when everything that it ever said is in ``lines``.
    private let hasSaidAll = Gate()
    /// Where it listens.
    public let port: Int

    private struct Failure: Error {}

    /// One that speaks HTTP/2.
    ///
    /// - Parameters:
    ///   - fault: one of those that `FaultyServers/http2.py` knows.
    ///   - body: a file of what it answers with; nil for a thousand digits.
    public static func http2(
        _ fault: String, _ pair: TestAuthority.Pair, body: String? = nil
    ) throws -> FaultyServer {
        try FaultyServer("http2.py", [pair.certificate, pair.key, fault] + (body.map { [$0] } ?? []))
    }

    /// One that hands everything on to a server without TLS, and ends when that does: in order, with a farewell, or by just
    /// closing the connection.
    public static func relay(to port: Int, bidsFarewell: Bool, _ pair: TestAuthority.Pair) throws -> FaultyServer {
        try FaultyServer(
            "relay.py", [pair.certificate, pair.key, "\(port)", bidsFarewell ? "farewell" : "silence"])
    }

    /// Starts it. It listens when this returns.
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

    /// Ends it. Returns all that it was asked for.
    ///
    /// It says what it is asked for before it answers, but that is read when there is time: whoever has the answer may be
    /// ahead of it. What it has said by its end is all there, and here.
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
