import Cells
import Pixels

/// A picture's pixels in the colours that a terminal has.
///
/// Two hundred and forty colours are near enough to any, one by one. With eight or sixteen the error of each pixel is passed on to
/// those beside and below it (Floyd and Steinberg's weights), so that an area has the right colour where no pixel has.
struct ColourReduction {
    private let colours: [Colour]
    private let width: Int

    init(_ picture: PixelBuffer, to depth: ColourDepth) {
        width = picture.width
        switch depth {
        case .none, .full:
            colours = Self.map(picture) { .rgb($0, $1, $2) }
        case .palette:
            colours = Self.map(picture) { .palette(Palette.nearest(red: $0, green: $1, blue: $2)) }
        case .eight:
            colours = Self.dithered(picture, to: 8)
        case .sixteen:
            colours = Self.dithered(picture, to: 16)
        }
    }

    subscript(column: Int, row: Int) -> Colour { colours[row * width + column] }

    private static func map(_ picture: PixelBuffer, _ colour: (UInt8, UInt8, UInt8) -> Colour) -> [Colour] {
        picture.bytes.withUnsafeBufferPointer { bytes in
            (0..<picture.width * picture.height).map { colour(bytes[3 * $0], bytes[3 * $0 + 1], bytes[3 * $0 + 2]) }
        }
    }

    private static func dithered(_ picture: PixelBuffer, to count: Int) -> [Colour] {
        let (width, height) = (picture.width, picture.height)
        // A column more on either side, so that errors at the edges go nowhere.
        var errors = [[Int]](repeating: [Int](repeating: 0, count: (width + 2) * 3), count: 2)
        var colours: [Colour] = []
        colours.reserveCapacity(width * height)
        for row in 0..<height {
            for column in 0..<width {
                let wanted = (0..<3).map { channel in
                    let exact = Int(picture.bytes[(row * width + column) * 3 + channel]) * 16
                    // Beyond what can be shown the debt is kept, within reason: white cannot make up for every grey.
                    return min(383, max(-128, (exact + errors[0][(column + 1) * 3 + channel]) / 16))
                }
                let index = Palette.nearest(
                    ofFirst: count,
                    red: wanted[0], green: wanted[1], blue: wanted[2])
                colours.append(.palette(index))
                let shown = Palette.colourOfSixteen(index)
                for (channel, value) in [shown.0, shown.1, shown.2].enumerated() {
                    let error = wanted[channel] - Int(value)
                    let place = (column + 1) * 3 + channel
                    errors[0][place + 3] += 7 * error
                    errors[1][place - 3] += 3 * error
                    errors[1][place] += 5 * error
                    errors[1][place + 3] += error
                }
            }
            errors.swapAt(0, 1)
            for index in errors[1].indices { errors[1][index] = 0 }
        }
        return colours
    }
}
