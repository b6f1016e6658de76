import Testing

@testable import Cache

@Suite struct NaturalKeyTests {
    private func precedes(_ left: String, _ right: String) -> Bool {
        NaturalKey.bytes(of: left).lexicographicallyPrecedes(NaturalKey.bytes(of: right))
    }

    @Test func numbersCompareByValue() {
        for (left, right) in [("IMG 2", "IMG 10"), ("img 2", "IMG 3"), ("a 009", "a 10"), ("a", "a 1"), ("1", "a")] {
            #expect(precedes(left, right) && !precedes(right, left), "\(left), \(right)")
        }
    }

    /// Long numbers must not end the program, and a number with more digits is the larger one.
    @Test func numbersMayBeOfAnyLength() {
        for count in [1, 2, 253, 254, 255, 256, 257, 300, 600] {
            let nines = String(repeating: "9", count: count)
            let power = "1" + String(repeating: "0", count: count)
            #expect(precedes(nines, power) == (count < 256), "\(count)")
            #expect(precedes(String(repeating: "0", count: count) + "1", "2"), "\(count)")
        }
    }
}

/// Keys are stored in caches, so a faster algorithm must produce the same ones.
@Suite struct StoredNaturalKeyTests {
    /// The keys of the first version, for a locale that leaves text as it is.
    private func key(of name: String) -> [UInt8] {
        var key: [UInt8] = []
        var rest = Array(name.lowercased().utf8.prefix(256))[...]
        while !rest.isEmpty {
            let text = rest.prefix { !(0x30...0x39).contains($0) }
            key += Array(String(decoding: text.filter { $0 != 0 }, as: UTF8.self).utf8) + [0]
            rest = rest.dropFirst(text.count)
            let number = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(number.count)
            guard !number.isEmpty else { break }
            let digits = number.drop { $0 == UInt8(ascii: "0") }
            key += [UInt8](repeating: .max, count: digits.count / 255) + [UInt8(digits.count % 255)] + digits
        }
        return key
    }

    @Test func storedKeysNeverChange() {
        let long = String(repeating: "Straße 007 ", count: 30)
        let names = [
            "", "a", "IMG 0042", "Éa1É2", "0", "00", "a0b", "A\u{0}B 1", "ÀÉ", "日本 12 x", long, "x" + long,
            String(repeating: "a", count: 255) + "é", String(repeating: "a", count: 254) + "🏔", "İ", "ǅ 3",
        ]
        for name in names {
            for locale in ["C", "C.UTF-8", "anything else"] {
                var maker = NaturalKey(locale: locale)
                for _ in 0..<2 {
                    maker.make(of: Array(name.utf8)[...])
                    #expect(maker.bytes == key(of: name), "\(name), \(locale)")
                }
            }
        }
    }
}
