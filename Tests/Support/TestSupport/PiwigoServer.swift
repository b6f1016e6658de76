import Foundation

/// A stand-in for a Piwigo server with made-up photos.
///
/// Tests cannot install a real server. `Piwigo/piwigo.py` is written from Piwigo's published source, and was compared
/// with a real server.
public final class PiwigoServer: Sendable {
    /// An API key with which a user sees all albums.
    public static let key = "\(keyID):\(keySecret)"
    /// The first half of the API key.
    public static let keyID = "pkid-20240506-abcdefghij0123456789"
    /// The second half of the API key.
    public static let keySecret = "abcdefghij0123456789ABCDEFGHIJ0123456789"
    private let server: LoopbackServer

    /// Starts a server. It listens when this returns.
    ///
    /// - Parameters:
    ///   - photos: the number of photos at the start.
    ///   - settings: more settings, as `piwigo.py` describes them.
    public static func start(photos: Int, settings: [String: any Sendable] = [:]) async throws -> PiwigoServer {
        var all: [String: Any] = settings
        all["photos"] = photos
        all["keys"] = [key]
        let written = try JSONSerialization.data(withJSONObject: all)
        // Other tests go on while the server starts.
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try PiwigoServer(settings: Array(written)) })
            }
        }
    }

    private init(settings: [UInt8]) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Piwigo/piwigo.py").path
        server = try LoopbackServer(
            "/usr/bin/python3", ["-B", script, "PORT", "FOLDER/requests", "FOLDER/settings", "FOLDER/control"],
            files: ["settings": settings])
    }

    /// The URL of a path.
    public func url(_ path: String) -> String { server.url(path) }

    /// Gives an order, which the next request obeys. `piwigo.py` describes the orders.
    public func order(_ members: [String: any Sendable]) throws {
        let line = try JSONSerialization.data(withJSONObject: members) + [UInt8(ascii: "\n")]
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: server.folder.path("control")))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: line)
    }

    /// The requests so far, with the statuses of the answers.
    ///
    /// An example is `POST /ws.php pwg.categories.getImages 0 200`.
    ///
    /// The server records a request before it sends the answer.
    public var requests: [String] { server.text("requests").split(separator: "\n").map(String.init) }
}
