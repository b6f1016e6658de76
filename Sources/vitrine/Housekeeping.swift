import Cache
import Logging
import Pictures

/// What is done for each gallery that is opened, out of everybody's way: files that earlier runs left behind are swept, and
/// photos are asked what they say of themselves.
struct Housekeeping {
    let house: House
    let caches: CacheFolder

    /// Goes on until the task is cancelled.
    func run() async {
        let developer = PictureDeveloper(caches: caches, decoder: house.decoder, log: house.log)
        await withDiscardingTaskGroup { group in
            for await opened in caches.openings() {
                for cache in opened.galleries.compactMap(caches.cache) {
                    sweep(cache)
                    group.addTask { await developer.readPhotos(in: cache) }
                }
            }
        }
    }

    private func sweep(_ cache: GalleryCache) {
        do {
            let removed = try cache.sweep()
            if removed > 0 { house.log.info(.cache, "\(removed) files of nothing removed") }
        } catch {
            house.log.error(.cache, "\(error)")
        }
    }
}
