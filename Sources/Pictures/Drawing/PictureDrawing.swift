import Cells
import Pixels
import Text

/// The way of one picture from a wish to what is drawn: what to ask the decoder for, and what to make of its answer.
///
/// Where the terminal takes pixels they are decoded once, for the screen, and the cells below them are drawn from them: so both
/// show the same, and neither costs another look at the photo.
struct PictureDrawing {
    /// What the picture is to fill, in pixels.
    private let wanted: DecodeRequest
    private let style: DrawingStyle

    init(_ wanted: DecodeRequest, _ style: DrawingStyle) {
        self.wanted = wanted
        self.style = style
    }

    /// The most pixels of a picture that goes out as a JPEG; the terminal enlarges it from there. The decoder writes none
    /// that takes more than 4 MiB, and what is nothing but noise takes a byte a pixel.
    private static let mostInFile = 3 << 20

    /// What the decoder is asked for.
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

    /// Draws what was decoded.
    ///
    /// - Parameter decode: decodes a picture that is in memory.
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
                payload: encoding.payload(canvas.pixels, capabilities), isThroughTmux: capabilities.isThroughTmux))
    }

    /// A file cannot be made up to whole cells here, where no picture library is. It is drawn over the nearest number of them, for
    /// which the terminal stretches it by less than half a cell; and it is small, so that decoding it once more for the cells
    /// costs little.
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

/// Draws pixels as cells.
public enum SymbolDrawing {
    /// The cells of a picture that has as many pixels a cell as the style wants.
    public static func draw(_ picture: PixelBuffer, _ style: DrawingStyle) -> CellBlock {
        switch style.symbols {
        case .half, .quadrant, .sextant: BlockDrawing(picture, style.symbols).cells(style.colours)
        case .ascii: LetterDrawing(picture, style.colours).shapes()
        case .ramp: LetterDrawing(picture, style.colours).ramp()
        }
    }
}
