/// A stand-in for a Piwigo server with made-up photos.
///
/// Tests cannot install a real server. `Piwigo/piwigo.py` is written from Piwigo's published source, and was compared
/// with a real server.
public final class PiwigoServer: RecordingServer {
    /// An API key with which a user sees all albums.
    public static let key = "\(keyID):\(keySecret)"
    /// The first half of the API key.
    public static let keyID = "pkid-20240506-abcdefghij0123456789"
    /// The second half of the API key.
    public static let keySecret = "abcdefghij0123456789ABCDEFGHIJ0123456789"
    private let script: StandIn

    /// Starts a server. It listens when this returns.
    ///
    /// - Parameters:
    ///   - photos: the number of photos at the start.
    ///   - settings: more settings, as `piwigo.py` describes them.
    public static func start(photos: Int, settings: [String: any Sendable] = [:]) async throws -> PiwigoServer {
        var all: [String: Any] = settings
        all["photos"] = photos
        all["keys"] = [key]
        return PiwigoServer(try await StandIn.start("Piwigo/piwigo", settings: all))
    }

    private init(_ script: StandIn) { self.script = script }

    /// The URL of a path.
    public func url(_ path: String) -> String { script.url(path) }

    /// Gives an order, which the next request obeys. `piwigo.py` describes the orders.
    public func order(_ members: [String: any Sendable]) throws { try script.order(members) }

    /// The requests so far, with the statuses of the answers.
    ///
    /// An example is `POST /ws.php pwg.categories.getImages 0 200`.
    public var requests: [String] { script.requests }
}
