import Cells
import Pixels
import Text

/// Draws one picture: makes the request to the decoder and draws the reply.
///
/// If the terminal supports pixels, the decoder decodes the picture once, at screen resolution. This type draws the
/// characters under the picture from the same pixels. So pixels and characters match, and the decoder need not decode
/// the photo twice.
struct PictureDrawing {
    /// The request for the picture's pixels on the screen.
    private let wanted: DecodeRequest
    private let style: DrawingStyle

    init(_ wanted: DecodeRequest, _ style: DrawingStyle) {
        self.wanted = wanted
        self.style = style
    }

    /// The maximum number of pixels of a picture that is sent as a JPEG. The terminal enlarges the JPEG of a larger
    /// picture. The decoder writes at most 4 MiB, and pure noise takes one byte per pixel.
    private static let mostInFile = 3 << 20

    /// The request to send to the decoder. The request is for pixels, or for a JPEG if the terminal decodes JPEGs.
    var request: DecodeRequest {
        guard style.pixels?.language == .iterm else { return wanted }
        var request = wanted
        request.product = .thumbnail
        let pixels = Double(request.box.width * request.box.height)
        if pixels > Double(Self.mostInFile) {
            let factor = (Double(Self.mostInFile) / pixels).squareRoot()
            request.box = PixelSize(
                width: Int(Double(request.box.width) * factor), height: Int(Double(request.box.height) * factor))
        }
        return request
    }

    /// Draws the decoder's reply.
    ///
    /// - Parameter decode: decodes a picture in memory.
    func draw(
        _ reply: DecodeReply, decode: ([UInt8], DecodeRequest) throws(PictureError) -> DecodeReply
    ) throws(PictureError) -> DrawnPicture {
        guard let capabilities = style.pixels else {
            guard let pixels = reply.pixels else { throw .decoderDied }
            return DrawnPicture(reply, cells: SymbolDrawing.draw(pixels, style))
        }
        if let file = reply.thumbnail { return try draw(file, of: reply, capabilities, decode) }
        guard let pixels = reply.pixels else { throw .decoderDied }
        let canvas = PixelCanvas(pixels, capabilities, background: style.knownBackground)
        let encoding: any PixelEncoding.Type = capabilities.language == .sixel ? SixelEncoding.self : KittyEncoding.self
        return DrawnPicture(
            reply, cells: SymbolDrawing.draw(canvas.reduced(to: style.symbols.pixelsPerCell), style),
            pixels: PixelPicture(
                capabilities.language, size: canvas.size, width: canvas.pixels.width, height: canvas.pixels.height,
                tiles: encoding.tiles(canvas.pixels, capabilities), isThroughTmux: capabilities.isThroughTmux))
    }

    /// Draws a JPEG for terminals that decode it themselves.
    ///
    /// This process cannot pad a JPEG to whole cells. So the JPEG covers the nearest number of cells, and the terminal
    /// stretches it by less than half a cell. The decoder decodes the JPEG again for the characters. That costs little,
    /// because the JPEG is small.
    private func draw(
        _ file: [UInt8], of reply: DecodeReply, _ capabilities: PixelCapabilities,
        _ decode: ([UInt8], DecodeRequest) throws(PictureError) -> DecodeReply
    ) throws(PictureError) -> DrawnPicture {
        let full = PictureLayout(of: reply.sourceSize, for: wanted).output
        let made = PictureLayout(of: reply.sourceSize, for: request).output
        let size = PixelCanvas.nearest(full, capabilities)
        let parts = style.symbols.pixelsPerCell
        var again = DecodeRequest(
            box: PixelSize(width: size.columns * parts.columns, height: size.rows * parts.rows))
        again.pixelAspect =
            Double(made.width) / Double(again.box.width) / (Double(made.height) / Double(again.box.height))
        again.fitting = .cover
        again.enlarges = true
        guard let pixels = try decode(file, again).pixels else { throw .decoderDied }
        return DrawnPicture(
            reply, cells: SymbolDrawing.draw(pixels, style),
            pixels: PixelPicture(
                .iterm, size: size, width: size.columns * capabilities.cellWidth,
                height: size.rows * capabilities.cellHeight,
                payload: Base64.encode(file)))
    }
}

/// Draws pixels as characters.
public enum SymbolDrawing {
    /// Draws a picture as characters. The picture must have as many pixels per cell as the style requires.
    public static func draw(_ picture: PixelBuffer, _ style: DrawingStyle) -> CellBlock {
        switch style.symbols {
        case .half, .quadrant, .sextant: BlockDrawing(picture, style).cells()
        case .ascii, .ramp: LetterDrawing(picture, style).cells()
        }
    }
}

/// A picture in screen pixels, extended to whole cells.
struct PixelCanvas {
    /// The pixels, exactly as many as the cells have.
    let pixels: PixelBuffer
    /// The size of the canvas in cells.
    let size: Size

    /// Extends a picture to whole cells.
    ///
    /// - Parameter background: the terminal's background, which fills the uncovered part of the last cells. Another
    ///   colour would be visible as a strip. If the background is nil, the picture is stretched to the nearest number
    ///   of cells, by less than half a cell.
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
