/// The pieces into which a photo's transfer is split.
///
/// Many new connections start many times as fast as one, and a lost packet slows down one of them, not the whole photo.
/// A transfer in pieces also stops without waste: it requests no further piece and keeps its connections.
public struct TransferPieces: Hashable, Sendable {
    /// The number of bytes to keep requested but not yet received.
    public let window: Double
    /// The number of bytes per piece.
    public let size: Double

    /// The most pieces that run at once.
    public static let most = 24
    /// The smallest and the largest piece in bytes. A server sends about as much as the smallest piece at once on a new
    /// connection (RFC 6928). The largest piece arrives soon, because the other pieces wait for a late piece.
    private static let sizes = 16_384.0...262_144.0

    /// Creates pieces for a window. The most pieces that may run at once fill the host's window.
    init(window: Double, of most: Double) {
        self.window = window
        size = min(max(most / Double(Self.most), Self.sizes.lowerBound), Self.sizes.upperBound)
    }

    /// Pieces without limits, which means the whole content in one request.
    static let unlimited = TransferPieces(window: .infinity, of: .infinity)
}
