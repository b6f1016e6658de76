import Concurrency
import Files
import Glibc
import Logging
import Model
import SQLite
import Session

/// Keeps the caches within their size limit and removes unused caches, as ``CacheBudget`` decides.
///
///     await CacheCleaning(caches, limit: 2 << 30, remembered: galleries, now: now, log: log).run()
///
/// The actor works in small steps on a queue of its own. It does not touch caches that another process has open.
/// Galleries that screens show or updates fill come last and keep the pictures that screens need. If a file cannot be
/// removed, the actor logs the error and skips the file.
public actor CacheCleaning {
    private let caches: CacheFolder
    private let limit: Int64?
    private let now: Timestamp
    private let wished: @Sendable (GalleryID) -> Set<PhotoKey>
    private let needed: @Sendable (GalleryID) -> Set<Rendition>
    private let remembered: Set<String>?
    private let log: Log
    private let executor = QueueExecutor(label: "vitrine.cache.cleaning", qos: .utility)
    private var inventories: [CacheInventory] = []

    /// A serial queue of this actor's own, because disk access blocks.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - limit: the limit for all caches in bytes; nil for no limit.
    ///   - remembered: the galleries in the user's list. If nil, the list is unknown, and no cache is removed because
    ///     of its age.
    ///   - wished: returns the photos of a gallery that must stay in the cache, because screens want them.
    ///   - needed: returns the renditions of an open gallery that screens of this process show or its updates fetch. A
    ///     gallery that no process needs counts as closed.
    ///   - now: the current time.
    public init(
        _ caches: CacheFolder, limit: Int64?, remembered: [Address]?,
        wished: @escaping @Sendable (GalleryID) -> Set<PhotoKey> = { _ in [] },
        needed: @escaping @Sendable (GalleryID) -> Set<Rendition> = { _ in Set(Rendition.allCases) },
        now: Timestamp, log: Log
    ) {
        self.caches = caches
        (self.limit, self.now, self.wished, self.needed) = (limit, now, wished, needed)
        self.remembered = remembered.map { Set($0.map { "\(GalleryID($0))" }) }
        self.log = log
    }

    /// Removes data until the caches are within their limit or nothing removable is left.
    ///
    /// - Parameter isForBulk: whether to remove data from closed caches before the limit is reached, to make space for
    ///   pictures that no screen shows.
    public func run(forBulkFetches isForBulk: Bool = false) async {
        let written = caches.space.written
        countCaches()
        if isForBulk, let limit, size >= CacheBudget.part(90, of: limit) {
            await clean(CacheBudget(limit: CacheBudget.part(85, of: limit), now: now, includesLists: false))
        }
        let isUsedUp = await clean()
        guard !Task.isCancelled else { return }
        caches.space.recordCount(size, before: written, isCleaned: isForBulk || isUsedUp)
    }

    func countCaches() {
        inventories = []
        for gallery in caches.folderNames where !Task.isCancelled {
            inventories.append(inventory(gallery))
        }
    }

    /// Cleans the caches, based on the last measurement. The cleaning may take minutes, and other processes may use the
    /// caches meanwhile.
    ///
    /// Returns true if removing the pictures of closed galleries did not suffice. Then open galleries may lose
    /// pictures, too.
    @discardableResult
    func clean() async -> Bool {
        await clean(CacheBudget(limit: limit, now: now, includesLists: false))
        guard let limit, size > limit else { return false }
        // The goal is below the limit, so that the next picture does not require another cleaning.
        await clean(
            CacheBudget(limit: CacheBudget.part(97, of: limit), now: now, includesOpen: true, includesLists: false))
        // This removes lists of closed galleries only if these lists, and the lists of open galleries, exceed the
        // limit.
        await clean(CacheBudget(limit: limit, now: now, includesOpen: true))
        return true
    }

    private func clean(_ budget: CacheBudget) async {
        let before = size
        while !Task.isCancelled, let step = budget.next(inventories) {
            do {
                try await perform(step, budget)
            } catch CacheError.locked {
                // The cache is open, or was opened since the measurement, so cleaning skips it from now on.
                change(step.gallery) { ($0.isInUse, $0.isOpenHere) = (true, false) }
            } catch {
                log.error(.cache, "\(error)")
                change(step.gallery) { ($0.isInUse, $0.isOpenHere) = (true, false) }
            }
        }
        guard size < before else { return }
        log.info(.cache, "cleaning reduced the caches from \(before) to \(size) bytes")
    }

    /// The size above which a photo's file counts as large, in bytes.
    private var largest: Int64 { limit.map { CacheBudget.largest(within: $0) } ?? .max }

    private var size: Int64 { inventories.reduce(0) { $0 + $1.size } }

    private func inventory(_ name: String) -> CacheInventory {
        var inventory = CacheInventory(gallery(name), largest: largest)
        inventory.isRemembered = remembered?.contains(name) ?? true
        if let open = caches.openCache(folderNamed: name) {
            (inventory.isInUse, inventory.isOpenHere, inventory.needed) = (true, true, neededRenditions(of: open))
            // Measure only the used part: the log beside an open database grows and disappears, and SQLite fills free
            // space before the file grows.
            if let used = try? open.read({ try $0.usedBytes() }) { inventory.database = used }
        }
        return inventory
    }

    /// Returns the renditions of an open gallery that this or another process needs.
    private func neededRenditions(of cache: GalleryCache) -> Set<Rendition> {
        needed(cache.id).union(cache.neededElsewhere)
    }

    private func gallery(_ name: String) -> ClosedGalleryCache {
        ClosedGalleryCache(folder: caches.folder(named: name))
    }

    private func change(_ name: String, _ body: (inout CacheInventory) -> Void) {
        guard let index = inventories.firstIndex(where: { $0.name == name }) else { return }
        body(&inventories[index])
    }

    // MARK: - Steps

    private func perform(_ step: CacheBudget.Step, _ budget: CacheBudget) async throws {
        if let open = caches.openCache(folderNamed: step.gallery), try await perform(step, budget, in: open) { return }
        let gallery = gallery(step.gallery)
        if case .setAside(let file, _) = step { return removeSetAside(file, of: gallery) }
        guard isCandidate(gallery, for: step) else { throw CacheError.locked(path: gallery.folder) }
        switch step {
        case .setAside: break
        case .large(_, let bytes):
            try dropPhotos(of: gallery, bytes: bytes, largerThan: largest)
            let rest = gallery.sizes(largest: largest)
            change(gallery.name) { inventory in
                inventory.isLargeStuck = rest.large >= inventory.large
                (inventory.photos, inventory.large) = (min(inventory.photos, rest.photos), rest.large)
            }
        case .photos(_, let bytes):
            try dropPhotos(of: gallery, bytes: bytes)
            let rest = gallery.sizes(largest: largest).photos
            change(gallery.name) { inventory in
                // Photos that remain after this step cannot be removed.
                if rest >= inventory.photos { (inventory.stuck, inventory.photos) = (inventory.stuck + rest, 0) }
                inventory.photos = min(inventory.photos, rest)
            }
        case .thumbnails:
            try dropThumbnails(of: gallery)
            change(gallery.name) { ($0.canShrink, $0.database) = (false, gallery.databaseSize) }
        case .everything:
            // Remove the photos in steps, because there may be many. Removing the rest takes a moment, and reports the
            // reason of a failure.
            try? dropPhotos(of: gallery, bytes: .max)
            guard !Task.isCancelled else { return }
            try gallery.removeIfUnused()
            log.info(.cache, "removed the cache of \(gallery.record?.address.description ?? gallery.folder)")
            inventories.removeAll { $0.name == gallery.name }
        }
    }

    /// Performs a step that removes pictures of an open gallery. Returns false, and does nothing, for other steps.
    private func perform(_ step: CacheBudget.Step, _ budget: CacheBudget, in cache: GalleryCache) async throws -> Bool {
        // The user may have opened the gallery since the measurement.
        let needed = neededRenditions(of: cache)
        change(step.gallery) { ($0.isInUse, $0.isOpenHere, $0.needed) = (true, true, needed) }
        if let rendition = step.rendition, needed.contains(rendition), !budget.includesOpen { return true }
        switch step {
        case .setAside, .everything: return false
        case .large(let name, let bytes):
            let freed = try await cache.writer.freeSpace(
                fromPhotos: bytes, largerThan: largest, except: wished(cache.id))
            change(name) { inventory in
                inventory.large = max(0, inventory.large - freed)
                // Screens need the remaining files, or the files are still arriving.
                inventory.isLargeStuck = freed < bytes
            }
        case .photos(let name, let bytes):
            let freed = try await cache.writer.freeSpace(fromPhotos: bytes, except: wished(cache.id))
            change(name) { inventory in
                // Screens need the remaining photos.
                let rest = max(0, inventory.photos - freed)
                inventory.stuck += freed < bytes ? rest : 0
                inventory.photos = freed < bytes ? 0 : rest
            }
        case .thumbnails(let name):
            let freed = try await cache.writer.freeSpace(
                fromThumbnails: budget.excess(inventories), except: wished(cache.id))
            change(name) { inventory in
                inventory.canShrink = false
                inventory.database = max(0, inventory.database - freed)
            }
        }
        return true
    }

    /// Whether a step is still permitted after the measurement of the cache.
    ///
    /// The step is not permitted if the user has opened the gallery or marked it to be kept since then. After an
    /// update, the removal of the whole cache is not permitted either.
    private func isCandidate(_ gallery: ClosedGalleryCache, for step: CacheBudget.Step) -> Bool {
        guard gallery.trouble == nil, let counted = inventories.first(where: { $0.name == gallery.name }) else {
            return false
        }
        guard let record = gallery.record else { return true }
        if case .everything = step, let success = record.lastSuccess, success > counted.lastUsed { return false }
        return !record.isKept && record.lastOpened.map { $0 <= counted.lastOpened } ?? true
    }

    private func removeSetAside(_ file: CacheInventory.SetAside, of gallery: ClosedGalleryCache) {
        let path = "\(gallery.folder)/\(file.name)"
        let isGone = unlink(path) == 0 || errno == ENOENT
        if !isGone {
            log.error(.cache, "\(CacheError.notRemoved(path: path, SystemError()))")
        }
        change(gallery.name) { inventory in
            inventory.setAside.removeAll { $0 == file }
            if !isGone { inventory.stuck += file.size }
        }
    }

    private func dropPhotos(of gallery: ClosedGalleryCache, bytes: Int64, largerThan size: Int64 = -1) throws {
        let onFailure = { [log] (error: CacheError) in log.error(.cache, "\(error)") }
        try gallery.dropPartialFiles(onFailure: onFailure)
        let photos = gallery.photosByAge().filter { $0.size > size }.map { (item: $0.name, size: $0.size) }
        try RemovalSteps.free(bytes, from: photos, atOnce: RemovalSteps.photosAtOnce) { names in
            try gallery.dropPhotos(names, onFailure: onFailure)
            leaveLockFree()
        }
    }

    /// Waits without the lock for a moment. Another process that waits for the lock then gets it.
    private func leaveLockFree() {
        _ = poll(nil, 0, CacheLock.interval * 2)
    }

    private func dropThumbnails(of gallery: ClosedGalleryCache) throws {
        while !Task.isCancelled, try gallery.dropThumbnails(RemovalSteps.thumbnailsAtOnce) > 0 { leaveLockFree() }
        if !Task.isCancelled { try gallery.shrink() }
    }
}

/// Removes pictures in small steps. Another process that waits for the cache gets it after a step.
enum RemovalSteps {
    /// The number of photos to remove per step.
    static let photosAtOnce = 64
    /// The number of thumbnails to remove per step.
    static let thumbnailsAtOnce = 128

    /// Removes items in order until this many bytes are free. Returns the number of freed bytes.
    ///
    /// A step removes no more items than necessary. The result is smaller if no items remain, or if the task was
    /// cancelled.
    @discardableResult
    static func free<Item>(
        _ bytes: Int64, from items: [(item: Item, size: Int64)], atOnce: Int, remove: ([Item]) throws -> Void
    ) rethrows -> Int64 {
        var rest = items[...]
        var freed: Int64 = 0
        while freed < bytes, !rest.isEmpty, !Task.isCancelled {
            var step: [Item] = []
            while freed < bytes, step.count < atOnce, let next = rest.popFirst() {
                step.append(next.item)
                freed += next.size
            }
            try remove(step)
        }
        return freed
    }
}

extension Wishes {
    /// The renditions of each gallery that screens or requests need.
    ///
    /// A screen that shows a gallery may need any picture soon, so a wish for one picture counts for both renditions.
    var neededRenditions: [GalleryID: Set<Rendition>] {
        wanted.reduce(into: [:]) { needed, subject in
            switch subject {
            case .picture(let gallery, _, _): needed[gallery] = Set(Rendition.allCases)
            case .everyPicture(let gallery, let rendition): needed[gallery, default: []].insert(rendition)
            default: break
            }
        }
    }

    /// Returns the renditions of a gallery that screens or requests need.
    public func renditions(of gallery: GalleryID) -> Set<Rendition> { neededRenditions[gallery] ?? [] }
}

extension CacheFolder {
    /// Shows other processes which pictures this process needs, until the task is cancelled.
    ///
    /// When another process cleans the caches, these pictures come last there, too.
    public func showNeeds(of wishes: Wishes) async {
        let clock = BootClock()
        for await _ in wishes.snapshots() {
            let needed = wishes.neededRenditions
            for cache in openCaches { cache.setNeeded(needed[cache.id] ?? []) }
            // Wishes change whenever the user scrolls, but the needed galleries seldom change.
            try? await clock.sleep(until: clock.now + .seconds(1))
        }
    }
}

extension CacheBudget.Step {
    /// The name of the cache's folder, which is derived from the gallery's address.
    var gallery: String {
        switch self {
        case .setAside(_, let name), .large(let name, _), .photos(let name, _), .thumbnails(let name),
            .everything(let name):
            name
        }
    }

    /// The kind of pictures that the step removes. Nil if the step does not remove the pictures in their order.
    fileprivate var rendition: Rendition? {
        switch self {
        case .photos: .original
        case .thumbnails: .thumbnail
        case .setAside, .large, .everything: nil
        }
    }
}

/// The disk space that a gallery's cache uses.
struct CacheInventory: Hashable {
    /// A database that was set aside.
    struct SetAside: Hashable {
        let name: String
        let size: Int64
        let time: Timestamp
    }

    /// The name of the cache's folder.
    let name: String
    /// The time when the user last opened the gallery; if never, the time of its last update.
    var lastOpened: Timestamp
    /// The time of the last opening or update.
    var lastUsed: Timestamp
    /// Whether any process has the cache open, or the cache is inaccessible.
    var isInUse = false
    /// Whether this process has the cache open and can remove pictures from it.
    var isOpenHere = false
    /// The renditions of a cache open here that screens or updates of any process need.
    var needed = Set(Rendition.allCases)
    /// Whether the user marked the gallery to be kept.
    var isKept = false
    /// Whether the gallery is in the user's list.
    var isRemembered = true
    /// Whether the user has removed the cache while it was open.
    var isEmptied = false
    /// Whether the cache's database is readable. True also without a database.
    var isReadable = true
    /// The total size of the photos in bytes, without large photos.
    var photos: Int64 = 0
    /// The total size of the large files in bytes; see ``CacheBudget/largest(within:)``.
    var large: Int64 = 0
    /// Whether the large files cannot be removed for now.
    var isLargeStuck = false
    /// The size of the database in bytes.
    var database: Int64 = 0
    /// Whether the database would shrink if thumbnails were removed or free space was compacted.
    var canShrink = false
    /// The total size of files that could not be removed, in bytes.
    var stuck: Int64 = 0
    var setAside: [SetAside] = []

    /// Whether any process needs pictures of the cache open here.
    var isNeeded: Bool { isOpenHere && !needed.isEmpty }

    /// Whether the cache loses pictures of a rendition before needed ones.
    func givesUp(_ rendition: Rendition) -> Bool {
        !isInUse || (isOpenHere && !needed.contains(rendition))
    }

    var size: Int64 { photos + large + database + stuck + ClosedGalleryCache.sum(setAside.map(\.size)) }
}

extension CacheInventory {
    /// Measures a cache on the disk.
    ///
    /// - Parameter largest: the size above which a photo's file counts as large.
    init(_ gallery: ClosedGalleryCache, largest: Int64) {
        name = gallery.name
        // Only commits change this time.
        let touched = gallery.touched
        let success = gallery.record?.lastSuccess
        lastOpened = gallery.record?.lastOpened ?? success ?? touched
        lastUsed = max(lastOpened, success ?? lastOpened)
        isKept = gallery.record?.isKept ?? false
        isEmptied = gallery.record?.isEmptied ?? false
        switch gallery.trouble {
        case nil: break
        case .database(.damaged): isReadable = false
        // The cache is from a newer Vitrine or locked by another process, or the folder is no cache.
        case .some: isInUse = true
        }
        (photos, large) = gallery.sizes(largest: largest)
        database = gallery.databaseSize
        canShrink = isReadable && gallery.canShrink
        setAside = gallery.setAside
    }
}

extension ClosedGalleryCache {
    /// Returns the total sizes of ordinary and of large photos.
    fileprivate func sizes(largest: Int64) -> (photos: Int64, large: Int64) {
        let sizes = photoSizes
        return (Self.sum(sizes.filter { $0 <= largest }), Self.sum(sizes.filter { $0 > largest }))
    }
}
