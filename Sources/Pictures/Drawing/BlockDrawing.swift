import Cells
import Pixels
import Text

/// Draws pixels as block characters: two, four or six parts per cell in two colours.
struct BlockDrawing {
    private let picture: PixelBuffer
    private let style: DrawingStyle
    private let glyphs: [Glyph]
    /// The number of columns and rows of parts in a cell.
    private let columns: Int
    private let rows: Int

    init(_ picture: PixelBuffer, _ style: DrawingStyle) {
        self.picture = picture
        self.style = style
        glyphs = BlockGlyphs(style.symbols).glyphs
        (columns, rows) = style.symbols.pixelsPerCell
    }

    /// Draws the cells in the style's colour depth.
    func cells() -> CellBlock {
        let depth = style.colours
        return switch depth {
        case .none: cells(DotFitting(picture, columns: columns, rows: rows, isOnLight: style.isOnLight))
        case .eight, .sixteen, .palette: cells(PaletteFitting(depth, parts: columns * rows, columns: size.columns))
        case .full: cells(FullColourFitting(count: columns * rows))
        }
    }

    private var size: Size {
        Size(columns: (picture.width + columns - 1) / columns, rows: (picture.height + rows - 1) / rows)
    }

    private func cells(_ fitting: some TwoColourFitting) -> CellBlock {
        var fitting = fitting
        var parts = [PartColour](repeating: .zero, count: columns * rows)
        var cells: [Cell] = []
        cells.reserveCapacity(size.columns * size.rows)
        for row in 0..<size.rows {
            for column in 0..<size.columns {
                let missing = gather(&parts, column, row)
                let fitted = fitting.fit(parts, column: column)
                cells.append(missing == 0 ? cell(fitted) : edge(fitted, missing))
            }
            fitting.endRow()
        }
        return CellBlock(size: size, cells: cells)
    }

    private func cell(_ fitted: TwoColours) -> Cell {
        Cell(glyphs[fitted.pattern], style: Style(foreground: fitted.foreground, background: fitted.background))
    }

    /// Returns a cell at the picture's edge. Parts outside the picture show the terminal's background, so only one
    /// colour is left for the picture.
    private func edge(_ fitted: TwoColours, _ missing: Int) -> Cell {
        let present = ((1 << (columns * rows)) - 1) & ~missing
        let bright = fitted.pattern & present
        guard fitted.foreground != .terminal || fitted.background != .terminal else {
            return Cell(glyphs[bright])
        }
        let isMostlyBright = 2 * bright.nonzeroBitCount > present.nonzeroBitCount
        return Cell(
            glyphs[present], style: Style(foreground: isMostlyBright ? fitted.foreground : fitted.background))
    }

    /// Collects the colours of a cell's parts. A part beyond the edge copies the nearest pixel. The result has a bit
    /// for each part beyond the edge.
    private func gather(_ parts: inout [PartColour], _ column: Int, _ row: Int) -> Int {
        picture.bytes.withUnsafeBufferPointer { bytes in
            var missing = 0
            var part = 0
            for y in row * rows..<(row + 1) * rows {
                for x in column * columns..<(column + 1) * columns {
                    if x >= picture.width || y >= picture.height { missing |= 1 << part }
                    let offset = (min(y, picture.height - 1) * picture.width + min(x, picture.width - 1)) * 3
                    parts[part] = PartColour(
                        red: Int32(bytes[offset]), green: Int32(bytes[offset + 1]), blue: Int32(bytes[offset + 2]))
                    part += 1
                }
            }
            return missing
        }
    }
}

extension CellBlock {
    /// The largest difference of red, green or blue that is invisible in a moving picture.
    private static let unseen: UInt8 = 2

    /// Returns a video's frame with fewer changes of colour.
    ///
    /// Where the difference is not visible, a cell gets the colours of the previous frame, or of the cell to the left.
    /// The terminal then needs about a third of the bytes. Differences do not add up, because each comparison uses the
    /// frame's own colours.
    ///
    /// - Parameter previous: the frame on the screen; nil before the first one.
    func steadied(after previous: CellBlock?) -> CellBlock {
        let previous = previous?.size == size ? previous?.cells : nil
        var steadied: [Cell] = []
        steadied.reserveCapacity(cells.count)
        for (index, cell) in cells.enumerated() {
            if let before = previous?[index], Self.lookAlike(before, cell) {
                steadied.append(before)
                continue
            }
            var cell = cell
            if index % size.columns > 0, let left = steadied.last?.style {
                if Self.lookAlike(left.foreground, cell.style.foreground) { cell.style.foreground = left.foreground }
                if Self.lookAlike(left.background, cell.style.background) { cell.style.background = left.background }
            }
            steadied.append(cell)
        }
        return CellBlock(size: size, cells: steadied)
    }

    private static func lookAlike(_ one: Cell, _ other: Cell) -> Bool {
        lookAlike(one.style.foreground, other.style.foreground)
            && lookAlike(one.style.background, other.style.background)
            && one.style.attributes == other.style.attributes && one.text == other.text
    }

    private static func lookAlike(_ one: Colour, _ other: Colour) -> Bool {
        guard case .rgb(let red, let green, let blue) = one,
            case .rgb(let otherRed, let otherGreen, let otherBlue) = other
        else { return one == other }
        return max(red, otherRed) - min(red, otherRed) <= unseen
            && max(green, otherGreen) - min(green, otherGreen) <= unseen
            && max(blue, otherBlue) - min(blue, otherBlue) <= unseen
    }
}

/// The block character for each pattern of filled parts in a cell.
///
/// A pattern has one bit per part. The lowest bit is the upper left part. The next bits are the parts to the right,
/// then the rows below.
struct BlockGlyphs {
    /// The characters, indexed by pattern.
    let glyphs: [Glyph]

    init(_ symbols: DrawingStyle.Symbols) {
        glyphs =
            switch symbols {
            case .sextant: Self.sextants
            case .quadrant: Self.quadrants
            case .half, .ascii, .ramp: Self.halves
            }
    }

    // Created once, because measuring a character's width takes longer than drawing a small picture.
    private static let sextants = (0..<64).map { Glyph(sextant($0)) }
    private static let quadrants = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█".map { Glyph($0) }
    private static let halves = " ▀▄█".map { Glyph($0) }

    /// Returns the block character for a pattern of six parts. Unicode has 60 sextants, ordered by pattern. Four
    /// patterns have older characters instead: empty, full, left half and right half.
    private static func sextant(_ pattern: Int) -> Character {
        switch pattern {
        case 0: " "
        case 0b010101: "▌"
        case 0b101010: "▐"
        case 0b111111: "█"
        default:
            Character(
                Unicode.Scalar(
                    0x1FB00 + UInt32(pattern) - 1 - (pattern > 0b010101 ? 1 : 0) - (pattern > 0b101010 ? 1 : 0)) ?? " ")
        }
    }
}
