import Cells
import Model
import Pixels

/// An order to draw a thumbnail, a photo or a part of a photo.
///
/// Equal orders give the same cells, so the pipeline uses an order as the key of the picture in its cache.
public struct PictureOrder: Hashable, Sendable {
    /// The kind of result.
    enum Product: Hashable {
        /// The picture as cells.
        case drawing
        /// The picture as cells, from a photo in transfer. At least this many bytes have arrived.
        case beginning(Int64)
        /// All metadata and the histogram of the photo.
        case examination
    }

    /// The thumbnail or photo to draw.
    public let subject: Wish.Subject
    /// The edition, or version, of the picture in the cache. Each edition is a different picture.
    public let edition: Int
    /// The edition of the cached photo; nil if the thumbnail is current. Vitrine may make a missing thumbnail from the
    /// photo. So the order changes when the photo arrives, and Vitrine draws again.
    let photoEdition: Int?
    /// The largest size of the picture, in cells.
    public let size: Size
    /// The style in which to draw.
    public let style: DrawingStyle
    let region: UnitRect
    /// The number of clockwise quarter turns.
    let turns: Int
    let fills: Bool
    let enlarges: Bool
    let product: Product
    /// The index of the frame in an animation.
    private(set) var frame = 0

    init(
        _ subject: Wish.Subject, edition: Int, photoEdition: Int? = nil, size: Size, style: DrawingStyle,
        region: UnitRect = .whole, turns: Int = 0, fills: Bool, enlarges: Bool, product: Product = .drawing
    ) {
        self.subject = subject
        self.edition = edition
        self.photoEdition = photoEdition
        self.size = size
        self.style = style
        self.region = region
        self.turns = turns
        self.fills = fills
        self.enlarges = enlarges
        self.product = product
    }

    /// Orders a thumbnail that fills the given cells. The thumbnail is centred and cropped, never distorted.
    public static func thumbnail(
        of photo: Photo, in gallery: GalleryID, size: Size, style: DrawingStyle
    ) -> PictureOrder {
        thumbnail(of: photo, in: gallery, size: size, style: style, fills: true)
    }

    /// Orders the picture that a row shows before the thumbnail arrives.
    public static func uncachedThumbnail(
        of photo: Photo, in gallery: GalleryID, size: Size, style: DrawingStyle
    ) -> PictureOrder {
        PictureOrder(
            .picture(gallery, photo.key, .thumbnail), edition: 0, photoEdition: photo.original.held, size: size,
            style: style, fills: true, enlarges: true)
    }

    /// Orders a photo's thumbnail as a substitute until the photo arrives.
    public static func preview(
        of photo: Photo, in gallery: GalleryID, size: Size, style: DrawingStyle, turns: Int = 0, fills: Bool = false
    ) -> PictureOrder {
        thumbnail(of: photo, in: gallery, size: size, style: style, turns: turns & 3, fills: fills)
    }

    /// Orders a cached photo's metadata and histogram; see ``PicturePipeline/examination(_:)``.
    public static func examination(of photo: Photo, in gallery: GalleryID) -> PictureOrder {
        PictureOrder(
            .picture(gallery, photo.key, .original), edition: photo.original.held ?? 0, size: Size(columns: 0, rows: 0),
            style: DrawingStyle(symbols: .ascii, colours: .none, cellAspect: 1), fills: false, enlarges: false,
            product: .examination)
    }

    /// Returns the same order for a photo in transfer, drawn from its partial file.
    ///
    /// - Parameters:
    ///   - arrived: the number of bytes that have arrived.
    ///   - edition: the edition that the transfer fetches.
    public func beginning(_ arrived: Int64, edition: Int) -> PictureOrder {
        PictureOrder(
            subject, edition: edition, size: size, style: style, region: region, turns: turns, fills: fills,
            enlarges: enlarges, product: .beginning(arrived))
    }

    /// Returns the same order for another frame of an animation. A frame beyond the end means the last frame.
    public func showing(frame: Int) -> PictureOrder {
        var order = self
        order.frame = frame
        return order
    }

    private static func thumbnail(
        of photo: Photo, in gallery: GalleryID, size: Size, style: DrawingStyle, turns: Int = 0, fills: Bool
    ) -> PictureOrder {
        PictureOrder(
            .picture(gallery, photo.key, .thumbnail), edition: photo.thumbnail.held ?? 0,
            photoEdition: photo.thumbnail.isCurrent ? nil : photo.original.held, size: size, style: style, turns: turns,
            fills: fills, enlarges: true)
    }

    var request: DecodeRequest {
        guard product != .examination else { return DecodeRequest(box: PhotoExamination.box) }
        var request = style.request(size)
        request.region = region
        request.turns = turns
        request.fitting = fills ? .cover : .inside
        request.enlarges = enlarges
        request.frame = frame
        return request
    }
}

/// A picture as cells, and as pixels over the cells if the terminal supports pixels.
public struct DrawnPicture: Hashable, Sendable {
    /// The picture as cells with characters.
    public private(set) var cells: CellBlock
    /// The same picture in pixels, covering exactly those cells; nil without support for pixels.
    public let pixels: PixelPicture?
    /// The width of the whole picture, in its own pixels.
    public let width: Int
    /// The height of the whole picture, in its own pixels.
    public let height: Int
    /// Whether the picture is complete. False if the file ended early, so that a part of the picture is blank.
    public let isComplete: Bool
    /// Whether this is a quick preview that a full drawing will replace.
    public let isCoarse: Bool
    /// The number of frames. For the first frame, 2 may mean any number above 1.
    public let frameCount: Int
    /// The time to show this frame, in milliseconds.
    public let duration: Int

    /// Creates a picture from the decoder's reply and the cells and pixels drawn from it.
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

    /// Creates a preview from cells alone. The width and height are the numbers of columns and rows.
    public init(cells: CellBlock) {
        self.cells = cells
        (pixels, width, height, frameCount, duration) = (nil, cells.size.columns, cells.size.rows, 1, 0)
        (isComplete, isCoarse) = (true, true)
    }

    /// Returns a video's frame with fewer changes of colour. Where the difference is too small to be seen, the colours
    /// of the previous frame stay.
    func steadied(after previous: DrawnPicture?) -> DrawnPicture {
        var steadied = self
        steadied.cells = cells.steadied(after: previous?.cells)
        return steadied
    }

    /// The approximate memory use in a cache, in bytes.
    var byteCount: Int { Self.entryByteCount + cells.byteCount + (pixels?.byteCount ?? 0) }
    /// The approximate size of a cache's entry, without cells and pixels.
    static let entryByteCount = 512
}

extension DecoderClient {
    /// Decodes a picture and draws it as large as fits.
    public func draw(_ source: PictureSource, size: Size, style: DrawingStyle) throws(PictureError) -> DrawnPicture {
        let drawing = PictureDrawing(style.request(size), style)
        return try drawing.draw(try decode(source, drawing.request)) { file, request throws(PictureError) in
            try decode(.bytes(file), request)
        }
    }
}
