import Cells
import Glibc

/// How many pixels something is wide and high.
struct CellPixels: Hashable, Sendable {
    let width: Int
    let height: Int

    /// A cell that a person could read. Over a connection the numbers may be zero or nonsense: both sides are believed, or
    /// neither is.
    init?(cellWidth width: Int, height: Int) {
        guard (3...100).contains(width), (5...200).contains(height) else { return nil }
        let aspect = Double(width) / Double(height)
        guard (0.25...1.0).contains(aspect) else { return nil }
        (self.width, self.height) = (width, height)
    }

    /// A cell, of so many that are so large together.
    init?(_ area: (width: Int, height: Int), dividedBy size: Size) {
        guard size.columns > 0, size.rows > 0 else { return nil }
        self.init(cellWidth: area.width / size.columns, height: area.height / size.rows)
    }

    /// A cell as the system knows it.
    init?(_ window: winsize) {
        self.init(
            (Int(window.ws_xpixel), Int(window.ws_ypixel)),
            dividedBy: Size(columns: Int(window.ws_col), rows: Int(window.ws_row)))
    }

    /// The width divided by the height.
    var aspect: Double { Double(width) / Double(height) }
}
