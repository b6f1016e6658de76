/// A rating of a photo: zero to five stars, or rejected.
///
///     Rating(4).stars         // 4
///     Rating.rejected.text    // "-1"
public struct Rating: Hashable, Sendable {
    /// The number of stars, 0 to 5; 0 for a rejected photo.
    public var stars: Int { max(0, value) }
    /// The rating as a number: the number of stars, or -1 for a rejected photo. XMP uses the same numbers.
    public let value: Int

    /// The rating of a photo that is not rated, or has no stars.
    public static let none = Rating(0)
    /// The rating of a photo that the user rejected.
    public static let rejected = Rating(-1)
    /// The maximum number of stars of a photo.
    public static let mostStars = 5

    /// Creates a rating from its number. Numbers below -1 or above 5 become the nearest rating.
    public init(_ value: some BinaryInteger) {
        self.value = Int(clamping: value).clamped(-1...Self.mostStars)
    }

    /// Reads the number of a rating. Returns nil for other texts.
    public init?(text: some StringProtocol) {
        guard let value = Int(text), (-1...Self.mostStars).contains(value) else { return nil }
        self.init(value)
    }

    /// The number of the rating as text.
    public var text: String { String(value) }
}

extension Int {
    fileprivate func clamped(_ range: ClosedRange<Int>) -> Int {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
