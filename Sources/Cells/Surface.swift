import Text

/// A screen's worth of cells that somebody draws into, and somebody else puts on a terminal.
///
///     var surface = Surface(size: Size(columns: 80, rows: 24))
///     surface.write("Sunset", in: Rect(column: 2, row: 0, columns: 20, rows: 1), style: .plain)
///
/// It is a value: two of them can be compared, and a test can read one as text. Nothing that is drawn reaches beyond the
/// rectangle it is drawn in, and no text can harm the terminal: it is cut into glyphs on the way in.
public struct Surface: Equatable, Sendable {
    /// How wide and high it is.
    public let size: Size
    private var cells: [Cell]
    private var laid: [PixelPlacement] = []
    /// For each cell the place in `laid`, from one on, of what lies over it; empty as long as nothing does.
    private var owners: [UInt16] = []
    private var covered: Set<UInt16> = []
    /// Where the terminal's cursor belongs, if it is to be seen.
    public var cursor: Point?

    /// An empty surface.
    public init(size: Size) {
        self.size = size
        cells = Array(repeating: .blank, count: size.columns * size.rows)
    }

    /// The pixels that lie over cells. What is drawn over one of them takes it away: it is whole or not there.
    public var placements: [PixelPlacement] {
        laid.enumerated().filter { !covered.contains(UInt16($0.offset + 1)) }.map(\.element)
    }

    /// The cell at a place.
    public subscript(column: Int, row: Int) -> Cell { cells[row * size.columns + column] }

    /// One row's cells.
    public func row(_ row: Int) -> ArraySlice<Cell> {
        cells[row * size.columns..<(row + 1) * size.columns]
    }

    /// Fills a rectangle with blanks, or with another glyph.
    public mutating func fill(_ rect: Rect, with glyph: Glyph = .space, style: Style = .plain) {
        let cell = Cell(glyph, style: style)
        for row in rect.rows {
            for column in rect.columns { put(cell, column, row) }
        }
    }

    /// Writes one line of text, as far as the rectangle reaches, and returns how many columns it took.
    ///
    /// What does not fit is cut off behind a last whole glyph; to show that something is missing, pass text that was
    /// ``Swift/String/truncated(toWidth:ellipsis:)``.
    @discardableResult
    public mutating func write(_ text: String, in rect: Rect, style: Style = .plain) -> Int {
        guard rect.size.rows > 0 else { return 0 }
        var used = 0
        for glyph in Glyphs(text) {
            guard used + glyph.width <= rect.size.columns else { break }
            put(Cell(glyph, style: style), rect.origin.column + used, rect.origin.row)
            used += glyph.width
        }
        return used
    }

    /// Draws finished cells at a place, as far as the rectangle reaches.
    public mutating func draw(_ block: CellBlock, at origin: Point, in rect: Rect) {
        for row in 0..<block.size.rows where rect.rows.contains(origin.row + row) {
            for column in 0..<block.size.columns where rect.columns.contains(origin.column + column) {
                put(block[column, row], origin.column + column, origin.row + row)
            }
        }
    }

    /// Draws a picture at a place: finished cells, as far as the rectangle reaches, and over them its pixels, if it has some
    /// and all of it fits in.
    ///
    /// The cells are what is seen where there are no pixels, or not yet.
    public mutating func draw(_ block: CellBlock, pixels: PixelPicture?, at origin: Point, in rect: Rect) {
        draw(block, at: origin, in: rect)
        guard let pixels, !pixels.size.isEmpty else { return }
        let placement = PixelPlacement(pixels, at: origin)
        guard rect.contains(placement.rect), Rect(size).contains(placement.rect), laid.count < Int(UInt16.max) else {
            return
        }
        if owners.isEmpty { owners = Array(repeating: 0, count: cells.count) }
        laid.append(placement)
        for row in placement.rect.rows {
            for column in placement.rect.columns { owners[row * size.columns + column] = UInt16(laid.count) }
        }
    }

    /// Replaces what stands in a rectangle by one cell, whatever lies over it.
    public mutating func cede(_ rect: Rect, to cell: Cell) {
        for row in rect.rows where (0..<size.rows).contains(row) {
            for column in rect.columns where (0..<size.columns).contains(column) {
                blankOtherHalf(of: row * size.columns + column, column)
                cells[row * size.columns + column] = cell
            }
        }
    }

    /// The text that stands in a row, without the blanks at its end.
    public func text(inRow row: Int) -> String {
        var text = self.row(row).reduce(into: "") { $0 += $1.text }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// All rows as text, one line each.
    public var text: String {
        (0..<size.rows).map(text(inRow:)).joined(separator: "\n")
    }

    /// Puts a cell in its place, and mends what it cuts in half.
    private mutating func put(_ cell: Cell, _ column: Int, _ row: Int) {
        guard (0..<size.rows).contains(row), column >= 0, column < size.columns else { return }
        let place = row * size.columns + column
        if !owners.isEmpty { uncover(place..<place + (cell.width == 2 && column + 1 < size.columns ? 2 : 1)) }
        blankOtherHalf(of: place, column)
        guard cell.width == 2 else {
            cells[place] = cell.width == 1 ? cell : .blank
            return
        }
        // A wide character that would hang over the edge is none.
        guard column + 1 < size.columns else {
            cells[place] = Cell(.space, style: cell.style)
            return
        }
        blankOtherHalf(of: place + 1, column + 1)
        cells[place] = cell
        cells[place + 1] = .rightHalf(cell.style)
    }

    /// Something else is drawn there now.
    private mutating func uncover(_ places: Range<Int>) {
        for place in places where owners[place] != 0 { covered.insert(owners[place]) }
    }

    /// When one half of a wide character is overwritten, the other half is nothing any more.
    private mutating func blankOtherHalf(of place: Int, _ column: Int) {
        if cells[place].width == 0, column > 0 {
            cells[place - 1] = Cell(.space, style: cells[place - 1].style)
        } else if cells[place].width == 2, column + 1 < size.columns {
            cells[place + 1] = Cell(.space, style: cells[place + 1].style)
        }
    }
}
