import Cells
import Pixels

/// A method to show the parts of each cell in two colours.
protocol TwoColourFitting {
    /// Returns the two colours of the next cell. Call this method row by row, from the left.
    mutating func fit(_ parts: [PartColour], column: Int) -> TwoColours
    /// Ends a row of cells. Call this method before the next row.
    mutating func endRow()
}

/// A cell's two colours, and the parts that have the foreground colour.
struct TwoColours: Hashable {
    /// One bit per part, set if the part has the foreground colour.
    let pattern: Int
    let foreground: Colour
    let background: Colour
}

/// Finds the best two of all RGB colours for a cell.
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

/// Divides a cell's parts into the two groups that two colours show best.
///
/// The best colour for a group is its mean. So the best division is the one whose means lie farthest apart, weighted by
/// the sizes of the groups. Six parts have 31 divisions. In Gray code order, each division differs from the previous
/// division by one part, so each costs an addition and a few products.
struct TwoColourSplit {
    /// For each size of a group, a factor for rating a division. The factor times the square of the group's sum is the
    /// rating.
    private let worths: [Int]
    /// Each part's difference from the mean colour, times the number of parts. These whole numbers add up to zero.
    private var centred: [PartColour]

    /// Creates a divider for cells with `count` parts, at most six.
    init(count: Int) {
        // 1/k + 1/(n − k), in sixtieths, which are whole numbers.
        worths = (0...count).map { $0 == 0 || $0 == count ? 0 : 60 / $0 + 60 / (count - $0) }
        centred = Array(repeating: .zero, count: count)
    }

    /// Returns the best division, one bit per part; 0 if all parts are equal. The last part never has its bit set,
    /// because exchanging both colours gives the same picture.
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

/// Shows pixels as black and white dots, for terminals without colours. Uses the dithering of Floyd and Steinberg.
struct DotFitting: TwoColourFitting {
    /// For each pixel, whether it has the colour of the text.
    private let dots: [Bool]
    private let width: Int
    private let columns: Int
    private let rows: Int
    private var row = 0

    /// - Parameters:
    ///   - columns: the number of parts beside each other in a cell.
    ///   - rows: the number of parts above each other in a cell.
    ///   - isOnLight: whether the text is darker than the background, so that dots show the dark pixels.
    init(_ picture: PixelBuffer, columns: Int, rows: Int, isOnLight: Bool) {
        dots = Self.dots(picture, isOnLight: isOnLight)
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

    private static func dots(_ picture: PixelBuffer, isOnLight: Bool) -> [Bool] {
        let levels = ToneLevels(picture)
        let width = picture.width
        var dots = [Bool](repeating: false, count: width * picture.height)
        // One more column on either side absorbs the errors at the edges.
        var (here, below) = ([Float](repeating: 0, count: width + 2), [Float](repeating: 0, count: width + 2))
        for row in 0..<picture.height {
            for column in 0..<width {
                let wanted = levels.brightness(at: row * width + column, of: picture) + here[column + 1]
                let isBright = wanted > 0.5
                dots[row * width + column] = isBright != isOnLight
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

/// Stretches a picture's tones to the full range. Otherwise, fog would be drawn as a single tone.
struct ToneLevels {
    /// For each brightness, a level from 0 for the darkest to 1 for the brightest.
    private let levels: [Float]

    /// Finds the range of a picture's tones. Ignores the darkest and the brightest hundredth, so that a single lamp
    /// does not keep all other pixels dark.
    init(_ picture: PixelBuffer) {
        var histogram = [Int](repeating: 0, count: 256)
        for pixel in 0..<picture.width * picture.height { histogram[Self.brightness(pixel, picture)] += 1 }
        let outliers = picture.width * picture.height / 100
        let low = Self.level(histogram, passing: outliers, from: Array(0...255))
        let high = Self.level(histogram, passing: outliers, from: (0...255).reversed())
        // Stretch the tones at most fourfold, so that noise on a white wall stays invisible.
        let spread = max(64, high - low)
        let darkest = max(0, min(low, 255 - spread))
        levels = (0...255).map { min(1, max(0, Float($0 - darkest) / Float(spread))) }
    }

    /// Returns the brightness of a pixel, from 0 (darkest) to 1 (brightest).
    func brightness(at pixel: Int, of picture: PixelBuffer) -> Float { levels[Self.brightness(pixel, picture)] }

    /// Returns a pixel's brightness from 0 to 255, on the scale of sRGB values. To the eye, the steps of this scale are
    /// about equal.
    private static func brightness(_ pixel: Int, _ picture: PixelBuffer) -> Int {
        picture.bytes.withUnsafeBufferPointer { bytes in
            (299 * Int(bytes[3 * pixel]) + 587 * Int(bytes[3 * pixel + 1]) + 114 * Int(bytes[3 * pixel + 2]) + 500)
                / 1_000
        }
    }

    private static func level(_ histogram: [Int], passing count: Int, from levels: [Int]) -> Int {
        var passed = 0
        for level in levels {
            passed += histogram[level]
            if passed > count { return level }
        }
        return levels[levels.count - 1]
    }
}

/// Finds the best two palette colours for a cell.
///
/// With 8 or 16 colours, this type tries all pairs. With 256 colours, this type tries only colours near the two colours
/// that the cell would have in full colour. Each cell passes a part of its remaining error on to its neighbours, with
/// Floyd and Steinberg's weights. Dithering of single pixels usually passes on the whole error. With large cells, that
/// would be visible as noise.
struct PaletteFitting: TwoColourFitting {
    private let count: Int
    private var candidates: PaletteCandidates
    /// The fraction of an error that a cell passes on. The value avoids steps in skies, and the remaining grain is not
    /// visible.
    private static let share: Float = 0.1
    /// The errors to add to the cells of this row and the next. One more column on either side absorbs the errors at
    /// the edges.
    private var here: [SIMD4<Float>]
    private var below: [SIMD4<Float>]
    private var wanted: [SIMD4<Float>] = []

    /// - Parameter columns: the number of cells in a row.
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
        // The last part is always in the background, as in full colour.
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

/// Chooses the two palette colours that show a cell best.
struct PaletteCandidates {
    /// A palette colour with its index.
    struct Entry {
        let index: UInt8
        let colour: SIMD4<Float>

        init(_ index: UInt8) {
            self.index = index
            let (red, green, blue) = Colour.usualValues(ofPalette: index)
            colour = SIMD4(Float(red), Float(green), Float(blue), 0)
        }
    }

    /// All colours, if there are 8 or 16; otherwise empty.
    private let few: [Entry]
    private let all: [Entry]
    private var split: TwoColourSplit

    init(_ depth: ColourDepth, parts: Int) {
        few = depth == .palette ? [] : (0..<(depth == .eight ? 8 : 16)).map { Entry($0) }
        all = (0...255).map { Entry($0) }
        split = TwoColourSplit(count: parts)
    }

    /// Returns the two colours with the smallest error. Each part gets the nearer colour.
    ///
    /// - Parameters:
    ///   - wanted: the colours of the parts plus the passed-on error, which is the same for all parts.
    ///   - parts: the colours of the parts in the picture.
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

    /// Returns the squared distances of all parts from a colour. Absent parts have distance 0.
    private static func distances(_ wanted: [SIMD4<Float>], to colour: SIMD4<Float>) -> SIMD8<Float> {
        var distances = SIMD8<Float>.zero
        for part in wanted.indices {
            let difference = wanted[part] - colour
            distances[part] = (difference * difference).sum()
        }
        return distances
    }

    /// Returns the palette colours that are near the two mean colours of the best division.
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
