/// A prefix code made to measure for a tally of symbols, with no code longer than sixteen bits.
struct HuffmanCode: Sendable {
    /// Each symbol's code, right-aligned.
    private(set) var codes = [UInt32](repeating: 0, count: 256)

    /// How many bits each symbol's code has; nought for symbols that never occur.
    private(set) var lengths = [Int](repeating: 0, count: 256)

    /// How many codes there are of each length from 1 to 16, then the symbols by code.
    private(set) var specification: [UInt8] = []

    init(counts: [Int]) {
        var perLength = Self.codesPerLength(counts)
        Self.limit(&perLength)
        // The code of all ones is not allowed; it belongs to a stand-in that no picture contains.
        if let longest = perLength.lastIndex(where: { $0 > 0 }) { perLength[longest] -= 1 }

        let symbols = counts.indices.filter { counts[$0] > 0 }.sorted {
            (counts[$1], $0) < (counts[$0], $1)
        }
        specification = perLength[1...16].map { UInt8($0) } + symbols.map { UInt8($0) }
        var code: UInt32 = 0
        var next = 0
        for length in 1...16 {
            for _ in 0..<perLength[length] {
                codes[symbols[next]] = code
                lengths[symbols[next]] = length
                code += 1
                next += 1
            }
            code <<= 1
        }
    }

    /// Writes a symbol's code.
    func write(_ symbol: Int, to bits: inout JPEGBits) {
        bits.append(codes[symbol], count: lengths[symbol])
    }

    /// How many symbols deserve each code length, the stand-in among them.
    private static func codesPerLength(_ counts: [Int]) -> [Int] {
        // Each tree is the weight and the depths of its leaves; the two lightest grow together until one is left.
        var trees = counts.filter { $0 > 0 }.sorted().map { (weight: $0, depths: [0]) }
        trees.insert((weight: 0, depths: [0]), at: 0)
        while trees.count > 1 {
            let depths = (trees[0].depths + trees[1].depths).map { $0 + 1 }
            let grown = (weight: trees[0].weight + trees[1].weight, depths: depths)
            trees.removeFirst(2)
            let place = trees.firstIndex { $0.weight > grown.weight } ?? trees.count
            trees.insert(grown, at: place)
        }
        var perLength = [Int](repeating: 0, count: 300)
        for depth in trees[0].depths { perLength[max(depth, 1)] += 1 }
        return perLength
    }

    /// Shortens codes of more than sixteen bits at the cost of others (T.81, annex K.2, figure K.3).
    private static func limit(_ perLength: inout [Int]) {
        for length in stride(from: perLength.count - 1, to: 16, by: -1) {
            while perLength[length] > 0 {
                var shorter = length - 2
                while perLength[shorter] == 0 { shorter -= 1 }
                perLength[length] -= 2
                perLength[length - 1] += 1
                perLength[shorter + 1] += 2
                perLength[shorter] -= 1
            }
        }
    }
}
