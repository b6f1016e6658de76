import Cache
import Model
import Pictures
import Session

/// The photos screen's requests to fetch thumbnails and to draw pictures.
@MainActor
struct PhotoDemand {
    private let context: ScreenContext
    private let gallery: GalleryID
    private let wisher: Wishes.Wisher
    private let client: PicturePipeline.Client
    /// The scrolling direction, 1 or -1, and the first visible index when the direction last changed.
    private var travel = (direction: 1, from: 0)
    /// A photo that the user left before it had arrived. Vitrine fetches this photo after everything else.
    private var unfinished: PhotoKey?

    init(_ gallery: GalleryID, _ context: ScreenContext) {
        self.context = context
        self.gallery = gallery
        wisher = context.wishes.makeWisher()
        client = context.pipeline.makeClient()
    }

    /// Requests pictures after each frame. Visible thumbnails come first. The thumbnails of the next page in the
    /// scrolling direction follow, then those of the page behind.
    mutating func update(
        visible photos: [PhotoKey], _ orders: [PictureOrder], _ scroll: ListScroll, _ entries: PhotoEntries
    ) {
        context.pipeline.want(orders, by: client)
        var wishes = photos.map { Wish(.picture(gallery, $0, .thumbnail), importance: .visible) }
        // The list may have become shorter since the layout; its update is under way.
        let window = scroll.window.clamped(to: 0..<entries.count)
        let after = window.upperBound..<min(entries.count, window.upperBound + scroll.visible)
        let before = max(0, window.lowerBound - scroll.visible)..<window.lowerBound
        if scroll.first != travel.from { travel = (scroll.first < travel.from ? -1 : 1, scroll.first) }
        let near = travel.direction > 0 ? Array(after) + before.reversed() : before.reversed() + Array(after)
        for index in near {
            guard let key = entries.picture(at: index) else { continue }
            wishes.append(Wish(.picture(gallery, key, .thumbnail), importance: .near))
        }
        if let unfinished { wishes.append(Wish(.picture(gallery, unfinished, .original), importance: .rest)) }
        context.wishes.state(wishes, by: wisher)
    }

    /// Continues to fetch a photo that the user leaves. Otherwise the received bytes would be wasted.
    mutating func finish(_ key: PhotoKey) {
        unfinished = key
        context.wishes.state([Wish(.picture(gallery, key, .original), importance: .rest)], by: wisher)
    }

    /// Stops fetching the unfinished photo if it has arrived or is gone.
    ///
    /// Otherwise Vitrine would fetch a deleted photo again.
    mutating func dropUnfinished(_ results: FetchedResults, _ reader: CacheReader) {
        guard let key = unfinished else { return }
        if results.index(of: key) == nil || (try? reader.photo(key))?.original.isCurrent != false { unfinished = nil }
    }

    /// Stops fetching the unfinished photo if it is one of the photos that the user deletes. Withdraws the other
    /// requests, too, until the next frame.
    mutating func forget(_ keys: [PhotoKey]) {
        if let unfinished, keys.contains(unfinished) { withdraw() }
    }

    /// Stops drawing pictures, because another screen is on top.
    func stopDrawing() { context.pipeline.want([], by: client) }

    /// Withdraws all requests of the photos screen.
    mutating func withdraw() {
        unfinished = nil
        context.wishes.withdraw(wisher)
    }

    /// Withdraws all requests, and stops the gallery's update and bulk fetches.
    func close() {
        context.activity.leave(gallery)
        context.wishes.withdraw(
            wisher, stopping: [.list(gallery)] + Rendition.allCases.map { .everyPicture(gallery, $0) })
        stopDrawing()
    }
}
