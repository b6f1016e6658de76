import Cells
import Model
import Pixels

/// What is to be drawn, and how: a thumbnail to fill some cells, or a part of a photo to fit into some.
///
/// Two orders that are equal give the same cells, so an order is also the name that its picture is kept under.
public struct PictureOrder: Hashable, Sendable {
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
    let fills: Bool
    let enlarges: Bool

    init(
        _ subject: Wish.Subject, edition: Int, photoEdition: Int? = nil, room: Size, style: DrawingStyle,
        region: UnitRect = .whole, fills: Bool, enlarges: Bool
    ) {
        self.subject = subject
        self.edition = edition
        self.photoEdition = photoEdition
        self.room = room
        self.style = style
        self.region = region
        self.fills = fills
        self.enlarges = enlarges
    }

    /// Orders a thumbnail that fills its room: in the middle, what hangs over cut off, never squashed.
    public static func thumbnail(
        of photo: Photo, in gallery: GalleryID, room: Size, style: DrawingStyle
    ) -> PictureOrder {
        thumbnail(of: photo, in: gallery, room: room, style: style, fills: true)
    }

    /// Orders a photo's thumbnail as large as the room lets it be: to be looked at until the photo itself is here.
    public static func preview(
        of photo: Photo, in gallery: GalleryID, room: Size, style: DrawingStyle
    ) -> PictureOrder {
        thumbnail(of: photo, in: gallery, room: room, style: style, fills: false)
    }

    private static func thumbnail(
        of photo: Photo, in gallery: GalleryID, room: Size, style: DrawingStyle, fills: Bool
    ) -> PictureOrder {
        PictureOrder(
            .picture(gallery, photo.key, .thumbnail), edition: photo.thumbnail.held ?? 0,
            photoEdition: photo.thumbnail.isCurrent ? nil : photo.photo.held, room: room, style: style, fills: fills,
            enlarges: true)
    }

    var request: DecodeRequest {
        var request = style.request(room)
        request.region = region
        request.fitting = fills ? .cover : .inside
        request.enlarges = enlarges
        return request
    }
}
