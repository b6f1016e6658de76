import Cells
import Pixels
import Text

/// A language in which terminals take pixels.
protocol PixelEncoding {
    /// A picture in it, without what has to stand around it.
    static func payload(_ picture: PixelBuffer, _ capabilities: PixelCapabilities) -> [UInt8]
}

/// kitty's: the pixels as they are. To compress them takes longer than to send a tenth more.
enum KittyEncoding: PixelEncoding {
    static func payload(_ picture: PixelBuffer, _ capabilities: PixelCapabilities) -> [UInt8] {
        Base64.encode(picture.bytes)
    }
}

/// DEC's: the colours of a palette, and then six rows of pixels at a time, colour by colour.
///
/// "Each Sixel is a column of six pixels", a character from `?` on; `!12~` is twelve of the same, `#3` takes up another colour, `$`
/// goes back to the left edge and `-` to the next six rows (VT330/VT340 Programmer Reference Manual, chapter 14).
enum SixelEncoding: PixelEncoding {
    static func payload(_ picture: PixelBuffer, _ capabilities: PixelCapabilities) -> [UInt8] {
        let indexed = IndexedPicture(picture, colours: capabilities.paletteSize, shown: shown)
        var text = SixelText()
        // How wide a pixel is and how high, and how many there are.
        text.write("\"1;1;\(picture.width);\(picture.height)")
        for (index, colour) in indexed.colours.enumerated() {
            text.write("#\(index);2;\(percent(colour.red));\(percent(colour.green));\(percent(colour.blue))")
        }
        var band = SixelBand(width: picture.width, colours: indexed.colours.count)
        indexed.indices.withUnsafeBufferPointer { indices in
            for top in stride(from: 0, to: picture.height, by: 6) {
                if top > 0 { text.endBand() }
                band.gather(indices, top: top, rows: min(6, picture.height - top))
                band.write(to: &text)
            }
        }
        return text.bytes
    }

    /// What a colour is on the screen: sixels count in percent.
    private static func shown(_ colour: PartColour) -> PartColour {
        func channel(_ value: Int32) -> Int32 { (percent(value) * 255 + 50) / 100 }
        return PartColour(red: channel(colour.red), green: channel(colour.green), blue: channel(colour.blue))
    }

    private static func percent(_ value: Int32) -> Int32 { (value * 100 + 127) / 255 }
}

/// Six rows of a picture: where each colour is.
struct SixelBand {
    /// Columns in which a colour is, without long gaps between them.
    private struct Stretch {
        let colour: Int
        let first: Int
        var last: Int
    }

    /// To pass over more columns than this within a stretch takes more bytes than to come back for the colour.
    private static let longestGap = 6

    private let width: Int
    /// For each colour a row of columns, a bit for each of its pixels. All are zero between two bands.
    private var columns: [UInt8]
    /// For each colour the stretch it was in last, or -1.
    private var current: [Int]
    private var stretches: [Stretch] = []

    init(width: Int, colours: Int) {
        self.width = width
        columns = Array(repeating: 0, count: width * colours)
        current = Array(repeating: -1, count: colours)
    }

    /// Takes up some rows of a picture of indices.
    mutating func gather(_ indices: UnsafeBufferPointer<UInt8>, top: Int, rows: Int) {
        stretches.removeAll(keepingCapacity: true)
        for colour in current.indices { current[colour] = -1 }
        // Out of the way meanwhile: while its bytes are held, nothing else of this value could be changed.
        var columns: [UInt8] = []
        swap(&columns, &self.columns)
        columns.withUnsafeMutableBufferPointer { columns in
            for x in 0..<width {
                for row in 0..<rows {
                    let colour = Int(indices[(top + row) * width + x])
                    let place = colour * width + x
                    if columns[place] == 0 { note(colour, x) }
                    columns[place] |= 1 << UInt8(row)
                }
            }
        }
        swap(&columns, &self.columns)
    }

    /// A colour is in a column.
    @inline(__always)
    private mutating func note(_ colour: Int, _ x: Int) {
        let stretch = current[colour]
        if stretch >= 0, x - stretches[stretch].last <= Self.longestGap + 1 {
            stretches[stretch].last = x
        } else {
            current[colour] = stretches.count
            stretches.append(Stretch(colour: colour, first: x, last: x))
        }
    }

    /// Writes the band: from left to right one stretch after the other, as many as do not overlap, and then again from
    /// the left, until all are written.
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

/// The text of sixels as it grows, no longer than it has to be.
struct SixelText {
    private(set) var bytes: [UInt8] = []
    /// The colour that was taken up last.
    private var colour = -1

    mutating func write(_ text: String) { bytes += text.utf8 }

    /// Goes to the next six rows.
    mutating func endBand() { bytes.append(UInt8(ascii: "-")) }

    /// Goes back to the left edge of the same six.
    mutating func goBack() { bytes.append(UInt8(ascii: "$")) }

    mutating func take(colour new: Int) {
        guard new != colour else { return }
        colour = new
        bytes.append(UInt8(ascii: "#"))
        write(number: new)
    }

    /// Writes a column so many times.
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
