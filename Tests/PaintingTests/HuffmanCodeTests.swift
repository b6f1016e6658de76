import Testing

@testable import Painting

@Suite struct HuffmanCodeTests {
    private func counts(_ pairs: [(symbol: Int, count: Int)]) -> [Int] {
        var counts = [Int](repeating: 0, count: 256)
        for pair in pairs { counts[pair.symbol] = pair.count }
        return counts
    }

    /// Fibonacci numbers as counts make the deepest trees.
    @Test func noCodeIsLongerThanSixteenBits() {
        var pairs: [(symbol: Int, count: Int)] = []
        var (a, b) = (1, 1)
        for symbol in 0..<30 {
            pairs.append((symbol, a))
            (a, b) = (b, a + b)
        }
        let code = HuffmanCode(counts: counts(pairs))
        #expect(code.lengths.max() == 16)
        #expect(code.lengths.filter { $0 > 0 }.count == 30)
        expectPrefixFree(code)
    }

    @Test func frequentSymbolsHaveShorterCodes() {
        let code = HuffmanCode(counts: counts([(7, 100), (9, 10), (200, 1), (3, 1)]))
        #expect(code.lengths[7] == 1)
        #expect(code.lengths[9] == 2)
        #expect(code.lengths[200] >= code.lengths[9])
        expectPrefixFree(code)
    }

    @Test func oneSymbolAloneHasACode() {
        let code = HuffmanCode(counts: counts([(0, 12)]))
        #expect(code.lengths[0] == 1)
        #expect(code.codes[0] == 0)
        #expect(code.specification == [1] + [UInt8](repeating: 0, count: 15) + [0])
    }

    private func expectPrefixFree(_ code: HuffmanCode) {
        let used = code.lengths.indices.filter { code.lengths[$0] > 0 }
        for symbol in used {
            #expect(code.codes[symbol] != (1 << UInt32(code.lengths[symbol])) - 1, "all ones are not allowed")
        }
        let share = used.reduce(0.0) { $0 + 1 / Double(1 << code.lengths[$1]) }
        #expect(share < 1)
        for a in used {
            for b in used where a != b && code.lengths[a] <= code.lengths[b] {
                let head = code.codes[b] >> UInt32(code.lengths[b] - code.lengths[a])
                #expect(head != code.codes[a])
            }
        }
    }
}
