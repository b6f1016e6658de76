import Glibc
import Session
import Logging
import Model
import SQLite
import Concurrency
import Synchronization

/// One gallery's cache: a database, a folder of photos, and the one place where changes to them are announced.
///
///     let cache = try folder.open(address)
///     let changes = cache.changes()
///     let photo = try cache.read { try $0.photo(key) }
///     for await change in changes { … }
public final class GalleryCache: Sendable {
    /// Names the gallery.
    public let id: GalleryID
    /// Where its list lies.
    public let address: Address
    /// The only way to change anything.
    public let writer: GalleryWriter
    /// Where the photos lie.
    public let files: PhotoFiles
    /// Whether the cache that was there could not be used and this is a fresh one: the user is told.
    public let wasSetAside: Bool
    /// Where everything of it lies.
    public let folder: String
    /// What has come of photos whose transfers broke off.
    public let parts = KeptParts()
    let mark: DamageMark
    private let credentials: CredentialStore
    private let space: CacheSpace
    private let lock: CacheLock
    private let access: Connection.Access
    private let readers: ReaderPool
    private let hub = ChangeHub()
    private let log: Log
    /// Hears of other processes' commits, once somebody wants to hear of any: an update that runs from a timetable shows in
    /// a browser that is open. Where the system has no more watches to give, it shows at the next start.
    private let watch = Mutex<FileWatch?>(nil)

    init(
        address: Address, folder: String, space: CacheSpace, log: Log, activity: Activity, credentials: CredentialStore
    ) throws {
        id = GalleryID(address)
        self.address = address
        self.credentials = credentials
        self.space = space
        self.folder = folder
        // Who cleans it has it for moments only.
        guard let lock = try CacheLock.take(folder: folder, .shared, patience: 50) else {
            throw CacheError.locked(path: folder)
        }
        self.lock = lock
        files = try PhotoFiles(folder: folder, log: log)
        let database = folder + "/gallery.sqlite"
        mark = DamageMark(database: database)
        let opened = try GalleryDatabase(
            path: database, partialFolder: files.partialFolder, address: address, hub: hub, mark: mark, log: log
        ).open(lock)
        wasSetAside = opened.wasSetAside
        access = opened.frozen == nil ? .readOnly : .frozen
        self.writer = try GalleryWriter(
            writer: opened.writer, frozen: opened.frozen, files: files, mark: mark, lock: lock, space: space,
            log: log, activity: activity)
        self.log = log
        readers = ReaderPool(path: database, access: access)
    }

    /// Who asks for an address on behalf of the gallery: nobody, unless it lies at the gallery's own origin, or the user was
    /// asked on the gallery's behalf.
    public func signIn(for other: Address) -> SignIn? {
        credentials.signIn(for: other, in: address)
    }

    /// Whether the user has named an address's origin himself, as the gallery's, or by an answer on the gallery's behalf.
    public func isNamedByUser(_ other: Address) -> Bool {
        other.origin.map { credentials.isNamedByUser($0, in: address) } ?? false
    }

    /// Begins to listen to commits. Subscribe first, then read.
    public func changes() -> CoalescingStream<ChangeSet> {
        watch.withLock { watch in
            if watch == nil { watch = listenToOthers() }
        }
        return hub.subscribe()
    }

    private func listenToOthers() -> FileWatch? {
        lock.listen { [weak writer, log] in
            Task {
                do { try await writer?.announceOthers() } catch { log.error(.cache, "\(error)") }
            }
        }
    }

    /// Asks the cache something, from any thread.
    public func read<Result>(_ body: (CacheReader) throws -> Result) throws -> Result {
        try mark.watch { try readers.read { try body(CacheReader($0)) } }
    }

    /// Opens a read-only connection that belongs to the caller: what the main actor draws from.
    public func openReader() throws -> CacheReader {
        try mark.watch {
            CacheReader(try Connection(path: folder + "/gallery.sqlite", access: access, patience: 200))
        }
    }

    /// Begins to work out what a new list changes.
    public func beginSync() throws -> SyncDraft {
        try SyncDraft(try openReader(), folder: files.partialFolder, limit: space.limit, mark)
    }

    /// Removes files that programs that died have left behind. Returns how many there were.
    @discardableResult
    public func sweep() throws -> Int {
        try read { reader in try files.sweep { try reader.isNamed($0) } }
    }
}
