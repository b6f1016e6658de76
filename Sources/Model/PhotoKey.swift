/// The cache's own number for a photo.
///
/// It stays with the photo through every update and is never given to another, so a selection, a wish or a drawn
/// picture that holds one cannot come to mean something else.
public struct PhotoKey: Hashable, Comparable, Sendable {
    /// The number itself: the photo's row.
    public let rawValue: Int64

    /// Wraps a row's number.
    public init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// In the order in which the photos came into the cache.
    public static func < (left: PhotoKey, right: PhotoKey) -> Bool {
        left.rawValue < right.rawValue
    }
}
