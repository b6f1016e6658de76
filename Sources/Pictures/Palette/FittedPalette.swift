/// Some colours that show a picture as well as so many can.
///
/// The picture's colours lie in one box at first. The box in which they are farthest apart is cut in two, across the channel in
/// which they are, at their mean; again and again, until there are as many boxes as there may be colours (a median cut, after
/// Heckbert, that counts distances and not pixels alone). The colour of a box is the mean of what is in it.
struct FittedPalette {
    /// The colours.
    let colours: [PartColour]
    /// Which of them stands for a colour, by the number that the histogram gives it; -1 where nobody has looked yet.
    private var indices: [Int16]

    /// - Parameters:
    ///   - count: the most colours, 2 to 256.
    ///   - shown: what becomes of a colour on its way to the screen.
    init(_ histogram: ColourHistogram, count: Int, shown: (PartColour) -> PartColour) {
        var bins = histogram.bins.indices.compactMap { index in
            histogram.bins[index].count > 0 ? ColourBox.Member(index, histogram.bins[index]) : nil
        }
        var boxes = [ColourBox(bins, 0..<bins.count)]
        while boxes.count < min(256, count) {
            guard let widest = boxes.indices.max(by: { boxes[$0].spread < boxes[$1].spread }), boxes[widest].spread > 0
            else { break }
            let (lower, upper) = boxes[widest].halves(&bins)
            boxes[widest] = lower
            boxes.append(upper)
        }
        colours = boxes.map { shown($0.mean) }
        indices = Array(repeating: -1, count: ColourHistogram.binCount)
        for (index, box) in boxes.enumerated() {
            for member in bins[box.range] { indices[member.bin] = Int16(index) }
        }
    }

    /// The number of the colour that stands for one.
    @inline(__always)
    mutating func index(red: UInt8, green: UInt8, blue: UInt8) -> Int {
        let bin = ColourHistogram.bin(red, green, blue)
        if indices[bin] < 0 { indices[bin] = Int16(nearest(bin)) }
        return Int(indices[bin])
    }

    /// The nearest to the middle of those that have a number.
    private func nearest(_ bin: Int) -> Int {
        let wanted = PartColour(
            red: Int32(bin >> 10) << 3 | 4, green: Int32(bin >> 5 & 31) << 3 | 4, blue: Int32(bin & 31) << 3 | 4)
        return colours.indices.min { (colours[$0] - wanted).square < (colours[$1] - wanted).square } ?? 0
    }
}
