import Cells
import Pixels

/// A picture as cells, ready to be put on a surface; and as pixels to lie over them, where the terminal takes those.
public struct DrawnPicture: Hashable, Sendable {
    /// The cells.
    public let cells: CellBlock
    /// The same in pixels: they cover exactly those cells.
    public let pixels: PixelPicture?
    /// The whole picture's width, in its own pixels.
    public let width: Int
    /// The whole picture's height, in its own pixels.
    public let height: Int
    /// False if the picture's bytes break off, and the rest is blank.
    public let isComplete: Bool
    /// Whether it was drawn in haste of less than there is, and will be drawn again of all that there is.
    public let isCoarse: Bool
    /// How many pictures there are one after the other; of the first one, 2 may stand for any number above 1.
    public let frameCount: Int
    /// How long this one of them is to be shown, in milliseconds as the file says.
    public let duration: Int

    /// Takes what was drawn of what was decoded.
    init(_ reply: DecodeReply, cells: CellBlock, pixels: PixelPicture? = nil) {
        self.cells = cells
        self.pixels = pixels
        width = reply.sourceSize.width
        height = reply.sourceSize.height
        isComplete = reply.isComplete
        isCoarse = reply.isCoarse
        frameCount = reply.frameCount
        duration = reply.duration
    }

    /// About how much memory it takes.
    var byteCount: Int { cells.byteCount + (pixels?.byteCount ?? 0) }
}

extension DecoderClient {
    /// Draws a picture from wherever it is, as large as fits into a room.
    public func draw(_ source: PictureSource, room: Size, style: DrawingStyle) throws(PictureError) -> DrawnPicture {
        let drawing = PictureDrawing(style.request(room), style)
        return try drawing.draw(try decode(source, drawing.request)) { file, request throws(PictureError) in
            try decode(.bytes(file), request)
        }
    }
}
