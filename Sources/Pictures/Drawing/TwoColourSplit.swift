/// Finds which parts of a cell go together when there are two colours for them.
///
/// Whatever parts are in one colour, it is best the mean of theirs. So what is to be found is the division whose means lie
/// farthest apart, counted by how many parts they stand for. There are 31 that divide six, and each differs from the one
/// before by one part that goes over (Gray's code), so each costs an addition and a few products.
struct TwoColourSplit {
    /// What a division is worth for each unit of its sum's square, by how many parts are in it.
    private let worths: [Int]
    /// The parts, so many times as large as there are, less their sum: on the scale of which all parts together are zero.
    private var centred: [PartColour]

    /// For cells of up to six parts.
    init(count: Int) {
        // 1/k + 1/(n − k), in sixtieths, which are whole.
        worths = (0...count).map { $0 == 0 || $0 == count ? 0 : 60 / $0 + 60 / (count - $0) }
        centred = Array(repeating: .zero, count: count)
    }

    /// The parts of the best division, a bit each; 0 if all parts are the same. The last part is never among them: who
    /// exchanges both colours has the same picture.
    ///
    /// - Parameter total: the sum of the parts.
    mutating func pattern(_ parts: [PartColour], total: PartColour) -> Int {
        let count = parts.count
        for part in 0..<count { centred[part] = parts[part] * Int32(count) - total }
        return centred.withUnsafeBufferPointer { centred in
            worths.withUnsafeBufferPointer { worths in
                var (sum, size, pattern) = (PartColour.zero, 0, 0)
                var (best, bestWorth) = (0, 0)
                for step in 1..<1 << (count - 1) {
                    let part = step.trailingZeroBitCount
                    pattern ^= 1 << part
                    if pattern >> part & 1 == 1 {
                        sum = sum + centred[part]
                        size += 1
                    } else {
                        sum = sum - centred[part]
                        size -= 1
                    }
                    let worth = sum.square &* worths[size]
                    if worth > bestWorth { (best, bestWorth) = (pattern, worth) }
                }
                return best
            }
        }
    }
}
