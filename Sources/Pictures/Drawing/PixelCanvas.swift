import Cells
import Pixels

/// A picture in the pixels of a screen, made up to whole cells.
struct PixelCanvas {
    /// The pixels: exactly as many as the cells have.
    let pixels: PixelBuffer
    /// The cells.
    let size: Size

    /// Makes a picture up to whole cells.
    ///
    /// - Parameter background: the colour that is behind everything; it fills what the picture does not fill of the last cells.
    ///   Any other colour would be a strip beside the picture. So where that is not known, the picture is stretched to the
    ///   nearest number of cells, by less than half of one.
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

    /// The number of cells that comes nearest to some pixels.
    static func nearest(_ pixels: PixelSize, _ capabilities: PixelCapabilities) -> Size {
        let (width, height) = (capabilities.cellWidth, capabilities.cellHeight)
        return Size(
            columns: max(1, (pixels.width + width / 2) / width), rows: max(1, (pixels.height + height / 2) / height))
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
