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
