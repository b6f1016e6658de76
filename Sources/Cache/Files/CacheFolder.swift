import Concurrency
import Glibc
import Logging
import Model
import Session
import Synchronization
import Towns

/// The folder with the caches of all galleries. A gallery's address identifies its cache.
///
///     let caches = try CacheFolder(path: "/home/me/.cache/vitrine", log: log)
///     let cache = try caches.open(address)
///
/// Opening a cache reads the disk. Open caches at the start of the program, or off the main actor.
public final class CacheFolder: Sendable {
    /// The folder's absolute path.
    public let path: String
    /// The user's credentials.
    public let credentials: CredentialStore
    /// The folder with the user's own ratings; nil to keep them in the caches alone.
    private let ratings: String?
    private let towns: TownTable?
    private let run: UInt64?
    private let log: Log
    /// The disk space that the caches use, and its limit.
    public let space: CacheSpace
    /// Receives reports about storage problems.
    private let activity: Activity
    /// Watches all galleries through one descriptor. All programs of the user share the few that the system has.
    private let watches = FileWatches()
    private let state = Mutex(State())
    private let subscribers = Subscribers<Opened>()

    private struct State {
        var caches: [GalleryID: GalleryCache] = [:]
        /// One lock per gallery, held while a caller opens that gallery. Other galleries need not wait. The locks are
        /// small, so they are never removed.
        var openLocks: [GalleryID: OpenLock] = [:]
    }

    /// Lets one caller at a time open a gallery. Migrating or rescuing a database may take seconds.
    private final class OpenLock: Sendable {
        let mutex = Mutex(())
    }

    /// Galleries whose caches were opened.
    public struct Opened: Coalescing {
        /// The caches of the galleries.
        var caches: [GalleryCache]
        /// The identifiers of the galleries.
        public var galleries: Set<GalleryID> { Set(caches.map(\.id)) }

        /// Adds galleries opened later.
        public mutating func merge(_ later: Opened) { caches += later.caches }
    }

    /// Creates the folder, or uses an empty folder or an existing cache folder. Makes the folder private to the user.
    ///
    /// - Parameters:
    ///   - ratings: the folder for the user's own ratings; nil to keep them in the caches alone.
    ///   - towns: finds the towns of photos; nil to store none.
    ///   - limit: the limit for all caches in bytes; nil for no limit.
    ///   - run: a number that this process shares with processes that may continue its transfers; nil for none.
    /// - Throws: ``CacheError/notACache(path:)`` for a folder with other contents, which stays as it is.
    public init(
        path: String, ratings: String? = nil, towns: TownTable? = nil, limit: Int64? = nil, run: UInt64? = nil,
        log: Log, activity: Activity = Activity(), credentials: CredentialStore = CredentialStore()
    ) throws {
        self.path = path
        self.ratings = ratings
        self.towns = towns
        self.run = run
        space = CacheSpace(limit: limit)
        self.credentials = credentials
        self.log = log
        self.activity = activity
        try CacheMark.claim(path)
    }

    /// The reason why Vitrine cannot create caches here; nil without such a reason.
    public var obstacle: CacheError? {
        access(galleriesFolder, W_OK | X_OK) == 0 ? nil : .cannotOpen(galleriesFolder)
    }

    /// Opens a gallery's cache, or creates one. All callers for a gallery get the same object.
    public func open(_ address: Address) throws -> GalleryCache {
        let id = GalleryID(address)
        let lock = state.withLock { state in
            let lock = state.openLocks[id] ?? OpenLock()
            state.openLocks[id] = lock
            return lock
        }
        return try lock.mutex.withLock { _ in
            // Credentials in the address replace earlier ones. An address without credentials changes nothing.
            if let origin = address.origin, let typed = address.credentials {
                credentials.take(SignIn(typed), for: .origin(origin))
            }
            if let cache = cache(id), cache.address == address { return cache }
            let cache = try GalleryCache(
                address: address, folder: folder(of: id), ratings: ratings, towns: towns, run: run, space: space,
                watches: watches, log: log, activity: activity, credentials: credentials)
            log.debug(.cache, "opened \(address) in \(cache.folder)")
            state.withLock { state in
                state.caches[id] = cache
                subscribers.send(Opened(caches: [cache]))
            }
            return cache
        }
    }

    /// Subscribes to openings of caches. The stream first delivers the galleries that are already open.
    public func openings() -> CoalescingStream<Opened> {
        state.withLock { subscribers.subscribe(beginningWith: Opened(caches: Array($0.caches.values))) }
    }

    /// Calls `body` with the open caches, and with each cache that is opened later.
    ///
    /// ``open(_:)`` returns after the call for its cache. The calls end when the relay is released. `body` must not use
    /// this folder, because the folder is locked during the call.
    public func relayOpenings(_ body: @escaping @Sendable ([GalleryCache]) -> Void) -> Relay<Opened> {
        state.withLock { subscribers.relay(beginningWith: Opened(caches: Array($0.caches.values))) { body($0.caches) } }
    }

    /// Returns a gallery's cache if this process has opened it.
    public func cache(_ id: GalleryID) -> GalleryCache? {
        state.withLock { $0.caches[id] }
    }

    /// All caches that this process has opened.
    public var openCaches: [GalleryCache] {
        state.withLock { Array($0.caches.values) }
    }

    /// Returns a gallery's record without opening its cache. Returns nil if there is no readable cache.
    public func record(of address: Address) -> GalleryRecord? {
        gallery(address)?.record
    }

    /// Returns a gallery's cache on the disk, even if it is unreadable. Returns nil if the gallery has no cache.
    public func gallery(_ address: Address) -> ClosedGalleryCache? {
        let folder = folder(of: GalleryID(address))
        var status = stat()
        guard lstat(folder, &status) == 0 else { return nil }
        let gallery = ClosedGalleryCache(folder: folder)
        return gallery.isOf(address) ? gallery : nil
    }

    /// Returns all caches on the disk, the most recently opened first.
    public func galleries() -> [ClosedGalleryCache] {
        PrivateFolder.entries(galleriesFolder)
            .map { ClosedGalleryCache(folder: galleriesFolder + "/" + $0) }
            .sorted { ($0.record?.lastOpened?.milliseconds ?? 0) > ($1.record?.lastOpened?.milliseconds ?? 0) }
    }

    /// The names of all cache folders of galleries.
    var folderNames: [String] {
        PrivateFolder.entries(galleriesFolder).filter(CacheMark.isGallery)
    }

    /// Returns the cache in the folder with this name, if this process has opened it.
    func openCache(folderNamed name: String) -> GalleryCache? {
        state.withLock { $0.caches.first { "\($0.key)" == name }?.value }
    }

    func folder(named name: String) -> String { "\(galleriesFolder)/\(name)" }

    private var galleriesFolder: String { "\(path)/\(CacheMark.galleries)" }

    private func folder(of id: GalleryID) -> String { folder(named: "\(id)") }
}

extension CacheFolder {
    /// Removes a gallery's cache. If this process has the cache open, the method empties it instead, because screens
    /// may read it.
    ///
    /// - Throws: ``CacheError/locked(path:)`` if another program uses the cache.
    public func discard(_ address: Address) async throws {
        if let cache = cache(GalleryID(address)), cache.address == address {
            try await cache.writer.clear(photosOnly: false)
            try cache.sweep()
        } else {
            try gallery(address)?.remove()
        }
        activity.removeFailures(of: GalleryID(address))
        space.requestCount()
    }
}

/// The file that marks a folder as Vitrine's cache folder.
///
///     try CacheMark.claim("/home/me/.cache/vitrine")
///
/// Vitrine makes its cache folder private and removes unknown files from it, so it must not take over one of the user's
/// folders. It uses a folder only if it is new, empty, or marked by a file with an unmistakable name. Earlier versions
/// left no mark, so Vitrine recognises their folders by their contents.
private enum CacheMark {
    /// The name of the marking file.
    static let name = ".vitrine-cache"
    /// The subfolder with one folder per gallery.
    static let galleries = "galleries"

    /// Creates the folder, or uses an empty folder or an existing cache folder. Throws for any other folder, and leaves
    /// that folder unchanged.
    static func claim(_ path: String) throws(CacheError) {
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else { throw .notOurs(path: path) }
            let entries = try PrivateFolder.readableEntries(path)
            guard entries.isEmpty || isMarked(path) || hasLayout(path, entries) else { throw .notACache(path: path) }
        }
        try PrivateFolder.make(path)
        try PrivateFolder.make("\(path)/\(galleries)")
        leave(in: path)
    }

    /// Whether a name has the form of a gallery's cache folder.
    static func isGallery(_ name: String) -> Bool {
        name.utf8.count == 16 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func isMarked(_ path: String) -> Bool {
        var status = stat()
        return lstat("\(path)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && status.st_uid == geteuid()
    }

    /// Whether a folder without a mark is a cache folder of an earlier version.
    ///
    /// The subfolder `galleries` must contain only gallery folders, or at least one gallery folder with a lock file. If
    /// this subfolder is empty, the folder must contain nothing else.
    private static func hasLayout(_ path: String, _ entries: [String]) -> Bool {
        guard entries.contains(galleries) else { return false }
        let names = PrivateFolder.entries("\(path)/\(galleries)")
        guard !names.isEmpty else { return entries.count == 1 }
        return names.allSatisfy(isGallery)
            || names.contains { isGallery($0) && access("\(path)/\(galleries)/\($0)/lock", F_OK) == 0 }
    }

    /// Creates the marking file. This is the last step: another program that starts meanwhile recognises the folder by
    /// its layout. On a read-only disk, the layout alone must identify the folder.
    private static func leave(in path: String) {
        let mark = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if mark >= 0 { close(mark) }
    }
}

/// Folders that only the user can access.
enum PrivateFolder {
    /// Creates a folder and its parents, or checks an existing folder.
    ///
    /// Throws if the path is a link or belongs to another user.
    static func make(_ path: String) throws(CacheError) {
        try makeMissing(path)
        try check(path)
    }

    /// Creates a folder and its missing parents. The parents may be links, such as a linked home folder.
    private static func makeMissing(_ path: String) throws(CacheError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw failure(path)
        }
        try makeMissing(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path) }
    }

    /// Checks that a path is a folder that belongs to the user. Makes the folder private.
    static func check(_ path: String) throws(CacheError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure(path) }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else { throw .notOurs(path: path) }
        guard status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else { throw failure(path) }
    }

    /// Returns the names of a folder's entries. Returns no names if the folder is unreadable.
    static func entries(_ path: String) -> [String] {
        (try? readableEntries(path)) ?? []
    }

    /// Returns the names of a folder's entries. Throws if the folder is unreadable.
    static func readableEntries(_ path: String) throws(CacheError) -> [String] {
        guard let folder = opendir(path) else { throw failure(path) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func failure(_ path: String) -> CacheError {
        .cannotOpen(path)
    }
}
