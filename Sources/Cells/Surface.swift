import Text

/// The contents of the terminal's screen: cells, pictures and the cursor.
///
///     var surface = Surface(size: Size(columns: 80, rows: 24))
///     surface.write("Sunset", in: Rect(column: 2, row: 0, columns: 20, rows: 1), style: .plain)
///
/// A surface is a value: tests can compare surfaces and read them as text. Drawing stays inside the given rectangle.
/// The surface splits text into glyphs, so no text can harm the terminal.
public struct Surface: Equatable, Sendable {
    /// The size of the surface in cells.
    public let size: Size
    private var cells: [Cell]
    private var laid: [PixelPlacement] = []
    /// For each cell, the number of the picture over the cell, or 0. The first picture in `laid` has number 1. The
    /// array is empty if there are no pictures.
    private var owners: [UInt16] = []
    private var covered: Set<UInt16> = []
    /// The position of the visible cursor; nil if it is hidden.
    public var cursor: Point?

    /// Creates a blank surface.
    public init(size: Size) {
        self.size = size
        cells = Array(repeating: .blank, count: size.columns * size.rows)
    }

    /// The pictures on the surface that no later drawing has covered. Drawing over any part of a picture removes the
    /// whole picture.
    public var placements: [PixelPlacement] {
        laid.enumerated().filter { !covered.contains(UInt16($0.offset + 1)) }.map(\.element)
    }

    /// The cell at a position.
    public subscript(column: Int, row: Int) -> Cell { cells[row * size.columns + column] }

    /// Returns the cells of a row.
    public func row(_ row: Int) -> ArraySlice<Cell> {
        cells[row * size.columns..<(row + 1) * size.columns]
    }

    /// Fills a rectangle with blanks or another glyph.
    public mutating func fill(_ rect: Rect, with glyph: Glyph = .space, style: Style = .plain) {
        let cell = Cell(glyph, style: style)
        for row in rect.rows {
            for column in rect.columns { put(cell, column, row) }
        }
    }

    /// Writes a line of text into a rectangle. Returns the number of columns used.
    ///
    /// If the text does not fit, the method cuts it after a whole glyph. To show an ellipsis, pass the result of
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

    /// Draws a block of cells at a position. Draws only the part inside the rectangle.
    public mutating func draw(_ block: CellBlock, at origin: Point, in rect: Rect) {
        for row in 0..<block.size.rows where rect.rows.contains(origin.row + row) {
            for column in 0..<block.size.columns where rect.columns.contains(origin.column + column) {
                put(block[column, row], origin.column + column, origin.row + row)
            }
        }
    }

    /// Draws a picture as cells at a position. Also adds the pixels, if the whole picture fits.
    ///
    /// The user sees the cells until the terminal shows the pixels.
    ///
    /// - Parameter isMoving: whether the picture is a frame of something that plays.
    public mutating func draw(
        _ block: CellBlock, pixels: PixelPicture?, isMoving: Bool = false, at origin: Point, in rect: Rect
    ) {
        draw(block, at: origin, in: rect)
        guard let pixels, !pixels.size.isEmpty else { return }
        let placement = PixelPlacement(pixels, at: origin, isMoving: isMoving)
        guard rect.contains(placement.rect), Rect(size).contains(placement.rect), laid.count < Int(UInt16.max) else {
            return
        }
        if owners.isEmpty { owners = Array(repeating: 0, count: cells.count) }
        laid.append(placement)
        for row in placement.rect.rows {
            for column in placement.rect.columns { owners[row * size.columns + column] = UInt16(laid.count) }
        }
    }

    /// Replaces all cells of a rectangle. Does not remove the pictures over the rectangle.
    public mutating func cede(_ rect: Rect, to cell: Cell) {
        for row in rect.rows where (0..<size.rows).contains(row) {
            for column in rect.columns where (0..<size.columns).contains(column) {
                blankOtherHalf(of: row * size.columns + column, column)
                cells[row * size.columns + column] = cell
            }
        }
    }

    /// Returns the text of a row without trailing blanks.
    public func text(inRow row: Int) -> String {
        var text = self.row(row).reduce(into: "") { $0 += $1.text }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// The text of all rows, with one line per row.
    public var text: String {
        (0..<size.rows).map(text(inRow:)).joined(separator: "\n")
    }

    /// Sets a cell. If the new cell overwrites half of a wide character, blanks the other half.
    private mutating func put(_ cell: Cell, _ column: Int, _ row: Int) {
        guard (0..<size.rows).contains(row), column >= 0, column < size.columns else { return }
        let index = row * size.columns + column
        if !owners.isEmpty { uncover(index..<index + (cell.width == 2 && column + 1 < size.columns ? 2 : 1)) }
        blankOtherHalf(of: index, column)
        guard cell.width == 2 else {
            cells[index] = cell.width == 1 ? cell : .blank
            return
        }
        // A wide character does not fit into the last column.
        guard column + 1 < size.columns else {
            cells[index] = Cell(.space, style: cell.style)
            return
        }
        blankOtherHalf(of: index + 1, column + 1)
        cells[index] = cell
        cells[index + 1] = .rightHalf(cell.style)
    }

    /// Removes the pictures over these cells.
    private mutating func uncover(_ indices: Range<Int>) {
        for index in indices where owners[index] != 0 { covered.insert(owners[index]) }
    }

    /// Blanks the other half of a wide character. Does nothing if the cell at `index` is not half of one.
    private mutating func blankOtherHalf(of index: Int, _ column: Int) {
        if cells[index].width == 0, column > 0 {
            cells[index - 1] = Cell(.space, style: cells[index - 1].style)
        } else if cells[index].width == 2, column + 1 < size.columns {
            cells[index + 1] = Cell(.space, style: cells[index + 1].style)
        }
    }
}
