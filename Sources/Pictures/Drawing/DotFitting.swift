import Cells
import Pixels

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
