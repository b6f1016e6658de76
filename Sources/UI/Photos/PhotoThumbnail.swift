import Cells
import Model
import Pictures

extension ScreenContext {
    /// Requests a photo's thumbnail. Returns the thumbnail if it is already drawn, or else a blurred picture if the
    /// gallery has one.
    ///
    /// - Parameter orders: the pictures to draw for the screen. The thumbnail's order is added to them.
    func thumbnail(
        of photo: Photo, in gallery: GalleryID, _ size: Size, _ orders: inout [PictureOrder]
    ) -> DrawnPicture? {
        guard !size.isEmpty else { return nil }
        guard photo.thumbnail.held != nil || photo.original.held != nil else { return blurred(photo, size) }
        func order(_ style: DrawingStyle) -> PictureOrder {
            PictureOrder.thumbnail(of: photo, in: gallery, size: size, style: style)
        }
        let wanted = order(drawingStyle)
        orders.append(wanted)
        return pipeline.picture(wanted) ?? formerStyle.flatMap { pipeline.picture(order($0)) } ?? blurred(photo, size)
    }

    /// Returns a blurred picture of a photo. Returns nil if the gallery has none, or if fetching the thumbnail failed.
    private func blurred(_ photo: Photo, _ size: Size) -> DrawnPicture? {
        guard Placeholder.trouble(of: photo) == nil else { return nil }
        return photo.thumbhash.flatMap { BlurredPicture(thumbhash: $0) }
            .map { DrawnPicture(cells: $0.filling(size, drawingStyle)) }
    }
}
