/// A number of bytes that a server states, or that follows from such a number: a length, an offset, a limit, a sum.
///
///     let whole = ByteCount(digits: "9223372036854775807") ?? 0    // as much as there can be
///     let end = begin + length                                      // never traps
///
/// It is never negative and never above ``most``, and its operators stop at these bounds in place of trapping. So code that
/// counts with it may take any number from outside. ``int`` leads out of the type: Tools/Scripts/check-sources forbids `+`, `-` and
/// `*` beside it in the modules that read from the network.
public struct ByteCount: Hashable, Comparable, Sendable {
    /// The number as a plain integer, for system calls and for what is shown.
    public let int: Int

    /// Far more than any disk holds; small enough that a `Double` has it exactly.
    public static let most = ByteCount(1 << 53)

    /// Takes an integer of any type, and the nearest bound for one that is out of bounds.
    public init(_ number: some BinaryInteger) {
        int = min(max(Int(clamping: number), 0), 1 << 53)
    }

    /// Takes the whole part of a number; 0 for one that is not a number.
    public init(_ number: Double) {
        self.init(Int(clamped: number))
    }

    /// Reads decimal digits; nil for what holds anything else. A number beyond all bounds is as much as there can be.
    public init?(digits: some StringProtocol) {
        guard let number = Int(digits: digits, atMost: 1 << 53) else { return nil }
        self.init(number)
    }

    /// The same as a 64-bit integer, for what is stored and shown.
    public var int64: Int64 { Int64(int) }

    /// The smaller number comes first.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.int < right.int }
}

/// Bounds keep sums and differences of two counts, and a count in 1,024 pieces, within 64 bits. A product may leave them.
extension ByteCount {
    /// The sum, or ``most``.
    public static func + (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.int + right.int) }

    /// The difference, or 0.
    public static func - (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.int - right.int) }

    /// So many times as much, or ``most``.
    public static func * (left: ByteCount, right: Int) -> ByteCount {
        let (product, isTooLarge) = left.int.multipliedReportingOverflow(by: max(right, 0))
        return isTooLarge ? most : ByteCount(product)
    }

    /// A part, rounded down; ``most`` where the divisor is not above 0.
    public static func / (left: ByteCount, right: Int) -> ByteCount {
        right > 0 ? ByteCount(left.int / right) : most
    }

    /// Twice as much so many times, or ``most``: `1 << 20` is a mebibyte.
    public static func << (left: ByteCount, right: Int) -> ByteCount { left * (1 << min(max(right, 0), 53)) }

    /// The range between two counts; an empty one where they are in the wrong order.
    public static func ..< (first: ByteCount, end: ByteCount) -> Range<ByteCount> {
        Range(uncheckedBounds: (first, max(first, end)))
    }

    /// Adds.
    public static func += (left: inout ByteCount, right: ByteCount) { left = left + right }

    /// Subtracts.
    public static func -= (left: inout ByteCount, right: ByteCount) { left = left - right }
}

extension ByteCount: ExpressibleByIntegerLiteral {
    /// A number that stands in the source.
    public init(integerLiteral number: Int) { self.init(number) }
}

extension ByteCount: CustomStringConvertible {
    /// The digits.
    public var description: String { String(int) }
}

extension Double {
    /// The same number; every count fits exactly.
    public init(_ count: ByteCount) { self.init(count.int) }
}
