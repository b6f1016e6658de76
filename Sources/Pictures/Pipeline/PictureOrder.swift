import Cells
import Model
import Pixels

/// What is to be drawn, and how: a thumbnail to fill some cells, or a part of a photo to fit into some.
///
/// Two orders that are equal give the same cells, so an order is also the name that its picture is kept under.
public struct PictureOrder: Hashable, Sendable {
    /// What is to be made of a picture.
    enum Product: Hashable {
        /// Cells.
        case drawing
        /// Cells, of as much as has come of a photo that is on its way: so many bytes at least.
        case beginning(Int64)
        /// What it says of itself, and how its tones are spread.
        case examination
    }

    /// Which picture.
    public let subject: Wish.Subject
    /// The edition that is held. With another one it is another picture.
    public let edition: Int
    /// The edition that is held of the photo, where the thumbnail is not what it should be: it may be made from the photo,
    /// and each photo that comes is a reason to look.
    let photoEdition: Int?
    /// The room there is.
    public let room: Size
    /// How it is drawn.
    public let style: DrawingStyle
    let region: UnitRect
    /// Quarters by which it is turned clockwise.
    let turns: Int
    let fills: Bool
    let enlarges: Bool
    let product: Product
    /// Which picture of an animation, from 0 on.
    private(set) var frame = 0

    init(
        _ subject: Wish.Subject, edition: Int, photoEdition: Int? = nil, room: Size, style: DrawingStyle,
        region: UnitRect = .whole, turns: Int = 0, fills: Bool, enlarges: Bool, product: Product = .drawing
    ) {
        self.subject = subject
        self.edition = edition
        self.photoEdition = photoEdition
        self.room = room
        self.style = style
        self.region = region
        self.turns = turns
        self.fills = fills
        self.enlarges = enlarges
        self.product = product
    }

    /// Orders a thumbnail that fills its room: in the middle, what hangs over cut off, never squashed.
    public static func thumbnail(
        of photo: Photo, in gallery: GalleryID, room: Size, style: DrawingStyle
    ) -> PictureOrder {
        thumbnail(of: photo, in: gallery, room: room, style: style, fills: true)
    }

    /// Orders a photo's thumbnail as large as the room lets it be: to be looked at until the photo itself is here.
    public static func preview(
        of photo: Photo, in gallery: GalleryID, room: Size, style: DrawingStyle, turns: Int = 0, fills: Bool = false
    ) -> PictureOrder {
        thumbnail(of: photo, in: gallery, room: room, style: style, turns: turns & 3, fills: fills)
    }

    /// Orders what a photo that is here says of itself, and how its tones are spread: see ``PicturePipeline/examination(_:)``.
    public static func examination(of photo: Photo, in gallery: GalleryID) -> PictureOrder {
        PictureOrder(
            .picture(gallery, photo.key, .original), edition: photo.original.held ?? 0, room: Size(columns: 0, rows: 0),
            style: DrawingStyle(symbols: .ascii, colours: .none, cellAspect: 1), fills: false, enlarges: false,
            product: .examination)
    }

    /// The same of the beginning of a photo that is on its way, of which so many bytes have come. It is drawn from the file
    /// that it comes into, for as long as it does.
    ///
    /// - Parameter edition: the one that is on its way.
    public func beginning(_ arrived: Int64, edition: Int) -> PictureOrder {
        PictureOrder(
            subject, edition: edition, room: room, style: style, region: region, turns: turns, fills: fills,
            enlarges: enlarges, product: .beginning(arrived))
    }

    /// The same of another picture of an animation; one that there is not is the last.
    public func showing(frame: Int) -> PictureOrder {
        var order = self
        order.frame = frame
        return order
    }

    private static func thumbnail(
        of photo: Photo, in gallery: GalleryID, room: Size, style: DrawingStyle, turns: Int = 0, fills: Bool
    ) -> PictureOrder {
        PictureOrder(
            .picture(gallery, photo.key, .thumbnail), edition: photo.thumbnail.held ?? 0,
            photoEdition: photo.thumbnail.isCurrent ? nil : photo.original.held, room: room, style: style, turns: turns,
            fills: fills, enlarges: true)
    }

    var request: DecodeRequest {
        guard product != .examination else { return DecodeRequest(box: PhotoExamination.box) }
        var request = style.request(room)
        request.region = region
        request.turns = turns
        request.fitting = fills ? .cover : .inside
        request.enlarges = enlarges
        request.frame = frame
        return request
    }
}

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
