import Cells

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
