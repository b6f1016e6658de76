import Numbers
import TestSupport
import Testing

/// Byte counts, which accept any number.
struct ByteCountTests {
    @Test("Arithmetic on counts clamps to the bounds")
    func bounds() {
        let most = ByteCount.most
        #expect(most + 1 == most && most + most == most && most * Int.max == most && most * 2 == most)
        #expect((0 as ByteCount) - 1 == 0 && (5 as ByteCount) - most == 0 && (5 as ByteCount) * -3 == 0)
        #expect(most / 0 == most && most / -1 == most && (7 as ByteCount) / 2 == 3)
        #expect(ByteCount(Int64.min) == 0 && ByteCount(UInt64.max) == most && ByteCount(Int64.max) == most)
        #expect(Double(most) == 0x1p53 && ByteCount(0x1p53) == most)
    }

    @Test("A double is truncated to a count, and NaN becomes 0")
    func doubles() {
        #expect(ByteCount(Double.nan) == 0 && ByteCount(Double.infinity) == .most && ByteCount(-1e300) == 0)
        #expect(ByteCount(1e300) == .most && ByteCount(41.6) == 41)
        #expect(Int(clamped: 1e300) == .max && Int(clamped: -1e300) == .min && Int(clamped: .nan) == 0)
        #expect(Int32(clamped: 2_147_483_648) == .max && UInt8(clamped: -0.6) == 0 && UInt8(clamped: 255.4) == 255)
        #expect(Duration.seconds(clamped: .infinity) > .seconds(1e9) && Duration.seconds(clamped: .nan) == .zero)
    }

    @Test(
        "Only digits are parsed",
        arguments: [
            ("0", 0), ("007", 7), ("9007199254740992", 1 << 53), ("9007199254740993", 1 << 53),
            ("18446744073709551616", 1 << 53), (String(repeating: "9", count: 5_000), 1 << 53),
            (String(repeating: "0", count: 5_000) + "1", 1), ("", nil), ("-1", nil), ("+1", nil), (" 1", nil),
            ("1 ", nil), ("0x10", nil), ("1e3", nil), ("٣", nil), ("1_000", nil), ("1.0", nil),
        ] as [(String, Int?)])
    func digits(text: String, number: Int?) {
        #expect(ByteCount(digits: text)?.int == number)
    }

    @Test("A range between two counts in the wrong order is empty")
    func ranges() {
        #expect(((5 as ByteCount)..<3).isEmpty && ((3 as ByteCount)..<5).contains(4))
    }

    @Test("Counts agree with wide arithmetic, clamped, for random numbers around every power of two")
    func random() {
        var numbers = SeededNumbers(seed: 3)
        func clamped(_ number: Int128) -> Int { Int(min(max(number, 0), 1 << 53)) }
        for _ in 0..<20_000 {
            let (left, right) = (Self.edge(&numbers), Self.edge(&numbers))
            let (a, b) = (ByteCount(left), ByteCount(right))
            #expect((a + b).int == clamped(Int128(a.int) + Int128(b.int)))
            #expect((a - b).int == clamped(Int128(a.int) - Int128(b.int)))
            let factor = Int(clamping: right)
            #expect((a * factor).int == clamped(Int128(a.int) * Int128(factor)))
        }
    }

    /// A number beside a power of two, or its negative.
    private static func edge(_ numbers: inout SeededNumbers) -> Int64 {
        let power = Int64(1) << Int.random(in: 0...62, using: &numbers)
        let near = power &+ Int64.random(in: -3...3, using: &numbers)
        return Bool.random(using: &numbers) ? near : 0 &- near
    }
}
