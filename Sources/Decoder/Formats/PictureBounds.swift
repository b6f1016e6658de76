import Pixels

/// How large a picture may claim to be. A file of 291 bytes can claim 65,500 × 65,500 pixels and cost seconds and
/// gigabytes; so the claim is judged before anything is allocated for it.
enum PictureBounds {
    /// The most pixels of a picture that is read row by row: what costs time only.
    static let mostPixels = 300_000_000
    /// The most pixels of a picture that has to be held whole before its first row is final, at 3 to 8 bytes each.
    static let mostBufferedPixels = 100_000_000

    /// Refuses what is empty or too large.
    static func check(_ size: PixelSize, isHeldWhole: Bool) throws(DecodeFailure) {
        guard size.width > 0, size.height > 0 else { throw .damaged("it has no pixels") }
        let side = DecodeReply.largestSourceSide
        let most = isHeldWhole ? mostBufferedPixels : mostPixels
        guard size.width <= side, size.height <= side, size.width * size.height <= most else {
            throw .tooLarge(width: size.width, height: size.height)
        }
    }
}
