import Pixels

/// A picture whose pixels are indices into a palette.
struct IndexedPicture {
    /// The colours of the palette.
    let colours: [PartColour]
    /// The palette index of each pixel, row by row.
    let indices: [UInt8]

    /// Pictures with fewer colours are dithered, because their areas would show steps. With more colours, dithering
    /// would add noise and double the bytes to send.
    private static let fewColours = 65
    /// The squared distance up to which a pixel takes a neighbour's colour.
    ///
    /// With 48, a picture takes a sixth fewer bytes, and its squared errors grow by an eighth. With 128, areas of
    /// similar colours show edges.
    static let nearColour = 48

    /// Fits a palette to a picture, and each pixel to the palette.
    ///
    /// - Parameter shown: converts a colour to the colour that the screen shows.
    init(_ picture: PixelBuffer, colours count: Int, shown: (PartColour) -> PartColour) {
        var palette = FittedPalette(ColourHistogram(picture), count: count, shown: shown)
        colours = palette.colours
        indices =
            count < Self.fewColours
            ? Self.mixed(picture, &palette) : Self.shared(picture, &palette)
    }

    /// Returns the palette index of each pixel. Uses a neighbour's index if that colour is similar, otherwise the index
    /// of the nearest colour.
    ///
    /// A sixel contains the pixels of a column in a band of rows that have the same colour, so equal neighbours save
    /// bytes. Pixels in ``FlatRuns`` always get the nearest colour.
    private static func shared(_ picture: PixelBuffer, _ palette: inout FittedPalette) -> [UInt8] {
        let (width, count) = (picture.width, picture.width * picture.height)
        let colours = palette.colours
        return [UInt8](unsafeUninitializedCapacity: count) { indices, initialized in
            picture.bytes.withUnsafeBufferPointer { bytes in
                for row in 0..<picture.height {
                    let isInBand = row % SixelBand.height > 0
                    var flatRuns = FlatRuns(
                        UnsafeBufferPointer(rebasing: bytes[3 * row * width..<3 * (row + 1) * width]))
                    for column in 0..<width {
                        let pixel = row * width + column
                        let (red, green, blue) = (bytes[3 * pixel], bytes[3 * pixel + 1], bytes[3 * pixel + 2])
                        let wanted = PartColour(red: Int32(red), green: Int32(green), blue: Int32(blue))
                        func isNear(_ neighbour: Int) -> Bool {
                            (colours[Int(indices[neighbour])] - wanted).square <= nearColour
                        }
                        let mayShare = !flatRuns.contains(column)
                        if mayShare, isInBand, isNear(pixel - width) {
                            indices[pixel] = indices[pixel - width]
                        } else if mayShare, column > 0, isNear(pixel - 1) {
                            indices[pixel] = indices[pixel - 1]
                        } else if mayShare, isInBand, column + 1 < width, isNear(pixel - width + 1) {
                            indices[pixel] = indices[pixel - width + 1]
                        } else {
                            indices[pixel] = UInt8(
                                truncatingIfNeeded: palette.index(red: red, green: green, blue: blue))
                        }
                    }
                }
            }
            initialized = count
        }
    }

    /// Dithers: passes each pixel's error on to its neighbours, with Floyd and Steinberg's weights.
    private static func mixed(_ picture: PixelBuffer, _ palette: inout FittedPalette) -> [UInt8] {
        let width = picture.width
        var indices: [UInt8] = []
        indices.reserveCapacity(width * picture.height)
        // One more column on either side absorbs the errors at the edges.
        var here = [PartColour](repeating: .zero, count: width + 2)
        var below = here
        for row in 0..<picture.height {
            for column in 0..<width {
                let offset = (row * width + column) * 3
                let debt = here[column + 1]
                let (red, green, blue) = (
                    UInt8(clamping: Int32(picture.bytes[offset]) + debt.red / 16),
                    UInt8(clamping: Int32(picture.bytes[offset + 1]) + debt.green / 16),
                    UInt8(clamping: Int32(picture.bytes[offset + 2]) + debt.blue / 16)
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

/// A palette whose colours are chosen for one picture.
///
/// All colours start in one box. The type cuts the box with the widest spread at the mean of its widest channel, and
/// repeats this until there are as many boxes as palette colours. This is Heckbert's median cut, except that it weighs
/// distances, not only pixel counts. A box's colour is the mean of its pixels.
struct FittedPalette {
    /// The colours of the palette.
    let colours: [PartColour]
    /// The palette index for each bin of the histogram; -1 until it is needed.
    private var indices: [Int16]

    /// - Parameters:
    ///   - count: the maximum number of colours, 2 to 256.
    ///   - shown: converts a colour to the colour that the screen shows.
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

    /// Returns the palette index for a colour.
    @inline(__always)
    mutating func index(red: UInt8, green: UInt8, blue: UInt8) -> Int {
        let bin = ColourHistogram.bin(red, green, blue)
        if indices[bin] < 0 { indices[bin] = Int16(nearest(bin)) }
        return Int(indices[bin])
    }

    /// Returns the index of the palette colour nearest to the middle of a bin.
    private func nearest(_ bin: Int) -> Int {
        let wanted = PartColour(
            red: Int32(bin >> 10) << 3 | 4, green: Int32(bin >> 5 & 31) << 3 | 4, blue: Int32(bin & 31) << 3 | 4)
        return colours.indices.min { (colours[$0] - wanted).square < (colours[$1] - wanted).square } ?? 0
    }
}

/// Counts a picture's colours in 32 steps per channel.
struct ColourHistogram {
    /// The number of pixels whose colours count as one colour, and the sum of these colours.
    struct Bin {
        var count: Int32 = 0
        var sum = PartColour.zero
    }

    /// The number of bins.
    static let binCount = 1 << 15
    /// The maximum number of pixels to count. More pixels would not change the result.
    private static let mostLookedAt = 1 << 18

    /// The bins, in the order of `bin(_:_:_:)`.
    private(set) var bins = [Bin](repeating: Bin(), count: Self.binCount)

    init(_ picture: PixelBuffer) {
        let pixels = picture.width * picture.height
        // The step is odd, so that it does not pick the same columns in every row.
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

    /// Returns the bin of a colour.
    @inline(__always)
    static func bin(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Int {
        Int(red >> 3) << 10 | Int(green >> 3) << 5 | Int(blue >> 3)
    }
}

/// A group of similar colours of a picture, with their spread.
struct ColourBox {
    /// A histogram bin that belongs to a box.
    struct Member {
        /// The bin's index in the histogram.
        let bin: Int
        /// The number of pixels in the bin.
        let weight: Float
        /// The mean colour of the bin: red, green, blue.
        let colour: SIMD4<Float>

        init(_ number: Int, _ bin: ColourHistogram.Bin) {
            self.bin = number
            weight = Float(bin.count)
            colour = SIMD4(Float(bin.sum.red), Float(bin.sum.green), Float(bin.sum.blue), 0) / weight
        }
    }

    /// The positions of the box's members in the array of all members.
    let range: Range<Int>
    /// The sum of squared deviations from the mean, in the channel where it is largest.
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

    /// The mean colour of the box.
    var mean: PartColour {
        let rounded = centre.rounded(.toNearestOrAwayFromZero)
        return PartColour(red: Int32(rounded.x), green: Int32(rounded.y), blue: Int32(rounded.z))
    }

    /// Cuts the box at its mean. Reorders the box's members in their array.
    func halves(_ members: inout [Member]) -> (ColourBox, ColourBox) {
        let limit = centre[channel]
        let cut = members[range].partition { $0.colour[channel] > limit }
        // Rounding may put all members on one side, so leave at least one member on either side.
        let middle = min(max(cut, range.lowerBound + 1), range.upperBound - 1)
        return (
            ColourBox(members, range.lowerBound..<middle), ColourBox(members, middle..<range.upperBound)
        )
    }
}
