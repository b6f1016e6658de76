import Cache
import Model
import Pictures

/// A photo as one looks at it, on a screen of its own or beside a list: what is drawn of it, and what it says of itself.
struct PhotoLook {
    let gallery: GalleryID

    /// The photo, or what stands for it until it is here; nil as long as there is nothing of it.
    func order(of photo: Photo, in view: Viewport) -> PictureOrder? {
        if let held = photo.original.held { return view.order(.picture(gallery, photo.key, .original), edition: held) }
        return preview(of: photo, in: view)
    }

    /// A photo's thumbnail, as large as the photo will be.
    func preview(of photo: Photo, in view: Viewport) -> PictureOrder? {
        guard photo.thumbnail.held != nil else { return nil }
        return .preview(
            of: photo, in: gallery, size: view.size, style: view.style, turns: view.turns, fills: view.zoom == .fill)
    }

    /// What the cache knows of the edition that is held; or what was just found out; or what was known of an older one.
    func metadata(of photo: Photo, _ kept: StoredMetadata?, _ examination: PhotoExamination?) -> PhotoMetadata? {
        if let kept, kept.edition == photo.original.held { return kept.metadata }
        return examination?.metadata ?? kept?.metadata
    }
}
