/// The five PNG filters, which predict a byte from its neighbours.
enum PNGFilter: UInt8, CaseIterable {
    case plain = 0
    case left = 1
    case above = 2
    case mean = 3
    case paeth = 4

    /// Returns a filtered row, preceded by its filter's number.
    ///
    /// Chooses the filter with the smallest differences, or none if filters are not `allowed`: palette indices do not
    /// predict each other.
    static func best(_ line: [UInt8], above: [UInt8], bytesPerPixel: Int, allowed: Bool) -> [UInt8] {
        guard allowed else { return [plain.rawValue] + line }
        var best: [UInt8] = []
        var least = Int.max
        for filter in allCases {
            let left = filter.apply(line, above, bytesPerPixel)
            let cost = left.reduce(0) { $0 + Int(min($1, 255 - $1)) }
            if cost < least {
                least = cost
                best = [filter.rawValue] + left
            }
        }
        return best
    }

    private func apply(_ line: [UInt8], _ above: [UInt8], _ step: Int) -> [UInt8] {
        line.indices.map { index in
            let a = index >= step ? Int(line[index - step]) : 0
            let b = Int(above[index])
            let c = index >= step ? Int(above[index - step]) : 0
            let foretold =
                switch self {
                case .plain: 0
                case .left: a
                case .above: b
                case .mean: (a + b) / 2
                case .paeth: Self.nearest(a, b, c)
                }
            return line[index] &- UInt8(foretold)
        }
    }

    /// Returns the one of three neighbours that is nearest to a linear prediction.
    private static func nearest(_ a: Int, _ b: Int, _ c: Int) -> Int {
        let guess = a + b - c
        let (toA, toB, toC) = (abs(guess - a), abs(guess - b), abs(guess - c))
        if toA <= toB && toA <= toC { return a }
        return toB <= toC ? b : c
    }
}
