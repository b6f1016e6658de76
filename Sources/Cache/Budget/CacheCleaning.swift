import Concurrency
import Glibc
import Logging
import Model
import SQLite

/// Keeps all caches together within the room that they may take, and does away with what nobody will miss: see
/// ``CacheBudget`` for what goes, and in which order.
///
///     await CacheCleaning(caches, limit: 2 << 30, remembered: galleries, now: now, log: log).run()
///
/// It works in small steps on a queue of its own. It leaves alone what another process has open. A gallery that is open in
/// this process gives what nobody wishes for, after all others. A file that cannot be removed is said in the log, and the
/// others go.
public actor CacheCleaning {
    private let caches: CacheFolder
    private let limit: Int64?
    private let now: Timestamp
    private let wished: @Sendable (GalleryID) -> Set<PhotoKey>
    private let remembered: Set<String>?
    private let log: Log
    private let executor = QueueExecutor(label: "vitrine.cache.cleaning", qos: .utility)
    private var inventories: [CacheInventory] = []

    /// Files and rows of a step. Somebody who opens a cache waits for a step's end.
    private static let filesAtOnce = 64
    private static let thumbnailsAtOnce = 128

    /// The queue that the disk may block.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - limit: bytes that all caches may take together; nil for as many as they like.
    ///   - remembered: the galleries that the user remembers; nil if that is not known, and then none is given up.
    ///   - wished: the photos of a gallery of which something is wished for: they keep what they have.
    ///   - now: the time.
    public init(
        _ caches: CacheFolder, limit: Int64?, remembered: [Address]?,
        wished: @escaping @Sendable (GalleryID) -> Set<PhotoKey> = { _ in [] }, now: Timestamp, log: Log
    ) {
        self.caches = caches
        (self.limit, self.now, self.wished) = (limit, now, wished)
        self.remembered = remembered.map { Set($0.map { "\(GalleryID($0))" }) }
        self.log = log
    }

    /// Cleans, until all is well, or nothing can be done, or the task is cancelled.
    ///
    /// - Parameter isForSweeps: whether the caches that are not open are to make room for pictures that nobody looks at,
    ///   before their room is used up.
    public func run(forSweeps isForSweeps: Bool = false) async {
        let written = caches.space.written
        takeStock()
        if isForSweeps, let limit, size >= CacheBudget.part(90, of: limit) {
            await clean(CacheBudget(limit: CacheBudget.part(85, of: limit), now: now, includesLists: false))
        }
        let isUsedUp = await clean()
        guard !Task.isCancelled else { return }
        caches.space.recordCount(size, before: written, isCleaned: isForSweeps || isUsedUp)
    }

    /// Counts what there is.
    func takeStock() {
        inventories = []
        for gallery in caches.folderNames where !Task.isCancelled {
            inventories.append(inventory(gallery))
        }
    }

    /// Does what the count asks for. That may go on for minutes, in which others come and go.
    ///
    /// Returns whether galleries that are open had to give something.
    @discardableResult
    func clean() async -> Bool {
        await clean(CacheBudget(limit: limit, now: now))
        guard let limit, size > limit else { return false }
        // Some more than it takes, so that it is not done again with the next picture.
        await clean(
            CacheBudget(limit: CacheBudget.part(97, of: limit), now: now, includesOpen: true, includesLists: false))
        return true
    }

    private func clean(_ budget: CacheBudget) async {
        let before = size
        while !Task.isCancelled, let step = budget.next(inventories) {
            do {
                try await perform(step, budget)
            } catch CacheError.locked {
                // Somebody has it open, or has had since it was counted, and so it is no candidate any more.
                change(step.gallery) { ($0.isInUse, $0.isOpenHere) = (true, false) }
            } catch {
                log.error(.cache, "\(error)")
                change(step.gallery) { ($0.isInUse, $0.isOpenHere) = (true, false) }
            }
        }
        guard size < before else { return }
        log.info(.cache, "cleaning: \(before) bytes became \(size)")
    }

    private var size: Int64 { inventories.reduce(0) { $0 + $1.size } }

    private func inventory(_ name: String) -> CacheInventory {
        var inventory = CacheInventory(gallery(name))
        inventory.isRemembered = remembered?.contains(name) ?? true
        if let open = caches.openCache(folderNamed: name) {
            (inventory.isInUse, inventory.isOpenHere) = (true, true)
            inventory.noteOpen(free: (try? open.read { try $0.freeBytes() }) ?? 0)
        }
        return inventory
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
        case .photos(_, let bytes):
            try dropPhotos(of: gallery, bytes: bytes)
            let rest = gallery.photosSize
            change(gallery.name) { inventory in
                // What has no less after it has been asked to go cannot go.
                if rest >= inventory.photos { (inventory.stuck, inventory.photos) = (inventory.stuck + rest, 0) }
                inventory.photos = min(inventory.photos, rest)
            }
        case .thumbnails:
            try dropThumbnails(of: gallery)
            change(gallery.name) { ($0.canShrink, $0.database) = (false, gallery.databaseSize) }
        case .everything:
            // Step by step, as far as they are many; what is left takes a moment, and says what stands in the way.
            try? dropPhotos(of: gallery, bytes: .max)
            guard !Task.isCancelled else { return }
            try gallery.removeIfUnused()
            log.info(.cache, "the cache of \(gallery.record?.address.description ?? gallery.folder) is removed")
            inventories.removeAll { $0.name == gallery.name }
        }
    }

    /// Has a gallery that is open give something. Returns false for what is done the same way with all.
    private func perform(_ step: CacheBudget.Step, _ budget: CacheBudget, in cache: GalleryCache) async throws -> Bool {
        switch step {
        case .setAside, .everything: return false
        case .photos(let name, let bytes):
            let freed = try await cache.writer.freeSpace(fromPhotos: bytes, except: wished(cache.id))
            change(name) { inventory in
                // The rest is wished for.
                let rest = max(0, inventory.photos - freed)
                inventory.stuck += freed < bytes ? rest : 0
                inventory.photos = freed < bytes ? 0 : rest
            }
        case .thumbnails(let name):
            let freed = try await cache.writer.freeSpace(
                fromThumbnails: size - (budget.limit ?? .max), except: wished(cache.id))
            change(name) { inventory in
                inventory.canShrink = false
                inventory.database = max(0, inventory.database - freed)
            }
        }
        return true
    }

    /// Whether it is still as it was counted: not marked to be kept since, nor looked at, nor filled by who does not look.
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
            log.error(.cache, "\(CacheError.notRemoved(path: path, reason: String(cString: strerror(errno))))")
        }
        change(gallery.name) { inventory in
            inventory.setAside.removeAll { $0 == file }
            if !isGone { inventory.stuck += file.size }
        }
    }

    private func dropPhotos(of gallery: ClosedGalleryCache, bytes: Int64) throws {
        let onFailure = { [log] (error: CacheError) in log.error(.cache, "\(error)") }
        try gallery.dropPartialFiles(onFailure: onFailure)
        var rest = gallery.photosByAge()[...]
        var freed: Int64 = 0
        while freed < bytes, !rest.isEmpty, !Task.isCancelled {
            // No more than it takes: the last step may be a short one.
            var names: [String] = []
            while freed < bytes, names.count < Self.filesAtOnce, let file = rest.popFirst() {
                names.append(file.name)
                freed += file.size
            }
            try gallery.dropPhotos(names, onFailure: onFailure)
            letOthersIn()
        }
    }

    /// Between two steps the lock is free for longer than it takes who waits for it to look again.
    private func letOthersIn() {
        _ = poll(nil, 0, CacheLock.interval * 2)
    }

    private func dropThumbnails(of gallery: ClosedGalleryCache) throws {
        while !Task.isCancelled, try gallery.dropThumbnails(Self.thumbnailsAtOnce) > 0 { letOthersIn() }
        if !Task.isCancelled { try gallery.shrink() }
    }
}

extension CacheBudget.Step {
    /// The folder's name of the cache that it is about.
    var gallery: String {
        switch self {
        case .setAside(_, let name), .photos(let name, _), .thumbnails(let name), .everything(let name): name
        }
    }
}

/// A gallery's cache as its room is counted.
struct CacheInventory: Hashable {
    /// A file of a database that was set aside.
    struct SetAside: Hashable {
        let name: String
        let size: Int64
        let time: Timestamp
    }

    /// Its folder's name.
    let name: String
    /// When somebody last looked at it; where nobody ever did, when it was last filled.
    var lastOpened: Timestamp
    /// When it was last looked at or filled.
    var lastUsed: Timestamp
    /// Open here or elsewhere, or not ours to touch.
    var isInUse = false
    /// Whether this process has it open, and can have it give something.
    var isOpenHere = false
    /// Whether it is to stay whatever room it takes.
    var isKept = false
    /// Whether the user's list of galleries has it.
    var isRemembered = true
    /// Whether its database can be read, if there is one.
    var isReadable = true
    /// Bytes of photos.
    var photos: Int64 = 0
    /// Bytes of the database.
    var database: Int64 = 0
    /// Whether the database would be smaller without its thumbnails, or without the room that they have left.
    var canShrink = false
    /// Bytes of files that could not be removed.
    var stuck: Int64 = 0
    var setAside: [SetAside] = []

    var size: Int64 { photos + database + stuck + setAside.reduce(0) { $0 + $1.size } }
}

extension CacheInventory {
    /// Counts what a cache on the disk takes.
    init(_ gallery: ClosedGalleryCache) {
        name = gallery.name
        // Each commit touches it, and nothing else does.
        let touched = gallery.touched
        let success = gallery.record?.lastSuccess
        lastOpened = gallery.record?.lastOpened ?? success ?? touched
        lastUsed = max(lastOpened, success ?? lastOpened)
        isKept = gallery.record?.isKept ?? false
        switch gallery.trouble {
        case nil: break
        case .database(.damaged): isReadable = false
        // One of a newer Vitrine, one that somebody has locked, one that is no cache at all.
        case .some: isInUse = true
        }
        photos = gallery.photosSize
        database = gallery.databaseSize
        canShrink = isReadable && gallery.canShrink
        setAside = gallery.setAside
    }

    /// Of a gallery that is open the file does not become smaller, but what is free in it is written to before it grows.
    mutating func noteOpen(free: Int64) {
        database = max(0, database - free)
    }
}
