import Foundation
import Synchronization

/// An HTTP/2 server on loopback, over TLS, that does one thing wrong.
public final class FaultyHTTP2Server: Sendable {
    private let process: ChildProcess
    private let lines = Mutex<[String]>([])
    private let news = NSCondition()
    /// Where it listens.
    public let port: Int

    private struct Failure: Error {}

    /// Starts it. It listens when this returns.
    ///
    /// - Parameter fault: one of those that `FaultyServers/http2.py` knows.
    public init(_ fault: String, _ pair: TestAuthority.Pair) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("FaultyServers/http2.py").path
        let pipe = try ChildProcess.makePipe()
        process = try ChildProcess(
            "/usr/bin/python3", ["-B", script, pair.certificate, pair.key, fault], output: pipe.writing)
        close(pipe.writing)
        let reader = FileHandle(fileDescriptor: pipe.reading, closeOnDealloc: true)
        guard let first = Self.line(reader), let port = Int(first) else { throw Failure() }
        self.port = port
        Thread.detachNewThread { [weak self] in
            while let line = Self.line(reader) {
                guard let self else { return }
                lines.withLock { $0.append(line) }
                news.lock()
                news.broadcast()
                news.unlock()
            }
        }
    }

    deinit {
        process.end()
    }

    /// The URL of a path.
    public func url(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }

    /// What it was asked for so far.
    public var log: [String] { lines.withLock { $0 } }

    /// Waits until it was asked for something; false if it was not within half a minute, which means that the test has
    /// failed.
    public func wait(for line: String) -> Bool {
        let deadline = Date(timeIntervalSinceNow: 30)
        news.lock()
        defer { news.unlock() }
        while !log.contains(line) {
            guard news.wait(until: deadline) else { return log.contains(line) }
        }
        return true
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
