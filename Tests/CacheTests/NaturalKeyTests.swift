import Testing

@testable import Cache

@Suite struct NaturalKeyTests {
    private func precedes(_ left: String, _ right: String) -> Bool {
        NaturalKey.bytes(of: left).lexicographicallyPrecedes(NaturalKey.bytes(of: right))
    }

    @Test func numbersCount() {
        for (left, right) in [("IMG 2", "IMG 10"), ("img 2", "IMG 3"), ("a 009", "a 10"), ("a", "a 1"), ("1", "a")] {
            #expect(precedes(left, right) && !precedes(right, left), "\(left), \(right)")
        }
    }

    /// One name must not end the program, and a number with one digit more is the larger one, up to as many as are looked at.
    @Test func numbersMayBeOfAnyLength() {
        for count in [1, 2, 253, 254, 255, 256, 257, 300, 600] {
            let nines = String(repeating: "9", count: count)
            let power = "1" + String(repeating: "0", count: count)
            #expect(precedes(nines, power) == (count < 256), "\(count)")
            #expect(precedes(String(repeating: "0", count: count) + "1", "2"), "\(count)")
        }
    }
}
