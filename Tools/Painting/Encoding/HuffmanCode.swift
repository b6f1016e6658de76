/// An optimal prefix code for a tally of symbols, with at most sixteen bits per code.
struct HuffmanCode: Sendable {
    /// Each symbol's code, right-aligned.
    private(set) var codes = [UInt32](repeating: 0, count: 256)

    /// Each symbol's code length; 0 for symbols that never occur.
    private(set) var lengths = [Int](repeating: 0, count: 256)

    /// The number of codes of each length from 1 to 16, then the symbols in code order.
    private(set) var specification: [UInt8] = []

    init(counts: [Int]) {
        var perLength = Self.codesPerLength(counts)
        Self.limit(&perLength)
        // The code of all ones is not allowed; an unused placeholder symbol takes it.
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

    /// Returns the number of symbols for each code length, including the placeholder.
    private static func codesPerLength(_ counts: [Int]) -> [Int] {
        // A tree is the weight and the depths of its leaves. The two lightest are joined until one is left.
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

    /// Shortens codes of more than sixteen bits by lengthening others (T.81, annex K.2, figure K.3).
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
