/// A stand-in for a PhotoPrism server with made-up photos.
///
/// Tests cannot install a real server. `PhotoPrism/photoprism.py` is written from the server's published source.
public final class PhotoPrismServer: RecordingServer {
    /// An app password for everything.
    public static let password = "aBcDe1-fGhIj2-kLmNo3-pQrSt4"
    /// The name of a user, and the user's password.
    public static let user = (name: "reader", password: "reader-s3cret")
    private let script: StandIn

    /// Starts a server. It listens when this returns.
    ///
    /// - Parameters:
    ///   - photos: the number of photos at the start.
    ///   - settings: more settings, as `photoprism.py` describes them.
    public static func start(
        photos: Int, settings: [String: any Sendable] = [:]
    ) async throws -> PhotoPrismServer {
        var all: [String: Any] = ["passwords": [password: "*"], "users": [user.name: user.password]]
        all.merge(settings) { $1 }
        all["photos"] = photos
        return PhotoPrismServer(try await StandIn.start("PhotoPrism/photoprism", settings: all))
    }

    private init(_ script: StandIn) { self.script = script }

    /// The URL of a path.
    public func url(_ path: String) -> String { script.url(path) }

    /// Gives an order, which the next request obeys. `photoprism.py` describes the orders.
    public func order(_ members: [String: any Sendable]) throws { try script.order(members) }

    /// The requests so far, without tokens and with the statuses of the answers.
    ///
    /// An example is `GET /api/v1/photos 1000 200`.
    public var requests: [String] { script.requests }
}
