import Cells
import Pixels

/// A way to show a cell's parts in two colours.
protocol TwoColourFitting {
    /// Shows the parts of the next cell.
    ///
    /// Cells come row by row, from the left.
    mutating func fit(_ parts: [PartColour], column: Int) -> TwoColours
    /// A row of cells is done.
    mutating func endRow()
}

/// Which parts of a cell have the text's colour, and what both colours are.
struct TwoColours: Hashable {
    /// A bit for each part.
    let pattern: Int
    let foreground: Colour
    let background: Colour
}

/// The two colours of all, and the parts that have them, that are nearest to a cell.
struct FullColourFitting: TwoColourFitting {
    private var split: TwoColourSplit

    init(count: Int) {
        split = TwoColourSplit(count: count)
    }

    mutating func fit(_ parts: [PartColour], column: Int) -> TwoColours {
        let total = parts.reduce(.zero, +)
        let pattern = split.pattern(parts, total: total)
        var sum = PartColour.zero
        var size: Int32 = 0
        for part in parts.indices where pattern >> part & 1 == 1 {
            sum = sum + parts[part]
            size += 1
        }
        let background = Self.colour((total - sum).mean(of: Int32(parts.count) - size))
        let foreground = size > 0 ? Self.colour(sum.mean(of: size)) : background
        return foreground == background
            ? TwoColours(pattern: 0, foreground: .terminal, background: background)
            : TwoColours(pattern: pattern, foreground: foreground, background: background)
    }

    func endRow() {}

    private static func colour(_ part: PartColour) -> Colour {
        .rgb(UInt8(clamping: part.red), UInt8(clamping: part.green), UInt8(clamping: part.blue))
    }
}

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

/// Black and white, for terminals without colours: a part is the text's colour or it is not, and how many are, here and
/// around, is how bright it is (Floyd and Steinberg's weights).
struct DotFitting: TwoColourFitting {
    private let dots: [Bool]
    private let width: Int
    private let columns: Int
    private let rows: Int
    private var row = 0

    /// - Parameters:
    ///   - columns: parts of a cell beside each other.
    ///   - rows: and below each other.
    init(_ picture: PixelBuffer, columns: Int, rows: Int) {
        dots = Self.dots(picture)
        width = picture.width
        self.columns = columns
        self.rows = rows
    }

    func fit(_ parts: [PartColour], column: Int) -> TwoColours {
        var pattern = 0
        for part in parts.indices {
            let (x, y) = (column * columns + part % columns, row * rows + part / columns)
            if x < width, y * width + x < dots.count, dots[y * width + x] { pattern |= 1 << part }
        }
        return TwoColours(pattern: pattern, foreground: .terminal, background: .terminal)
    }

    mutating func endRow() { row += 1 }

    private static func dots(_ picture: PixelBuffer) -> [Bool] {
        let levels = ToneLevels(picture)
        let width = picture.width
        var dots = [Bool](repeating: false, count: width * picture.height)
        // A column more on either side, so that errors at the edges go nowhere.
        var (here, below) = ([Float](repeating: 0, count: width + 2), [Float](repeating: 0, count: width + 2))
        for row in 0..<picture.height {
            for column in 0..<width {
                let wanted = levels.brightness(at: row * width + column, of: picture) + here[column + 1]
                let isBright = wanted > 0.5
                dots[row * width + column] = isBright
                let error = (wanted - (isBright ? 1 : 0)) / 16
                here[column + 2] += 7 * error
                below[column] += 3 * error
                below[column + 1] += 5 * error
                below[column + 2] += error
            }
            swap(&here, &below)
            for index in below.indices { below[index] = 0 }
        }
        return dots
    }
}

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

/// The colours of a palette that come into question for a cell, and the best two of them.
struct PaletteCandidates {
    /// A colour of the palette.
    struct Entry {
        let index: UInt8
        let colour: SIMD4<Float>

        init(_ index: UInt8) {
            self.index = index
            let (red, green, blue) = Palette.colour(index)
            colour = SIMD4(Float(red), Float(green), Float(blue), 0)
        }
    }

    /// All that there are, if they are few.
    private let few: [Entry]
    private let all: [Entry]
    private var split: TwoColourSplit

    init(_ depth: ColourDepth, parts: Int) {
        few = depth == .palette ? [] : (0..<(depth == .eight ? 8 : 16)).map { Entry($0) }
        all = (0...255).map { Entry($0) }
        split = TwoColourSplit(count: parts)
    }

    /// The two with which the parts come out nearest, each part in the nearer of them.
    ///
    /// - Parameters:
    ///   - wanted: the parts as they are to be shown.
    ///   - parts: as they are in the picture, which differs from that by the same for all.
    mutating func best(_ wanted: [SIMD4<Float>], _ parts: [PartColour]) -> (Entry, Entry) {
        let entries = few.isEmpty ? near(wanted, parts) : few
        let distances = entries.map { Self.distances(wanted, to: $0.colour) }
        var best = (0, 0)
        var least = Float.infinity
        distances.withUnsafeBufferPointer { distances in
            for first in distances.indices {
                for second in first..<distances.count {
                    let (one, two) = (distances[first], distances[second])
                    let distance = one.replacing(with: two, where: two .< one).sum()
                    if distance < least { (best, least) = ((first, second), distance) }
                }
            }
        }
        return (entries[best.0], entries[best.1])
    }

    /// How far each part is from a colour. Parts that there are not are no distance from anything.
    private static func distances(_ wanted: [SIMD4<Float>], to colour: SIMD4<Float>) -> SIMD8<Float> {
        var distances = SIMD8<Float>.zero
        for part in wanted.indices {
            let difference = wanted[part] - colour
            distances[part] = (difference * difference).sum()
        }
        return distances
    }

    /// Of 256, those around the means of the best division.
    private mutating func near(_ wanted: [SIMD4<Float>], _ parts: [PartColour]) -> [Entry] {
        let pattern = split.pattern(parts, total: parts.reduce(.zero, +))
        var (front, behind, size) = (SIMD4<Float>.zero, SIMD4<Float>.zero, Float(0))
        for (part, colour) in wanted.enumerated() {
            if pattern >> part & 1 == 1 {
                front += colour
                size += 1
            } else {
                behind += colour
            }
        }
        var indices = Palette.near(behind / (Float(parts.count) - size))
        if size > 0 { indices += Palette.near(front / size) }
        return indices.map { all[Int($0)] }
    }
}
