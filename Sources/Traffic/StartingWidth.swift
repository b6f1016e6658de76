/// How many thumbnails are asked for over a link of which nothing has been measured: enough for a fast one to show itself, and
/// on a slow one not more than are soon through.
///
/// Over connections of their own servers send all of that at once (RFC 6928), and a link of some megabits drops the end of it.
/// So there it begins with less, and as a sender does, slowly: with each connection that stands there is room for one more,
/// whose answer comes when those of the first are through. Over a secure connection, which all may come to share, answers come
/// one behind the other, however many are asked for.
struct StartingWidth: Sendable {
    /// How many it is by now.
    private(set) var width: Double
    private let most: Double

    /// So many where answers come over one connection, and where everything is begun anew.
    static let overOne = 8.0
    private static let overMany = 6.0

    init(isSecure: Bool) {
        (width, most) = isSecure ? (Self.overOne, Self.overOne) : (Self.overMany, 2 * Self.overMany)
    }

    /// A connection stands.
    mutating func noteConnected() {
        width = min(width + 1, most)
    }
}
