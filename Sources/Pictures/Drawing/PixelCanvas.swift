import Cells
import Pixels

/// A picture in screen pixels, extended to whole cells.
struct PixelCanvas {
    /// The pixels, exactly as many as the cells have.
    let pixels: PixelBuffer
    /// The size of the canvas in cells.
    let size: Size

    /// Extends a picture to whole cells.
    ///
    /// - Parameter background: the terminal's background, which fills the rest of the last cells. Another colour would
    ///   be visible as a strip. If it is nil, the picture is stretched to the nearest number of cells, by less than
    ///   half a cell.
    init(_ picture: PixelBuffer, _ capabilities: PixelCapabilities, background: PixelColor?) {
        let (cellWidth, cellHeight) = (capabilities.cellWidth, capabilities.cellHeight)
        size =
            background == nil
            ? Self.nearest(picture.size, capabilities)
            : Size(
                columns: (picture.width + cellWidth - 1) / cellWidth,
                rows: (picture.height + cellHeight - 1) / cellHeight)
        let whole = PixelSize(width: size.columns * cellWidth, height: size.rows * cellHeight)
        if picture.size == whole {
            pixels = picture
        } else if let background {
            pixels = Self.extended(picture, to: whole, background)
        } else {
            pixels = picture.scaled(PixelRect(whole: picture.size), to: whole)
        }
    }

    /// Returns the number of cells nearest to a size in pixels.
    static func nearest(_ pixels: PixelSize, _ capabilities: PixelCapabilities) -> Size {
        let (width, height) = (capabilities.cellWidth, capabilities.cellHeight)
        return Size(
            columns: max(1, (pixels.width + width / 2) / width), rows: max(1, (pixels.height + height / 2) / height))
    }

    /// Returns the picture with fewer pixels per cell. Each new pixel is the mean of the pixels that it covers.
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
