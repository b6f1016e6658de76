/// The pieces in which a photo is requested.
///
/// Many new connections start many times as fast as one, and a lost packet slows down one of them, not the whole photo.
/// A transfer in pieces also stops without waste: it requests no further piece and keeps its connections.
public struct TransferPieces: Hashable, Sendable {
    /// Bytes to keep requested and not received.
    public let window: Double
    /// Bytes of one piece.
    public let size: Double

    /// The most pieces that run at once.
    public static let most = 24
    /// From about what a server sends on a new connection at once (RFC 6928) to what arrives soon, because the others
    /// wait for a piece that is late.
    private static let sizes = 16_384.0...262_144.0

    /// Creates pieces of a size with which the most that may run fill the host's window.
    init(window: Double, of most: Double) {
        self.window = window
        size = min(max(most / Double(Self.most), Self.sizes.lowerBound), Self.sizes.upperBound)
    }

    /// Everything in one request.
    static let unlimited = TransferPieces(window: .infinity, of: .infinity)
}
