import Foundation

/// A stand-in for an Immich server with made-up photos.
///
/// Tests cannot install a real server. `Immich/immich.py` is written from Immich's published description, and a client
/// that is generated from the description checks the answers.
public final class ImmichServer: Sendable {
    /// An API key with all permissions.
    public static let key = "k3y-with-all-permissions"
    private let server: LoopbackServer

    /// Starts a server. It listens when this returns.
    ///
    /// - Parameters:
    ///   - photos: the number of photos at the start.
    ///   - settings: more settings, as `immich.py` describes them.
    public static func start(
        photos: Int, keys: [String: [String]] = [key: ["all"]], settings: [String: any Sendable] = [:]
    ) async throws -> ImmichServer {
        var all: [String: Any] = settings
        all["photos"] = photos
        all["keys"] = keys
        let written = try JSONSerialization.data(withJSONObject: all)
        // Other tests go on while the server starts.
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try ImmichServer(settings: Array(written)) })
            }
        }
    }

    private init(settings: [UInt8]) throws {
        server = try LoopbackServer(
            "/usr/bin/python3",
            ["-B", Self.script("immich"), "PORT", "FOLDER/requests", "FOLDER/settings", "FOLDER/control"],
            files: ["settings": settings])
    }

    /// Returns the path of a script of the stand-in.
    public static func script(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Immich/\(name).py").path
    }

    /// The URL of a path.
    public func url(_ path: String) -> String { server.url(path) }

    /// Gives an order, which the next request obeys. `immich.py` describes the orders.
    public func order(_ members: [String: any Sendable]) throws {
        let line = try JSONSerialization.data(withJSONObject: members) + [UInt8(ascii: "\n")]
        let path = server.folder.path("control")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: line)
    }

    /// The requests so far, with the statuses of the answers.
    ///
    /// An example is `POST /api/search/metadata 1 200`.
    ///
    /// The server records a request before it sends the answer.
    public var requests: [String] { server.text("requests").split(separator: "\n").map(String.init) }
}
