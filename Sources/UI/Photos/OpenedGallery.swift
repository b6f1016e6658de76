import Cache
import Concurrency
import Model
import Session
import Settings
import Text

/// The record, the failures and the updates of the gallery on the photos screen.
@MainActor
final class OpenedGallery {
    /// The gallery's record in the cache.
    private(set) var record: GalleryRecord
    /// The gallery's record at the time of opening. Photos that were new at that time keep their badge while the
    /// gallery is open.
    let opened: GalleryRecord
    /// The number of failures in the gallery, for the status line.
    private(set) var errorCount = 0
    private let cache: GalleryCache
    private let reader: CacheReader
    private let context: ScreenContext

    init(_ cache: GalleryCache, _ reader: CacheReader, _ context: ScreenContext) throws {
        (self.cache, self.reader, self.context) = (cache, reader, context)
        record = try reader.gallery()
        opened = record
        if context.galleryNames[cache.address] == nil || record.kind == .folder { readName() }
    }

    /// The state of the gallery's update.
    var status: SyncStatus { context.activity.status(of: cache.id, recorded: record.status) }

    /// Reads the gallery's record again.
    func readRecord() {
        if let record = try? reader.gallery() { self.record = record }
        // Other galleries get their names from the albums screen.
        if let kind = record.kind, [.list, .feed, .folder].contains(kind) { readName() }
    }

    /// Reads the gallery's name, if the gallery's list contains a name.
    private func readName() {
        // The name of a local folder is that of a list file that the user has removed.
        guard record.kind != .folder else { return context.galleryNames[cache.address] = nil }
        if let name = try? reader.galleryName() { context.galleryNames[cache.address] = name.madeVisible }
    }

    /// Counts the failures in the cache. If this run has more failures, as with a read-only cache, uses the number of
    /// this run's failures.
    func countErrors() {
        let kept = ((try? reader.troubleCount()) ?? 0) + (record.failure == nil ? 0 : 1)
        errorCount = max(kept, context.activity.failures.count { $0.subject.gallery == cache.id })
    }

    // MARK: - Changes of the cache

    /// Records in the cache that the user has opened the gallery.
    func noteOpened() {
        let now = context.now()
        let name = context.galleryNames[cache.address]
        write { writer in
            try await writer.recordOpened(at: now, album: name)
            try await writer.findMissingTowns()
        }
    }

    /// Records in the cache that the user leaves the gallery or quits.
    func noteLeft() -> Task<Void, Never> { write { try await $0.recordLeft() } }

    @discardableResult
    private func write(_ body: @escaping @Sendable (GalleryWriter) async throws -> Void) -> Task<Void, Never> {
        Task { [writer = cache.writer, log = context.log] in
            do { try await body(writer) } catch { log.error(.cache, "\(error)") }
        }
    }

    // MARK: - Updates

    /// Whether the settings forbid to update the gallery.
    var isOffline: Bool { context.isOffline(cache.address) }

    /// Updates the gallery, and retries all failed requests. Returns a notice for the user if that is not possible.
    func refresh() -> String? {
        guard !isOffline else { return "Offline: type “:set offline no” to refresh." }
        context.retry(cache.id)
        write { try await $0.retry() }
        askForUpdate()
        return nil
    }

    /// Requests everything that the settings demand for a gallery that the user opens.
    func askOnOpening() {
        if context.settings.syncOnOpen { askForUpdate() } else { askForEveryPicture() }
    }

    /// Requests an update of the gallery. With some settings, also requests all thumbnails or photos.
    func askForUpdate() {
        guard !isOffline else { return }
        context.wishes.ask(for: .list(cache.id))
        askForEveryPicture()
    }

    /// Requests an automatic update, unless an update runs already.
    ///
    /// An update may wait because its server asked for that. Only the user ends such a wait.
    func askForAutomaticUpdate() {
        if !context.activity.isUpdating(cache.id) { askForUpdate() }
    }

    private func askForEveryPicture() {
        guard !isOffline else { return }
        // Equally important requests run in order, so the photos come after the thumbnails.
        for (rendition, isWanted) in Self.bulk(context.settings) where isWanted {
            context.wishes.ask(for: .everyPicture(cache.id, rendition), importance: .rest)
        }
    }

    /// Returns each kind of picture, and whether the settings demand all pictures of that kind.
    private static func bulk(_ settings: Settings) -> [(Rendition, Bool)] {
        [(.thumbnail, settings.allThumbnails), (.original, settings.allPhotos)]
    }

    /// Adapts the requests to changed settings.
    func settingsChanged(since before: Settings) {
        let settings = context.settings
        guard !isOffline else { return }
        if before.offline, !cache.address.isLocal { askOnOpening() }
        for ((rendition, isWanted), (_, wasWanted)) in zip(Self.bulk(settings), Self.bulk(before)) {
            let subject = Wish.Subject.everyPicture(cache.id, rendition)
            if isWanted, !wasWanted { context.wishes.ask(for: subject, importance: .rest) }
            if wasWanted, !isWanted { context.wishes.stop(subject) }
        }
    }

    /// Updates the gallery when the terminal's window gets the focus, if the settings say so.
    func windowCameToFront() {
        if context.settings.syncOnFocus { askForAutomaticUpdate() }
    }
}
