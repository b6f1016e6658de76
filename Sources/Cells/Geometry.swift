/// A position on a screen, counted from the upper left corner.
public struct Point: Hashable, Sendable {
    /// The number of columns from the left edge.
    public var column: Int
    /// The number of rows from the top edge.
    public var row: Int

    /// Creates a position.
    public init(column: Int, row: Int) {
        self.column = column
        self.row = row
    }
}

/// A size in columns and rows.
public struct Size: Hashable, Sendable {
    /// The number of columns.
    public var columns: Int
    /// The number of rows.
    public var rows: Int

    /// Creates a size. Negative numbers become 0.
    public init(columns: Int, rows: Int) {
        self.columns = max(0, columns)
        self.rows = max(0, rows)
    }

    /// Whether the size has no cells.
    public var isEmpty: Bool { columns == 0 || rows == 0 }
}

/// A rectangle of cells.
public struct Rect: Hashable, Sendable {
    /// The upper left cell of the rectangle.
    public var origin: Point
    /// The size of the rectangle in cells.
    public var size: Size

    /// Creates a rectangle.
    public init(column: Int, row: Int, columns: Int, rows: Int) {
        origin = Point(column: column, row: row)
        size = Size(columns: columns, rows: rows)
    }

    /// Creates a rectangle of this size in the upper left corner.
    public init(_ size: Size) {
        origin = Point(column: 0, row: 0)
        self.size = size
    }

    /// The columns that the rectangle covers.
    public var columns: Range<Int> { origin.column..<origin.column + size.columns }
    /// The rows that the rectangle covers.
    public var rows: Range<Int> { origin.row..<origin.row + size.rows }

    /// Returns whether the rectangle contains a position.
    public func contains(_ point: Point) -> Bool {
        columns.contains(point.column) && rows.contains(point.row)
    }

    /// Returns whether the rectangle contains all of another rectangle.
    public func contains(_ other: Rect) -> Bool {
        other.columns.lowerBound >= columns.lowerBound && other.columns.upperBound <= columns.upperBound
            && other.rows.lowerBound >= rows.lowerBound && other.rows.upperBound <= rows.upperBound
    }

    /// Returns whether both rectangles have a cell in common.
    public func overlaps(_ other: Rect) -> Bool {
        columns.overlaps(other.columns) && rows.overlaps(other.rows)
    }

    /// Removes rows from the top and returns them. Removes all rows if there are fewer than `count`.
    public mutating func takeTop(_ count: Int) -> Rect {
        let taken = min(max(0, count), size.rows)
        defer {
            origin.row += taken
            size.rows -= taken
        }
        return Rect(column: origin.column, row: origin.row, columns: size.columns, rows: taken)
    }

    /// Removes rows from the bottom and returns them. Removes all rows if there are fewer than `count`.
    public mutating func takeBottom(_ count: Int) -> Rect {
        let taken = min(max(0, count), size.rows)
        size.rows -= taken
        return Rect(column: origin.column, row: origin.row + size.rows, columns: size.columns, rows: taken)
    }

    /// Removes columns from the left and returns them. Removes all columns if there are fewer than `count`.
    public mutating func takeLeft(_ count: Int) -> Rect {
        let taken = min(max(0, count), size.columns)
        defer {
            origin.column += taken
            size.columns -= taken
        }
        return Rect(column: origin.column, row: origin.row, columns: taken, rows: size.rows)
    }

    /// Removes columns from the right and returns them. Removes all columns if there are fewer than `count`.
    public mutating func takeRight(_ count: Int) -> Rect {
        let taken = min(max(0, count), size.columns)
        size.columns -= taken
        return Rect(column: origin.column + size.columns, row: origin.row, columns: taken, rows: size.rows)
    }

    /// Returns a rectangle in the middle of this rectangle. Reduces the size `inner` so that it fits.
    public func centred(_ inner: Size) -> Rect {
        let columns = min(inner.columns, size.columns)
        let rows = min(inner.rows, size.rows)
        return Rect(
            column: origin.column + (size.columns - columns) / 2, row: origin.row + (size.rows - rows) / 2,
            columns: columns, rows: rows)
    }
}
