/// A number of bytes that comes from a server: a length, offset, limit or sum.
///
///     let whole = ByteCount(digits: "9223372036854775807") ?? 0    // clamped to the maximum
///     let end = begin + length                                      // never traps
///
/// It lies between 0 and ``most``, and its operators clamp instead of trapping. So untrusted numbers are safe. ``int``
/// leaves the type: Tools/Scripts/check-sources forbids `+`, `-` and `*` beside it in the modules that read from the
/// network.
public struct ByteCount: Hashable, Comparable, Sendable {
    /// The number as a plain integer, for system calls and output.
    public let int: Int

    /// The maximum: more than any disk holds, and exact as a `Double`.
    public static let most = ByteCount(1 << 53)

    /// Clamps an integer of any type.
    public init(_ number: some BinaryInteger) {
        int = min(max(Int(clamping: number), 0), 1 << 53)
    }

    /// Truncates and clamps a number; 0 for NaN.
    public init(_ number: Double) {
        self.init(Int(clamped: number))
    }

    /// Parses decimal digits; nil for other characters. Huge numbers are clamped.
    public init?(digits: some StringProtocol) {
        guard let number = Int(digits: digits, atMost: 1 << 53) else { return nil }
        self.init(number)
    }

    /// The number as a 64-bit integer.
    public var int64: Int64 { Int64(int) }

    /// Orders by size.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.int < right.int }
}

/// The bounds keep sums, differences and 1,024ths within 64 bits. Only products can overflow.
extension ByteCount {
    /// The sum, or ``most``.
    public static func + (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.int + right.int) }

    /// The difference, or 0.
    public static func - (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.int - right.int) }

    /// The product, or ``most``.
    public static func * (left: ByteCount, right: Int) -> ByteCount {
        let (product, isTooLarge) = left.int.multipliedReportingOverflow(by: max(right, 0))
        return isTooLarge ? most : ByteCount(product)
    }

    /// The quotient, rounded down; ``most`` for a divisor below 1.
    public static func / (left: ByteCount, right: Int) -> ByteCount {
        right > 0 ? ByteCount(left.int / right) : most
    }

    /// The shifted number, or ``most``: `1 << 20` is a mebibyte.
    public static func << (left: ByteCount, right: Int) -> ByteCount { left * (1 << min(max(right, 0), 53)) }

    /// The range between two counts; empty if they are in the wrong order.
    public static func ..< (first: ByteCount, end: ByteCount) -> Range<ByteCount> {
        Range(uncheckedBounds: (first, max(first, end)))
    }

    /// Adds.
    public static func += (left: inout ByteCount, right: ByteCount) { left = left + right }

    /// Subtracts.
    public static func -= (left: inout ByteCount, right: ByteCount) { left = left - right }
}

extension ByteCount: ExpressibleByIntegerLiteral {
    /// Makes a count from a literal.
    public init(integerLiteral number: Int) { self.init(number) }
}

extension ByteCount: CustomStringConvertible {
    /// The digits.
    public var description: String { String(int) }
}

extension Double {
    /// The exact number.
    public init(_ count: ByteCount) { self.init(count.int) }
}
