import Cells
import Pixels

/// A picture in the pixels of a screen, made up to whole cells.
struct PixelCanvas {
    /// The pixels: exactly as many as the cells have. What the picture does not fill of the last ones has the colour that is
    /// behind everything.
    let pixels: PixelBuffer
    /// The cells.
    let size: Size

    init(_ picture: PixelBuffer, _ capabilities: PixelCapabilities, background: PixelColor) {
        let (cellWidth, cellHeight) = (capabilities.cellWidth, capabilities.cellHeight)
        size = Size(
            columns: (picture.width + cellWidth - 1) / cellWidth, rows: (picture.height + cellHeight - 1) / cellHeight)
        let whole = PixelSize(width: size.columns * cellWidth, height: size.rows * cellHeight)
        pixels = picture.size == whole ? picture : Self.extended(picture, to: whole, background)
    }

    /// The same in fewer pixels: so many a cell, each the mean of those that it stands for.
    func reduced(to pixelsPerCell: (columns: Int, rows: Int)) -> PixelBuffer {
        let small = PixelSize(width: size.columns * pixelsPerCell.columns, height: size.rows * pixelsPerCell.rows)
        return pixels.scaled(PixelRect(whole: pixels.size), to: small)
    }

    private static func extended(_ picture: PixelBuffer, to size: PixelSize, _ background: PixelColor) -> PixelBuffer {
        var rows: [UInt8] = []
        rows.reserveCapacity(size.width * size.height * PixelBuffer.bytesPerPixel)
        let length = picture.width * PixelBuffer.bytesPerPixel
        let colour = [background.red, background.green, background.blue]
        let rest = [[UInt8]](repeating: colour, count: size.width - picture.width).flatMap(\.self)
        for row in 0..<picture.height {
            rows += picture.bytes[row * length..<(row + 1) * length]
            rows += rest
        }
        return PixelBuffer(size: size, rows: rows, background: background)
    }
}
