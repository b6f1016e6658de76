import Cells

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
