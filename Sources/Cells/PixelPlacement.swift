/// A picture's pixels, and where on a screen they lie.
public struct PixelPlacement: Hashable, Sendable {
    /// The picture.
    public let picture: PixelPicture
    /// Its upper left cell.
    public let origin: Point

    /// Lays a picture there.
    public init(_ picture: PixelPicture, at origin: Point) {
        self.picture = picture
        self.origin = origin
    }

    /// The cells that it covers.
    public var rect: Rect {
        Rect(column: origin.column, row: origin.row, columns: picture.size.columns, rows: picture.size.rows)
    }
}
