/// A number of bytes that comes from a server: a length, offset, limit or sum.
///
///     let whole = ByteCount(digits: "9223372036854775807") ?? 0    // clamped to the maximum
///     let end = begin + length                                      // never traps
///
/// The number is from 0 to ``most``, and its operators limit results to that range instead of trapping. So calculations
/// with untrusted numbers are safe. Plain integers may trap, so Tools/Scripts/check-sources forbids `+`, `-` and `*`
/// beside ``int`` in the modules that read from the network.
public struct ByteCount: Hashable, Comparable, Sendable {
    /// The number as a plain integer, for system calls and output.
    public let int: Int

    /// The greatest count: more than any disk holds, and exact as a `Double`.
    public static let most = ByteCount(1 << 53)

    /// Creates a count from an integer of any type. Limits the integer to the range from 0 to ``most``.
    public init(_ number: some BinaryInteger) {
        int = min(max(Int(clamping: number), 0), 1 << 53)
    }

    /// Creates a count from a number. Rounds towards 0 and limits the result to the range from 0 to ``most``; NaN
    /// becomes 0.
    public init(_ number: Double) {
        self.init(Int(clamped: number))
    }

    /// Parses decimal digits. Returns nil if the text is empty or has other characters. Numbers above ``most`` become
    /// ``most``.
    public init?(digits: some StringProtocol) {
        guard let number = Int(digits: digits, atMost: 1 << 53) else { return nil }
        self.init(number)
    }

    /// The number as a 64-bit integer.
    public var int64: Int64 { Int64(int) }

    /// Compares two counts by size.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.int < right.int }
}

/// Arithmetic that cannot overflow. The bounds keep sums and differences within 64 bits; only products need a check.
extension ByteCount {
    /// Returns the sum, at most ``most``.
    public static func + (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.int + right.int) }

    /// Returns the difference, at least 0.
    public static func - (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.int - right.int) }

    /// Returns the product, at most ``most``.
    public static func * (left: ByteCount, right: Int) -> ByteCount {
        let (product, isTooLarge) = left.int.multipliedReportingOverflow(by: max(right, 0))
        return isTooLarge ? most : ByteCount(product)
    }

    /// Returns the quotient, rounded down. Returns ``most`` for a divisor below 1.
    public static func / (left: ByteCount, right: Int) -> ByteCount {
        right > 0 ? ByteCount(left.int / right) : most
    }

    /// Returns the shifted number, at most ``most``: `1 << 20` is a mebibyte.
    public static func << (left: ByteCount, right: Int) -> ByteCount { left * (1 << min(max(right, 0), 53)) }

    /// Returns the range between two counts. The range is empty if the counts are in the wrong order.
    public static func ..< (first: ByteCount, end: ByteCount) -> Range<ByteCount> {
        Range(uncheckedBounds: (first, max(first, end)))
    }

    /// Adds a count to this count. The result is at most ``most``.
    public static func += (left: inout ByteCount, right: ByteCount) { left = left + right }

    /// Subtracts a count from this count. The result is at least 0.
    public static func -= (left: inout ByteCount, right: ByteCount) { left = left - right }
}

extension ByteCount: ExpressibleByIntegerLiteral {
    /// Creates a count from an integer literal.
    public init(integerLiteral number: Int) { self.init(number) }
}

extension ByteCount: CustomStringConvertible {
    /// The number in decimal digits.
    public var description: String { String(int) }
}

extension Double {
    /// Converts a byte count, which a `Double` represents exactly.
    public init(_ count: ByteCount) { self.init(count.int) }
}

extension Range<ByteCount> {
    /// The number of bytes in the range.
    public var length: ByteCount { upperBound - lowerBound }
}

// MARK: - Conversions

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
