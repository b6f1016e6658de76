import Cells

/// The two colours of a palette that are nearest to a cell, and which part has which.
///
/// Of eight or sixteen all pairs are tried. Of 256, those that are near to the two colours that the cell would have if there
/// were all. What is still wrong of the cell as a whole is passed on to those beside and below it, in part (Floyd and
/// Steinberg's weights). Passing all of it on, as is done with pixels, makes more noise than picture: cells are large.
struct PaletteFitting: TwoColourFitting {
    private let count: Int
    private var candidates: PaletteCandidates
    /// What of a cell's error is passed on: enough for skies to have no steps, and too little to be seen as grain.
    private static let share: Float = 0.1
    /// What cells of this row and of the next are to have beyond what is theirs; a column more on either side, so that what
    /// goes over the edges goes nowhere.
    private var here: [SIMD4<Float>]
    private var below: [SIMD4<Float>]
    private var wanted: [SIMD4<Float>] = []

    /// - Parameter columns: the cells of a row.
    init(_ depth: ColourDepth, parts: Int, columns: Int) {
        count = parts
        candidates = PaletteCandidates(depth, parts: parts)
        here = Array(repeating: .zero, count: columns + 2)
        below = here
    }

    mutating func fit(_ parts: [PartColour], column: Int) -> TwoColours {
        let debt = here[column + 1]
        wanted.removeAll(keepingCapacity: true)
        var sum = SIMD4<Float>.zero
        for part in parts {
            let colour = SIMD4(Float(part.red), Float(part.green), Float(part.blue), 0) + debt
            wanted.append(colour)
            sum += colour
        }
        let pair = candidates.best(wanted, parts)
        var pattern = 0
        var shown = SIMD4<Float>.zero
        for (part, colour) in wanted.enumerated() {
            let isFirst = Self.distance(colour, pair.0.colour) < Self.distance(colour, pair.1.colour)
            if isFirst { pattern |= 1 << part }
            shown += isFirst ? pair.0.colour : pair.1.colour
        }
        passOn((sum - shown) * (Self.share / Float(count) / 16), from: column)
        let all = (1 << count) - 1
        if pattern == 0 || pattern == all {
            let colour = pattern == 0 ? pair.1 : pair.0
            return TwoColours(pattern: 0, foreground: .terminal, background: .palette(colour.index))
        }
        // The last part is always behind, as where there are all colours.
        return pattern >> (count - 1) & 1 == 1
            ? TwoColours(
                pattern: all & ~pattern, foreground: .palette(pair.1.index), background: .palette(pair.0.index))
            : TwoColours(pattern: pattern, foreground: .palette(pair.0.index), background: .palette(pair.1.index))
    }

    mutating func endRow() {
        swap(&here, &below)
        for index in below.indices { below[index] = .zero }
    }

    private mutating func passOn(_ sixteenth: SIMD4<Float>, from column: Int) {
        here[column + 2] += sixteenth * 7
        below[column] += sixteenth * 3
        below[column + 1] += sixteenth * 5
        below[column + 2] += sixteenth
    }

    @inline(__always)
    private static func distance(_ one: SIMD4<Float>, _ two: SIMD4<Float>) -> Float {
        let difference = one - two
        return (difference * difference).sum()
    }
}
