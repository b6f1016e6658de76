import Concurrency
import Glibc
import Logging
import Model
import Session
import Synchronization

/// The folder of all caches, one for each gallery, found again by the gallery's address.
///
///     let caches = try CacheFolder(path: "/home/me/.cache/vitrine", log: log)
///     let cache = try caches.open(address)
///
/// Opening reads the disk; it is for the start of the program and for work off the main actor.
public final class CacheFolder: Sendable {
    /// Its absolute path.
    public let path: String
    /// Who asks for what is fetched.
    public let credentials: CredentialStore
    private let log: Log
    /// How much room all caches may take together.
    public let space: CacheSpace
    /// Where it is noted that something cannot be kept.
    private let activity: Activity
    private let state = Mutex(State())
    private let subscribers = Subscribers<Opened>()

    private struct State {
        var caches: [GalleryID: GalleryCache] = [:]
        /// What who opens a gallery holds meanwhile, and nobody else's question waits for. They stay: one is small.
        var turns: [GalleryID: Turn] = [:]
    }

    /// A gallery is opened by one at a time. That may take seconds, where it is migrated or rescued.
    private final class Turn: Sendable {
        let mutex = Mutex(())
    }

    /// Galleries that have been opened.
    public struct Opened: Coalescing {
        /// Which.
        public var galleries: Set<GalleryID>

        /// Takes in what was opened later.
        public mutating func merge(_ later: Opened) { galleries.formUnion(later.galleries) }
    }

    /// Makes the folder, or takes one that Vitrine has made or that is empty. It is its user's alone then.
    ///
    /// - Parameter limit: bytes that all caches may take together; nil for as many as they like.
    /// - Throws: ``CacheError/notACache(path:)`` for a folder that holds something else. It stays as it is.
    public init(
        path: String, limit: Int64? = nil, log: Log, activity: Activity = Activity(),
        credentials: CredentialStore = CredentialStore()
    ) throws {
        self.path = path
        space = CacheSpace(limit: limit)
        self.credentials = credentials
        self.log = log
        self.activity = activity
        try CacheMark.claim(path)
    }

    /// Why no gallery's cache can be made here; nil if it can.
    public var obstacle: CacheError? {
        access(galleriesFolder, W_OK | X_OK) == 0 ? nil : .cannotOpen(galleriesFolder)
    }

    /// Opens a gallery's cache, or makes an empty one. The same gallery is one object, whoever opens it.
    public func open(_ address: Address) throws -> GalleryCache {
        let id = GalleryID(address)
        let turn = state.withLock { state in
            let turn = state.turns[id] ?? Turn()
            state.turns[id] = turn
            return turn
        }
        return try turn.mutex.withLock { _ in
            // Those of an address that is typed later take the place of earlier ones; without any it says nothing.
            if let origin = address.origin, let typed = address.credentials {
                credentials.take(SignIn(typed), for: .origin(origin))
            }
            if let cache = cache(id), cache.address == address { return cache }
            let cache = try GalleryCache(
                address: address, folder: folder(of: id), space: space, log: log, activity: activity,
                credentials: credentials)
            log.debug(.cache, "opened \(address) in \(cache.folder)")
            state.withLock { state in
                state.caches[id] = cache
                subscribers.send(Opened(galleries: [id]))
            }
            return cache
        }
    }

    /// Begins to listen to what is opened; what has been opened before is heard of at once.
    public func openings() -> CoalescingStream<Opened> {
        state.withLock { subscribers.subscribe(beginningWith: Opened(galleries: Set($0.caches.keys))) }
    }

    /// A gallery's cache, if it has been opened.
    public func cache(_ id: GalleryID) -> GalleryCache? {
        state.withLock { $0.caches[id] }
    }

    /// Every cache that has been opened.
    public var openCaches: [GalleryCache] {
        state.withLock { Array($0.caches.values) }
    }

    /// What is known of a gallery, without opening or making its cache; nil if it has none.
    public func record(of address: Address) -> GalleryRecord? {
        gallery(address)?.record
    }

    /// A gallery's cache on the disk, open or not, readable or not; nil if it has none.
    public func gallery(_ address: Address) -> ClosedGalleryCache? {
        let folder = folder(of: GalleryID(address))
        var status = stat()
        guard lstat(folder, &status) == 0 else { return nil }
        let gallery = ClosedGalleryCache(folder: folder)
        return gallery.isOf(address) ? gallery : nil
    }

    /// Every cache on the disk, open or not, readable or not, the most recently opened first.
    public func galleries() -> [ClosedGalleryCache] {
        PrivateFolder.entries(galleriesFolder)
            .map { ClosedGalleryCache(folder: galleriesFolder + "/" + $0) }
            .sorted { ($0.record?.lastOpened?.milliseconds ?? 0) > ($1.record?.lastOpened?.milliseconds ?? 0) }
    }

    /// The names of the folders that are caches, or once were.
    var folderNames: [String] {
        PrivateFolder.entries(galleriesFolder).filter(CacheMark.isGallery)
    }

    /// That cache, if it is open in this process.
    func openCache(folderNamed name: String) -> GalleryCache? {
        state.withLock { $0.caches.first { "\($0.key)" == name }?.value }
    }

    func folder(named name: String) -> String { "\(galleriesFolder)/\(name)" }

    private var galleriesFolder: String { "\(path)/\(CacheMark.galleries)" }

    private func folder(of id: GalleryID) -> String { folder(named: "\(id)") }
}

extension CacheFolder {
    /// Removes what the disk has of a gallery. One that this program has opened is emptied instead: somebody may be reading it,
    /// and its folder is a small one then.
    ///
    /// - Throws: ``CacheError/locked(path:)`` if another program uses it.
    public func discard(_ address: Address) async throws {
        if let cache = cache(GalleryID(address)), cache.address == address {
            try await cache.writer.clear(photosOnly: false)
            try cache.sweep()
        } else {
            try gallery(address)?.remove()
        }
        activity.forgetFailures(of: GalleryID(address))
    }
}

/// Tells a folder of caches from a folder that holds something else of the user's.
///
///     try CacheMark.claim("/home/me/.cache/vitrine")
///
/// Vitrine closes its folder of caches to others and removes what it does not know there. So it takes no folder but one that
/// it has made, or one that is empty. It knows its own by a mark, a file with a name that nothing else has; the folders of
/// earlier versions, which made no mark, it knows by what they hold.
private enum CacheMark {
    /// The mark's name.
    static let name = ".vitrine-cache"
    /// The folder in it that holds a folder for each gallery.
    static let galleries = "galleries"

    /// Makes the folder, or takes one that is empty or a folder of caches already. Any other is left as it is.
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

    /// Whether a name is that of a gallery's folder.
    static func isGallery(_ name: String) -> Bool {
        name.utf8.count == 16 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func isMarked(_ path: String) -> Bool {
        var status = stat()
        return lstat("\(path)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && status.st_uid == geteuid()
    }

    /// A folder of galleries' folders and nothing else, or with a gallery's cache among others. Where there is no gallery yet,
    /// nothing else may lie beside it.
    private static func hasLayout(_ path: String, _ entries: [String]) -> Bool {
        guard entries.contains(galleries) else { return false }
        let names = PrivateFolder.entries("\(path)/\(galleries)")
        guard !names.isEmpty else { return entries.count == 1 }
        return names.allSatisfy(isGallery)
            || names.contains { isGallery($0) && access("\(path)/\(galleries)/\($0)/lock", F_OK) == 0 }
    }

    /// Leaves the mark last, since another program that starts at this moment knows the folder by its layout. Where nothing
    /// can be written, the layout has to do later too.
    private static func leave(in path: String) {
        let mark = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if mark >= 0 { close(mark) }
    }
}
