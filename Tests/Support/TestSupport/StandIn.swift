import Foundation

/// A Python script that stands in for a server that tests cannot install.
///
/// The script gets a port, a file for its log, a file with settings in JSON, and a file with orders.
public final class StandIn: Sendable {
    private let server: LoopbackServer

    /// Starts a script. It listens when this returns.
    ///
    /// - Parameters:
    ///   - script: the path of the script below the folder of this file, without its ending.
    ///   - settings: the settings, as the script describes them.
    public static func start(_ script: String, settings: [String: Any]) async throws -> StandIn {
        let written = try JSONSerialization.data(withJSONObject: settings)
        // Other tests go on while the server starts.
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try StandIn(script, settings: Array(written)) })
            }
        }
    }

    private init(_ script: String, settings: [UInt8]) throws {
        server = try LoopbackServer(
            "/usr/bin/python3",
            ["-B", Self.path(of: script), "PORT", "FOLDER/requests", "FOLDER/settings", "FOLDER/control"],
            files: ["settings": settings])
    }

    /// Returns the path of a script below the folder of this file.
    public static func path(of script: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("\(script).py").path
    }

    /// Runs a script that reads from a server with a client from PyPI.
    public static func check(_ script: String, _ arguments: [String]) throws -> Command {
        let packages = URL(fileURLWithPath: Built.testGallery + "/../.build/test-servers").standardized.path
        return try Command(
            "/usr/bin/python3", ["-B", path(of: script)] + arguments,
            environment: ["PYTHONPATH": packages, "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"])
    }

    /// The URL of a path.
    public func url(_ path: String) -> String { server.url(path) }

    /// Gives an order, which the next request obeys. The script describes the orders.
    public func order(_ members: [String: any Sendable]) throws {
        let line = try JSONSerialization.data(withJSONObject: members) + [UInt8(ascii: "\n")]
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: server.folder.path("control")))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: line)
    }

    /// The requests so far, with the statuses of the answers. The script records a request before it sends the answer.
    public var requests: [String] { server.text("requests").split(separator: "\n").map(String.init) }
}

/// A server that records its requests.
public protocol RecordingServer: Sendable {
    /// The requests so far, with the statuses of the answers.
    var requests: [String] { get }
}
