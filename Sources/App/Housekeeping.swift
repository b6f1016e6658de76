import Cache
import Session
import Logging
import Model
import Pictures
import Settings

/// What is done out of everybody's way: for each gallery that is opened, files that earlier runs left behind are swept, and
/// photos are asked what they say of themselves; and once, all caches are kept within the room that they may take.
struct Housekeeping {
    let services: Services
    let caches: CacheFolder

    /// Goes on until the task is cancelled.
    ///
    /// - Parameters:
    ///   - developer: the one that the screens' pictures come from. What is done by one of them, the other need not do.
    ///   - isShown: ends when the first frame has been drawn. Until then nothing is cleaned.
    func run(_ developer: PictureRenderer, _ isShown: AsyncStream<Void>) async {
        await withDiscardingTaskGroup { group in
            group.addTask(priority: .background) {
                for await _ in isShown {}
                services.storage.sweep()
                await keepRoom()
            }
            for await opened in caches.openings() {
                for cache in opened.galleries.compactMap(caches.cache) {
                    sweep(cache)
                    group.addTask { await developer.readPhotos(in: cache) }
                }
            }
        }
    }

    /// Keeps all caches within the room that they may take, whenever enough has been written, until the task is cancelled.
    ///
    /// - Parameter isCounted: whether they have been counted and cleaned just now.
    func keepRoom(isCounted: Bool = false) async {
        let alarms = caches.space.alarms()
        if !isCounted { await clean() }
        for await _ in alarms { await clean(forBulkFetches: true) }
    }

    /// Keeps all caches within the room that they may take.
    ///
    /// - Parameter isForSweeps: whether those that are not open are to make room for pictures that nobody looks at.
    func clean(forBulkFetches isForSweeps: Bool = false) async {
        await CacheCleaning(
            caches, limit: services.settings.cacheLimit, remembered: remembered,
            wished: { [wishes = services.wishes] in wishes.photos(of: $0) },
            now: Timestamp(milliseconds: Log.systemTime()), log: services.log
        ).run(forBulkFetches: isForSweeps)
    }

    /// Galleries that the user may come back to; nil if they cannot be told.
    private var remembered: [Address]? {
        guard let list = try? services.rememberedGalleries() else { return nil }
        let last = PlacesFile(services.locations).read().lastGallery.flatMap {
            try? services.wholeAddress(of: $0, caches)
        }
        return list.addresses + [services.installation.testGallery, last].compactMap { $0 }
    }

    private func sweep(_ cache: GalleryCache) {
        do {
            let removed = try cache.sweep()
            if removed > 0 { services.log.info(.cache, "\(removed) files of nothing removed") }
        } catch {
            services.log.error(.cache, "\(error)")
        }
    }
}
