/// Conversions to integers that cannot trap. Code must use these conversions for untrusted numbers: see
/// Tools/Scripts/check-sources.
extension FixedWidthInteger {
    /// Rounds a number towards 0 and limits it to the type's range; NaN becomes 0.
    ///
    ///     Int(clamped: 41.6) == 41
    ///     Int(clamped: 1e300) == .max
    public init(clamped number: Double) {
        let whole = number.rounded(.towardZero)
        if let exact = Self(exactly: whole) {
            self = exact
        } else {
            self = whole.isNaN ? 0 : whole < 0 ? .min : .max
        }
    }

    /// Parses a text of the digits 0 to 9. Returns nil for an empty text, or for one with a sign, a space or another
    /// character. Numbers above `bound` become `bound`.
    ///
    ///     Int(digits: "007", atMost: 100) == 7
    public init?(digits: some StringProtocol, atMost bound: Self = .max) {
        let bytes = digits.utf8
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self = Swift.min(Self(digits) ?? .max, bound)
    }
}

extension Duration {
    /// Creates a duration from 0 to about a thousand years. Limits the number of seconds to that range; NaN becomes 0.
    /// `Duration.seconds(_:)` would trap for NaN and for huge numbers.
    public static func seconds(clamped seconds: Double) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(max(seconds, 0), 3.2e10))
    }
}
