import Cells
import Pixels
import Text

/// A format in which terminals accept pixels.
protocol PixelEncoding {
    /// Encodes a picture, without the surrounding escape sequences.
    static func tiles(_ picture: PixelBuffer, _ capabilities: PixelCapabilities) -> [PixelPicture.Tile]
}

/// Finds the runs of equal pixels in a row, whose colour must not change.
///
/// If the colour changed, the eye might see that a strip beside a photo has another colour than the background.
struct FlatRuns {
    private let row: UnsafeBufferPointer<UInt8>
    /// The column after the current run of equal pixels, and whether the run is long or ends the row.
    private var (end, isFlat) = (0, false)

    private static let shortest = 8

    /// - Parameter row: the channels of the row's pixels.
    init(_ row: UnsafeBufferPointer<UInt8>) { self.row = row }

    /// Whether a pixel is in a long run of equal pixels, or in the row's last run. Call this method for each column in
    /// turn.
    @inline(__always)
    mutating func contains(_ column: Int) -> Bool {
        guard column == end else { return isFlat }
        let step = PixelBuffer.bytesPerPixel
        var next = (column + 1) * step
        while next < row.count, (0..<step).allSatisfy({ row[next + $0] == row[next + $0 - step] }) { next += step }
        end = next / step
        isFlat = end - column >= Self.shortest || next == row.count
        return isFlat
    }
}

/// The format of the kitty protocol: a PNG file, which has about half the bytes of raw pixels.
enum KittyEncoding: PixelEncoding {
    /// The largest error of a channel on a remote terminal.
    ///
    /// Errors of this size halve the number of bytes once more, and the eye hardly sees these errors.
    private static let remoteTolerance: Int32 = 2

    static func tiles(_ picture: PixelBuffer, _ capabilities: PixelCapabilities) -> [PixelPicture.Tile] {
        [PixelPicture.Tile(payload(picture, capabilities))]
    }

    static func payload(_ picture: PixelBuffer, _ capabilities: PixelCapabilities) -> [UInt8] {
        Base64.encode(PNGEncoding.encode(picture, tolerance: capabilities.isRemote ? remoteTolerance : 0))
    }
}

/// The sixel format: a palette, then bands of six pixel rows, colour by colour.
///
/// "Each Sixel is a column of six pixels", a character from `?` on. `!12~` repeats a column 12 times, `#3` selects a
/// colour, `$` returns to the left edge and `-` starts the next band (VT330/VT340 Programmer Reference Manual,
/// chapter 14).
enum SixelEncoding: PixelEncoding {
    /// The limits of terminals, which draw nothing of a larger picture.
    struct Limits {
        /// The maximum width and height in pixels, as in xterm.
        var side = 1_000
        /// The maximum number of bytes. tmux accepts less than 1 MiB in a sequence.
        var bytes = 768 << 10
    }

    static func tiles(_ picture: PixelBuffer, _ capabilities: PixelCapabilities) -> [PixelPicture.Tile] {
        tiles(picture, capabilities, within: Limits())
    }

    /// Encodes a picture in tiles of whole cells, which have the same palette.
    static func tiles(
        _ picture: PixelBuffer, _ capabilities: PixelCapabilities, within limits: Limits
    ) -> [PixelPicture.Tile] {
        let indexed = IndexedPicture(picture, colours: capabilities.paletteSize, shown: shown)
        let (cellWidth, cellHeight) = (capabilities.cellWidth, capabilities.cellHeight)
        let width = max(1, limits.side / cellWidth) * cellWidth
        var height = max(1, limits.side / cellHeight) * cellHeight
        var tiles: [PixelPicture.Tile] = []
        for left in stride(from: 0, to: picture.width, by: width) {
            var top = 0
            while top < picture.height {
                let size = PixelSize(
                    width: min(width, picture.width - left), height: min(height, picture.height - top))
                let indices = (top..<top + size.height).flatMap { row in
                    indexed.indices[row * picture.width + left..<row * picture.width + left + size.width]
                }
                let rows = (size.height + cellHeight - 1) / cellHeight
                let most = rows > 1 ? limits.bytes : .max
                guard let payload = Self.payload(indices, size, indexed.colours, upTo: most) else {
                    height = rows / 2 * cellHeight
                    continue
                }
                tiles.append(
                    PixelPicture.Tile(payload, at: Point(column: left / cellWidth, row: top / cellHeight)))
                top += size.height
            }
        }
        return tiles
    }

    /// Encodes a tile. Returns nil if it has more than a number of bytes.
    private static func payload(
        _ indices: [UInt8], _ size: PixelSize, _ colours: [PartColour], upTo most: Int
    ) -> [UInt8]? {
        var text = SixelText()
        // The pixel's aspect ratio, then the tile's size.
        text.write("\"1;1;\(size.width);\(size.height)")
        for (index, colour) in colours.enumerated() {
            text.write("#\(index);2;\(percent(colour.red));\(percent(colour.green));\(percent(colour.blue))")
        }
        var band = SixelBand(width: size.width, colours: colours.count)
        indices.withUnsafeBufferPointer { indices in
            for top in stride(from: 0, to: size.height, by: SixelBand.height) where text.bytes.count <= most {
                if top > 0 { text.endBand() }
                band.gather(indices, top: top, rows: min(SixelBand.height, size.height - top))
                band.write(to: &text)
            }
        }
        return text.bytes.count <= most ? text.bytes : nil
    }

    /// Returns the colour that the screen shows. Sixel colours have channels in percent.
    private static func shown(_ colour: PartColour) -> PartColour {
        func channel(_ value: Int32) -> Int32 { (percent(value) * 255 + 50) / 100 }
        return PartColour(red: channel(colour.red), green: channel(colour.green), blue: channel(colour.blue))
    }

    private static func percent(_ value: Int32) -> Int32 { (value * 100 + 127) / 255 }
}

/// Six rows of an indexed picture, with the columns of each colour.
struct SixelBand {
    /// The number of rows.
    static let height = 6

    /// A range of columns that contain a colour, without long gaps.
    private struct Stretch {
        let colour: Int
        let first: Int
        var last: Int
    }

    /// The longest gap inside a stretch. A longer gap takes more bytes than selecting the colour again.
    private static let longestGap = 6

    private let width: Int
    /// For each colour, all columns of the band with one bit per pixel. All bits are 0 between bands.
    private var columns: [UInt8]
    /// For each colour, the index of its latest stretch, or -1.
    private var current: [Int]
    private var stretches: [Stretch] = []

    init(width: Int, colours: Int) {
        self.width = width
        columns = Array(repeating: 0, count: width * colours)
        current = Array(repeating: -1, count: colours)
    }

    /// Reads up to six rows of an indexed picture.
    mutating func gather(_ indices: UnsafeBufferPointer<UInt8>, top: Int, rows: Int) {
        stretches.removeAll(keepingCapacity: true)
        for colour in current.indices { current[colour] = -1 }
        // Keep the columns in a local variable during the loop, because `add` needs access to the rest of `self`.
        var columns: [UInt8] = []
        swap(&columns, &self.columns)
        columns.withUnsafeMutableBufferPointer { columns in
            for x in 0..<width {
                for row in 0..<rows {
                    let colour = Int(indices[(top + row) * width + x])
                    let index = colour * width + x
                    if columns[index] == 0 { add(colour, x) }
                    columns[index] |= 1 << UInt8(row)
                }
            }
        }
        swap(&columns, &self.columns)
    }

    /// Adds a column to a colour's stretches.
    @inline(__always)
    private mutating func add(_ colour: Int, _ x: Int) {
        let stretch = current[colour]
        if stretch >= 0, x - stretches[stretch].last <= Self.longestGap + 1 {
            stretches[stretch].last = x
        } else {
            current[colour] = stretches.count
            stretches.append(Stretch(colour: colour, first: x, last: x))
        }
    }

    /// Writes the band in passes from left to right. Each pass writes as many stretches as do not overlap.
    mutating func write(to text: inout SixelText) {
        var rest = stretches
        while true {
            var x = 0
            var left: [Stretch] = []
            for stretch in rest {
                guard stretch.first >= x else {
                    left.append(stretch)
                    continue
                }
                text.take(colour: stretch.colour)
                text.write(column: 0, times: stretch.first - x)
                write(stretch, to: &text)
                x = stretch.last + 1
            }
            if left.isEmpty { return }
            text.goBack()
            rest = left
        }
    }

    private mutating func write(_ stretch: Stretch, to text: inout SixelText) {
        let start = stretch.colour * width
        columns.withUnsafeMutableBufferPointer { columns in
            var x = stretch.first
            while x <= stretch.last {
                let column = columns[start + x]
                var end = x
                while end <= stretch.last, columns[start + end] == column {
                    columns[start + end] = 0
                    end += 1
                }
                text.write(column: column, times: end - x)
                x = end
            }
        }
    }
}

/// The text of a sixel picture, in its shortest form.
struct SixelText {
    private(set) var bytes: [UInt8] = []
    /// The index of the selected colour; -1 if none is selected.
    private var colour = -1

    mutating func write(_ text: String) { bytes += text.utf8 }

    /// Ends the band, so that the next one starts.
    mutating func endBand() { bytes.append(UInt8(ascii: "-")) }

    /// Returns to the left edge of the same band.
    mutating func goBack() { bytes.append(UInt8(ascii: "$")) }

    mutating func take(colour new: Int) {
        guard new != colour else { return }
        colour = new
        bytes.append(UInt8(ascii: "#"))
        write(number: new)
    }

    /// Writes a column a number of times.
    mutating func write(column: UInt8, times: Int) {
        let character = 0x3F + column
        if times > 3 {
            bytes.append(UInt8(ascii: "!"))
            write(number: times)
            bytes.append(character)
        } else {
            for _ in 0..<times { bytes.append(character) }
        }
    }

    private mutating func write(number: Int) {
        var divisor = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}
