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
