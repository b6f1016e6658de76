import Cache
import Concurrency
import Model
import Numbers
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
            of: photo, in: gallery, room: view.room, style: view.style, turns: view.turns, fills: view.zoom == .fill)
    }

    /// What the cache knows of the edition that is held; or what was just found out; or what was known of an older one.
    func metadata(of photo: Photo, _ kept: StoredMetadata?, _ examination: PhotoExamination?) -> PhotoMetadata? {
        if let kept, kept.edition == photo.original.held { return kept.metadata }
        return examination?.metadata ?? kept?.metadata
    }
}

/// How much of a photo that is on its way is worth being drawn: a tenth more of it than the last time, and not more often
/// than twice a second.
@MainActor
final class ProgressivePreview {
    /// Called when there is enough more of it.
    var onMore: () -> Void = {}

    /// How much had come when it was to be drawn for the last time; nil if it was not yet.
    private(set) var arrived: ByteCount?
    /// How much of it has been drawn.
    var drawn: ByteCount?
    private var latest: Progress?
    private let pause: Alarm

    private static let interval = Duration.milliseconds(500)

    init(_ context: ScreenContext) {
        pause = Alarm(wait: context.wait)
    }

    /// Another photo is looked at.
    func beginAnew() {
        pause.cancel()
        (latest, arrived, drawn) = (nil, nil, nil)
    }

    /// Takes in how much has come; nil when nothing comes any more.
    func note(_ progress: Progress?) {
        latest = progress
        guard !pause.isSet else { return }
        takeLatest()
    }

    /// Without a whole there is no tenth of it.
    private func takeLatest() {
        guard let latest, let total = latest.total, latest.done - (arrived ?? 0) >= max(1, total / 10) else { return }
        arrived = latest.done
        pause.set(after: Self.interval) { [weak self] in self?.goOn() }
    }

    private func goOn() {
        let before = arrived
        takeLatest()
        if arrived != before { onMore() }
    }
}
