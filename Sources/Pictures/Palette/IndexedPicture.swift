import Pixels

/// A picture whose pixels are numbers of a palette's colours.
struct IndexedPicture {
    /// The colours that there are.
    let colours: [PartColour]
    /// The numbers, row by row.
    let indices: [UInt8]

    /// With fewer colours than this, areas show where one ends and the next begins, and pixels are mixed instead. With more,
    /// mixing would be noise, and twice as many bytes.
    private static let fewColours = 65

    /// Finds the best colours for a picture, and the best of them for each pixel.
    ///
    /// - Parameter shown: what becomes of a colour on its way to the screen.
    init(_ picture: PixelBuffer, colours count: Int, shown: (PartColour) -> PartColour) {
        var palette = FittedPalette(ColourHistogram(picture), count: count, shown: shown)
        colours = palette.colours
        indices =
            count < Self.fewColours
            ? Self.mixed(picture, &palette) : Self.nearest(picture, &palette)
    }

    private static func nearest(_ picture: PixelBuffer, _ palette: inout FittedPalette) -> [UInt8] {
        let count = picture.width * picture.height
        return [UInt8](unsafeUninitializedCapacity: count) { indices, initialized in
            picture.bytes.withUnsafeBufferPointer { bytes in
                for pixel in 0..<count {
                    indices[pixel] = UInt8(
                        truncatingIfNeeded: palette.index(
                            red: bytes[3 * pixel], green: bytes[3 * pixel + 1], blue: bytes[3 * pixel + 2]))
                }
            }
            initialized = count
        }
    }

    /// Passes what is wrong of a pixel on to those beside and below it (Floyd and Steinberg's weights).
    private static func mixed(_ picture: PixelBuffer, _ palette: inout FittedPalette) -> [UInt8] {
        let width = picture.width
        var indices: [UInt8] = []
        indices.reserveCapacity(width * picture.height)
        // A column more on either side, so that errors at the edges go nowhere.
        var here = [PartColour](repeating: .zero, count: width + 2)
        var below = here
        for row in 0..<picture.height {
            for column in 0..<width {
                let place = (row * width + column) * 3
                let debt = here[column + 1]
                let (red, green, blue) = (
                    UInt8(clamping: Int32(picture.bytes[place]) + debt.red / 16),
                    UInt8(clamping: Int32(picture.bytes[place + 1]) + debt.green / 16),
                    UInt8(clamping: Int32(picture.bytes[place + 2]) + debt.blue / 16)
                )
                let index = palette.index(red: red, green: green, blue: blue)
                indices.append(UInt8(truncatingIfNeeded: index))
                let error =
                    PartColour(red: Int32(red), green: Int32(green), blue: Int32(blue)) - palette.colours[index]
                here[column + 2] = here[column + 2] + error * 7
                below[column] = below[column] + error * 3
                below[column + 1] = below[column + 1] + error * 5
                below[column + 2] = below[column + 2] + error
            }
            swap(&here, &below)
            for index in below.indices { below[index] = .zero }
        }
        return indices
    }
}

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

/// How often each colour occurs in a picture, of 32 steps a channel.
struct ColourHistogram {
    /// Colours that are one to us: how many pixels there are of them, and the sums of those.
    struct Bin {
        var count: Int32 = 0
        var sum = PartColour.zero
    }

    /// Which of `bins` a colour is in.
    static let binCount = 1 << 15
    /// More pixels than this are not looked at: they would change nothing.
    private static let mostLookedAt = 1 << 18

    /// By the colours' numbers.
    private(set) var bins = [Bin](repeating: Bin(), count: Self.binCount)

    init(_ picture: PixelBuffer) {
        let pixels = picture.width * picture.height
        // Odd, so that it is not the same columns in every row.
        let step = max(1, pixels / Self.mostLookedAt) | 1
        picture.bytes.withUnsafeBufferPointer { bytes in
            bins.withUnsafeMutableBufferPointer { bins in
                for pixel in stride(from: 0, to: pixels, by: step) {
                    let (red, green, blue) = (bytes[3 * pixel], bytes[3 * pixel + 1], bytes[3 * pixel + 2])
                    let bin = Self.bin(red, green, blue)
                    bins[bin].count &+= 1
                    bins[bin].sum =
                        bins[bin].sum + PartColour(red: Int32(red), green: Int32(green), blue: Int32(blue))
                }
            }
        }
    }

    /// The number of a colour.
    @inline(__always)
    static func bin(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Int {
        Int(red >> 3) << 10 | Int(green >> 3) << 5 | Int(blue >> 3)
    }
}

/// Colours of a picture that lie together, and how far apart they are.
struct ColourBox {
    /// One of them.
    struct Member {
        /// Its number in the histogram.
        let bin: Int
        /// How many pixels have it.
        let weight: Float
        /// What it is on average: red, green, blue.
        let colour: SIMD4<Float>

        init(_ number: Int, _ bin: ColourHistogram.Bin) {
            self.bin = number
            weight = Float(bin.count)
            colour = SIMD4(Float(bin.sum.red), Float(bin.sum.green), Float(bin.sum.blue), 0) / weight
        }
    }

    /// Where its colours are among all.
    let range: Range<Int>
    /// By how much its pixels differ from the mean in the channel in which they do most, squared and summed up.
    let spread: Float
    private let centre: SIMD4<Float>
    private let channel: Int

    init(_ members: [Member], _ range: Range<Int>) {
        self.range = range
        var (weight, sum) = (Float(0), SIMD4<Float>.zero)
        for member in members[range] {
            weight += member.weight
            sum += member.colour * member.weight
        }
        centre = weight > 0 ? sum / weight : .zero
        var squares = SIMD4<Float>.zero
        for member in members[range] {
            let difference = member.colour - centre
            squares += difference * difference * member.weight
        }
        channel = squares.x >= squares.y ? (squares.x >= squares.z ? 0 : 2) : squares.y >= squares.z ? 1 : 2
        spread = range.count > 1 ? squares[channel] : 0
    }

    /// The mean colour.
    var mean: PartColour {
        let rounded = centre.rounded(.toNearestOrAwayFromZero)
        return PartColour(red: Int32(rounded.x), green: Int32(rounded.y), blue: Int32(rounded.z))
    }

    /// Cuts it in two, for which its members are put in order: first those below the mean.
    func halves(_ members: inout [Member]) -> (ColourBox, ColourBox) {
        let limit = centre[channel]
        let cut = members[range].partition { $0.colour[channel] > limit }
        // Rounding may have put all on one side.
        let middle = min(max(cut, range.lowerBound + 1), range.upperBound - 1)
        return (
            ColourBox(members, range.lowerBound..<middle), ColourBox(members, middle..<range.upperBound)
        )
    }
}
