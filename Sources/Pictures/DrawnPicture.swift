import Cells
import Pixels

/// A picture as cells, ready to be put on a surface.
public struct DrawnPicture: Hashable, Sendable {
    /// The cells.
    public let cells: CellBlock
    /// The whole picture's width, in its own pixels.
    public let width: Int
    /// The whole picture's height, in its own pixels.
    public let height: Int
    /// False if the picture's bytes break off, and the rest is blank.
    public let isComplete: Bool

    /// Draws what was decoded; nil if there is nothing to draw.
    init?(_ reply: DecodeReply, _ style: DrawingStyle) {
        guard let pixels = reply.pixels else { return nil }
        cells = SymbolDrawing.draw(pixels, style)
        width = reply.sourceSize.width
        height = reply.sourceSize.height
        isComplete = reply.isComplete
    }
}

extension DecoderClient {
    /// Draws a picture from wherever it is, as large as fits into a room.
    public func draw(_ source: PictureSource, room: Size, style: DrawingStyle) throws(PictureError) -> DrawnPicture {
        let pixels = style.symbols.pixelsPerCell
        var request = DecodeRequest(
            box: PixelSize(width: room.columns * pixels.columns, height: room.rows * pixels.rows))
        request.pixelAspect = style.pixelAspect
        guard let picture = DrawnPicture(try decode(source, request), style) else { throw .decoderDied }
        return picture
    }
}
