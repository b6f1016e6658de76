import Concurrency
import Glibc
import Logging
import Model
import SQLite
import Session
import Synchronization
import Towns

/// The cache of one gallery: a database and a folder of photos. The cache publishes its changes.
///
///     let cache = try folder.open(address)
///     let changes = cache.changes()
///     let photo = try cache.read { try $0.photo(key) }
///     for await change in changes { … }
public final class GalleryCache: Sendable {
    /// The gallery's identifier.
    public let id: GalleryID
    /// The address of the gallery's list.
    public let address: Address
    /// The actor that makes all changes to the cache.
    public let writer: GalleryWriter
    /// The files of the gallery's photos.
    public let files: PhotoFiles
    /// Whether this cache is new because the old cache was damaged and set aside. If so, Vitrine tells the user.
    public let wasSetAside: Bool
    /// The path of the cache's folder.
    public let folder: String
    /// The received beginnings of photos whose transfers were interrupted.
    public let parts: KeptParts
    /// The mark that requests a check of the database at its next opening. Code that finds damage sets the mark.
    let mark: DamageMark
    /// The disk problem that makes this cache read-only; nil if there is none. Unless the whole disk is read-only,
    /// other processes cannot open the cache meanwhile.
    public let trouble: StorageTrouble?
    private let credentials: CredentialStore
    private let space: CacheSpace
    private let lock: CacheLock
    private let access: Connection.Access
    private let readers: ReaderPool
    private let hub = ChangeHub()
    private let log: Log
    /// The source of news about commits of other processes. The first subscription sets it.
    private let source = Mutex<Source?>(nil)
    private let watches: FileWatches

    /// The ways in which this process learns of commits of other processes.
    private enum Source {
        case watch(FileWatch)
        /// A task asks the database, because the system has no watch left.
        case questions
    }

    init(
        address: Address, folder: String, ratings: String?, towns: TownTable?, run: UInt64?, space: CacheSpace,
        watches: FileWatches, log: Log, activity: Activity, credentials: CredentialStore
    ) throws {
        id = GalleryID(address)
        self.address = address
        self.credentials = credentials
        self.space = space
        self.watches = watches
        parts = KeptParts(run: run)
        self.folder = folder
        // Cleaning holds the lock for short moments only, so waiting for half a second suffices.
        guard let lock = try CacheLock.take(folder: folder, .shared, patience: 50) else {
            throw CacheError.locked(path: folder)
        }
        self.lock = lock
        files = try PhotoFiles(folder: folder, of: address, log: log)
        let database = folder + "/gallery.sqlite"
        mark = DamageMark(database: database)
        let opened = try GalleryDatabase(
            path: database, partialFolder: files.partialFolder, address: address, hub: hub, mark: mark, log: log
        ).open(lock)
        (wasSetAside, trouble) = (opened.wasSetAside, opened.frozen)
        access = opened.frozen == nil ? .readOnly : .frozen
        self.writer = try GalleryWriter(
            writer: opened.writer, frozen: opened.frozen, files: files,
            ratingFile: ratings.map { RatingFile(folder: $0, of: address) }, towns: towns, mark: mark, lock: lock,
            space: space, log: log, activity: activity)
        self.log = log
        readers = ReaderPool(path: database, access: access)
    }

    /// Returns the credentials to send to an address for this gallery's photos or list.
    ///
    /// The result is nil unless the address has the gallery's own origin, perhaps with `https` instead of `http`, or the
    /// user entered credentials for this gallery.
    public func signIn(for other: Address) -> SignIn? {
        credentials.signIn(for: other, in: address)
    }

    /// Whether the user chose an address's origin. True for the gallery's own origin, and for origins whose credentials
    /// the user entered.
    public func isNamedByUser(_ other: Address) -> Bool {
        other.origin.map { credentials.isNamedByUser($0, in: address) } ?? false
    }

    /// Subscribes to commits of this and other processes. Subscribe before the first read.
    public func changes() -> CoalescingStream<ChangeSet> {
        source.withLock { source in
            if source == nil { source = listenToOthers() }
            return hub.subscribe()
        }
    }

    private func listenToOthers() -> Source {
        let watch = lock.listen(with: watches) { [weak writer, log] in
            Task {
                do { try await writer?.announceOthers() } catch { log.error(.cache, "\(error)") }
            }
        }
        if let watch { return .watch(watch) }
        log.error(.cache, "\(address): the system has no file watch left, so Vitrine looks for changes every second")
        askForOthers()
        return .questions
    }

    /// Publishes the commits of other processes once a second, until no subscriber is left.
    ///
    /// This is the only work that wakes an idle program. Without it, the screen would not show what the fetcher stores.
    private func askForOthers() {
        Task { [weak self] in
            let clock = BootClock()
            while await self?.announceOthers() == true { try? await clock.sleep(until: clock.now + .seconds(1)) }
        }
    }

    /// Publishes the commits of other processes. Returns false if there is no subscriber. The next one starts a new task.
    private func announceOthers() async -> Bool {
        let isHeard = source.withLock { source in
            if !hub.areWaiting { source = nil }
            return source != nil
        }
        guard isHeard else { return false }
        do { try await writer.announceOthers() } catch { log.error(.cache, "\(error)") }
        return true
    }

    /// Reads the cache from any thread.
    public func read<Result>(_ body: (CacheReader) throws -> Result) throws -> Result {
        try mark.watch { try readers.read { try body(CacheReader($0)) } }
    }

    /// Opens a read-only connection for the caller, such as the main actor.
    public func openReader() throws -> CacheReader {
        try mark.watch {
            CacheReader(try Connection(path: folder + "/gallery.sqlite", access: access, patience: 200))
        }
    }

    /// Shows other processes which renditions this process needs.
    func setNeeded(_ renditions: Set<Rendition>) { lock.setNeeded(renditions) }

    /// The renditions that other processes need.
    var neededElsewhere: Set<Rendition> { lock.neededElsewhere }

    /// Returns whether a photo needs no network. A list on the disk may name photos on servers.
    public func isLocal(_ key: PhotoKey) -> Bool {
        guard address.isLocal else { return false }
        let source = try? read { try $0.source(of: key, .original)?.address }
        return source?.isLocal ?? true
    }

    /// Starts an update of the list. Returns a draft that collects the new list's changes.
    ///
    /// - Parameters:
    ///   - list: the address from which the list comes; nil for the gallery's address.
    ///   - scopes: the folders that the list covers; nil for all.
    public func beginSync(from list: Address? = nil, within scopes: [FolderScope]? = nil) throws -> SyncDraft {
        try SyncDraft(
            try openReader(), folder: files.partialFolder, list: list ?? address, limit: space.limit, within: scopes,
            mark)
    }

    /// Removes the leftover files of killed programs. Returns the number of files.
    @discardableResult
    public func sweep() throws -> Int {
        try read { reader in try files.sweep { try reader.isNamed($0) } }
    }
}

extension CacheReader {
    /// Returns the files of those photos that are cached.
    ///
    /// One query reads some hundred photos.
    public func photoFiles(of keys: some Collection<PhotoKey>) throws -> [PhotoKey: StoredPhoto] {
        var files: [PhotoKey: StoredPhoto] = [:]
        try forEach(Self.photoFiles, of: keys) { row in files[PhotoKey(row.int(5))] = try Self.storedPhoto(row) }
        return files
    }

    private static let photoFiles = """
        SELECT \(storedColumns), key FROM photo
        WHERE key IN (SELECT value FROM json_each(?)) AND photo_file IS NOT NULL
        """
}

/// The result of checking and repairing a gallery's cache.
public struct CacheCheck: Equatable, Sendable {
    /// The faults that SQLite found in the database.
    public var complaints: [String] = []
    /// Whether the search index was damaged and has been rebuilt.
    public var isIndexRepaired = false
    /// The number of photos whose file was missing or changed. Vitrine fetches these photos again on demand.
    public var brokenFiles = 0
    /// The number of removed files that no database row names.
    public var orphans = 0
    /// The number of inconsistent database rows that were repaired.
    public var brokenRows = 0
    /// The number of photos with an intact file.
    public var goodFiles = 0
}

extension GalleryCache {
    /// Checks the database, the search index and all photo files, and repairs them.
    public func check() async throws -> CacheCheck {
        var check = CacheCheck()
        // Repair the index first, because a wrong index can be rebuilt and is no reason to set the database aside.
        check.isIndexRepaired = try await writer.repairIndex()
        check.complaints = try await writer.complaints()
        // A damaged database is set aside at the next start, so repairs would be useless.
        if check.complaints.isEmpty { check.brokenRows = try await writer.repairRows() }
        let stored = try read { reader in
            try reader.connection.map(
                "SELECT \(CacheReader.storedColumns), key FROM photo WHERE photo_file IS NOT NULL"
            ) { row in (PhotoKey(row.int(5)), try CacheReader.storedPhoto(row)) }
        }
        for (key, photo) in stored {
            if files.isIntact(photo) {
                check.goodFiles += 1
            } else {
                check.brokenFiles += 1
                try await writer.dropPhotoFile(photo.name, of: key)
            }
        }
        check.orphans = try sweep()
        return check
    }
}

/// The repairs that `vitrine cache check` makes.
extension GalleryWriter {
    /// Rebuilds the search index if it does not match the photos. Returns true if it rebuilt the index.
    public func repairIndex() throws -> Bool {
        do {
            return try transaction(PhotoText.repair)
        } catch CacheError.database(.damaged) {
            // The damage is not in the index. The check of the database will find it.
            return false
        }
    }

    /// Repairs inconsistent rows. Returns the number of repaired rows.
    fileprivate func repairRows() throws -> Int {
        try transaction { connection in
            // Remove the rows of photos that no longer exist.
            var repaired = try connection.run("DELETE FROM thumbnail WHERE photo NOT IN (SELECT key FROM photo)")
            repaired += try connection.run("DELETE FROM metadata WHERE photo NOT IN (SELECT key FROM photo)")
            repaired += try connection.run("DELETE FROM exported WHERE photo NOT IN (SELECT key FROM photo)")
            // If only one of the two tables has a thumbnail, Vitrine fetches the thumbnail again.
            repaired += try connection.run(
                """
                UPDATE photo SET thumbnail_held = NULL, thumbnail_etag = NULL, thumbnail_last_modified = NULL
                WHERE thumbnail_held IS NOT NULL AND key NOT IN (SELECT photo FROM thumbnail)
                """)
            repaired += try connection.run(
                "DELETE FROM thumbnail WHERE photo IN (SELECT key FROM photo WHERE thumbnail_held IS NULL)")
            // Vitrine also fetches a photo again if its row has an edition without a file, or a file without an
            // edition.
            repaired += try connection.run(
                "UPDATE photo SET \(Self.withoutFile) WHERE (photo_held IS NULL) <> (photo_file IS NULL)")
            // Vitrine also fetches a photo again if its file has a name that Vitrine did not make.
            var misnamed: [Int64] = []
            try connection.forEach("SELECT key, photo_file FROM photo WHERE photo_file IS NOT NULL") { row in
                if !StoredPhoto.isName(row.text(1)) { misnamed.append(row.int(0)) }
            }
            for key in misnamed {
                repaired += try connection.run("UPDATE photo SET \(Self.withoutFile) WHERE key = ?", key)
            }
            repaired += try connection.run(
                """
                UPDATE gallery SET photo_count = (SELECT count(*) FROM photo)
                WHERE photo_count <> (SELECT count(*) FROM photo)
                """)
            return repaired
        }
    }
}
