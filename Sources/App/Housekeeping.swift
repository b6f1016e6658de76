import Cache
import Session
import Logging
import Model
import Pictures
import Settings

/// Background work: removes leftover files, reads metadata, and keeps the caches within their limit.
struct Housekeeping {
    let services: Services
    let caches: CacheFolder

    /// Does the background work until the task is cancelled.
    ///
    /// - Parameters:
    ///   - developer: the screens' renderer, shared so that no work is done twice.
    ///   - isShown: a stream that ends with the first frame. Cleaning starts then.
    func run(_ developer: PictureRenderer, _ isShown: AsyncStream<Void>) async {
        await withDiscardingTaskGroup { group in
            group.addTask(priority: .background) {
                for await _ in isShown {}
                services.storage.sweep()
                await keepWithinLimit()
            }
            for await opened in caches.openings() {
                for cache in opened.galleries.compactMap(caches.cache) {
                    sweep(cache)
                    group.addTask { await developer.readPhotos(in: cache) }
                }
            }
        }
    }

    /// Cleans the caches after each large amount of new data, until the task is cancelled. Shows other processes which
    /// pictures they must spare.
    ///
    /// - Parameter isCounted: whether the caches have just been cleaned.
    func keepWithinLimit(isCounted: Bool = false) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await caches.showNeeds(of: services.wishes) }
            let alarms = caches.space.alarms()
            if !isCounted { await clean() }
            for await _ in alarms { await clean(forBulkFetches: true) }
        }
    }

    /// Cleans the caches once.
    ///
    /// - Parameter isForBulkFetches: whether to make space for bulk fetches at the expense of galleries that are not
    ///   open.
    func clean(forBulkFetches isForBulkFetches: Bool = false) async {
        await CacheCleaning(
            caches, limit: caches.space.limit, remembered: remembered,
            wished: { [wishes = services.wishes] in wishes.photos(of: $0) },
            needed: { [wishes = services.wishes] in wishes.renditions(of: $0) },
            now: Timestamp(milliseconds: Log.systemTime()), log: services.log
        ).run(forBulkFetches: isForBulkFetches)
    }

    /// The galleries that the user may return to; nil if the list of galleries is unreadable.
    private var remembered: [Address]? {
        guard let list = try? services.rememberedGalleries() else { return nil }
        let last = PlacesFile(services.locations).read().lastGallery.flatMap {
            try? services.wholeAddress(of: $0, caches)
        }
        return list.addresses(withBuiltIn: services.installation.testGallery)
            + [last].compactMap { $0 }.filter { caches.record(of: $0)?.isEmptied != true }
    }

    private func sweep(_ cache: GalleryCache) {
        do {
            let removed = try cache.sweep()
            if removed > 0 { services.log.info(.cache, "\(removed) unused files removed") }
        } catch {
            services.log.error(.cache, "\(error)")
        }
    }
}
