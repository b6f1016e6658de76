/// A place on a screen, counted from the upper left corner.
public struct Point: Hashable, Sendable {
    /// Columns from the left.
    public var column: Int
    /// Rows from the top.
    public var row: Int

    /// A place.
    public init(column: Int, row: Int) {
        self.column = column
        self.row = row
    }
}

/// Columns and rows.
public struct Size: Hashable, Sendable {
    /// How wide.
    public var columns: Int
    /// How high.
    public var rows: Int

    /// A size; nothing is smaller than nothing.
    public init(columns: Int, rows: Int) {
        self.columns = max(0, columns)
        self.rows = max(0, rows)
    }

    /// Whether there is no cell in it.
    public var isEmpty: Bool { columns == 0 || rows == 0 }
}

/// A rectangle of cells.
public struct Rect: Hashable, Sendable {
    /// Its upper left cell.
    public var origin: Point
    /// How wide and high it is.
    public var size: Size

    /// A rectangle.
    public init(column: Int, row: Int, columns: Int, rows: Int) {
        origin = Point(column: column, row: row)
        size = Size(columns: columns, rows: rows)
    }

    /// A rectangle of that size in the upper left corner.
    public init(_ size: Size) {
        origin = Point(column: 0, row: 0)
        self.size = size
    }

    /// The columns it covers.
    public var columns: Range<Int> { origin.column..<origin.column + size.columns }
    /// The rows it covers.
    public var rows: Range<Int> { origin.row..<origin.row + size.rows }

    /// Whether a place is in it.
    public func contains(_ point: Point) -> Bool {
        columns.contains(point.column) && rows.contains(point.row)
    }

    /// Whether all of another rectangle is in it.
    public func contains(_ other: Rect) -> Bool {
        other.columns.lowerBound >= columns.lowerBound && other.columns.upperBound <= columns.upperBound
            && other.rows.lowerBound >= rows.lowerBound && other.rows.upperBound <= rows.upperBound
    }

    /// Takes rows off the top. Returns what was taken; of what is not there, nothing is taken.
    public mutating func takeTop(_ count: Int) -> Rect {
        let taken = min(max(0, count), size.rows)
        defer {
            origin.row += taken
            size.rows -= taken
        }
        return Rect(column: origin.column, row: origin.row, columns: size.columns, rows: taken)
    }

    /// Takes rows off the bottom.
    public mutating func takeBottom(_ count: Int) -> Rect {
        let taken = min(max(0, count), size.rows)
        size.rows -= taken
        return Rect(column: origin.column, row: origin.row + size.rows, columns: size.columns, rows: taken)
    }

    /// Takes columns off the left.
    public mutating func takeLeft(_ count: Int) -> Rect {
        let taken = min(max(0, count), size.columns)
        defer {
            origin.column += taken
            size.columns -= taken
        }
        return Rect(column: origin.column, row: origin.row, columns: taken, rows: size.rows)
    }

    /// Takes columns off the right.
    public mutating func takeRight(_ count: Int) -> Rect {
        let taken = min(max(0, count), size.columns)
        size.columns -= taken
        return Rect(column: origin.column + size.columns, row: origin.row, columns: taken, rows: size.rows)
    }

    /// A rectangle of that size in the middle of this one, no larger than it.
    public func centred(_ inner: Size) -> Rect {
        let columns = min(inner.columns, size.columns)
        let rows = min(inner.rows, size.rows)
        return Rect(
            column: origin.column + (size.columns - columns) / 2, row: origin.row + (size.rows - rows) / 2,
            columns: columns, rows: rows)
    }
}
