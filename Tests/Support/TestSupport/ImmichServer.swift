/// A stand-in for an Immich server with made-up photos.
///
/// Tests cannot install a real server. `Immich/immich.py` is written from Immich's published description, and a client
/// that is generated from the description checks the answers.
public final class ImmichServer: RecordingServer {
    /// An API key with all permissions.
    public static let key = "k3y-with-all-permissions"
    private let script: StandIn

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
        return ImmichServer(try await StandIn.start("Immich/immich", settings: all))
    }

    private init(_ script: StandIn) { self.script = script }

    /// The URL of a path.
    public func url(_ path: String) -> String { script.url(path) }

    /// Gives an order, which the next request obeys. `immich.py` describes the orders.
    public func order(_ members: [String: any Sendable]) throws { try script.order(members) }

    /// The requests so far, with the statuses of the answers.
    ///
    /// An example is `POST /api/search/metadata 1 200`.
    public var requests: [String] { script.requests }
}
