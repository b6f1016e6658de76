import Concurrency
import Logging
import Model
import SQLite
import Session

/// Everything that can be done to a gallery's cache.
///
/// Each method is one transaction that keeps every promise the tables make, durable and announced when it returns; of what
/// comes in large numbers, many share one. It runs on a queue of its own; whoever calls it waits without holding a thread,
/// and readers do not wait at all.
public actor GalleryWriter {
    private let writer: Writer
    /// Why nothing can be written, if that was so from the beginning.
    private let frozen: StorageTrouble?
    let files: PhotoFiles
    private let mark: DamageMark
    /// Rung after each commit. Not held: it goes with the cache, whoever still has something to do with this object.
    private weak var lock: CacheLock?
    private let log: Log
    private var announcements: Announcements
    private let activity: Activity
    let space: CacheSpace
    /// What many want to have written at once.
    private let shared = SharedWrites()
    private let executor = QueueExecutor(label: "vitrine.cache.writer")

    /// The queue that the disk may block.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        writer: sending Writer, frozen: StorageTrouble?, files: PhotoFiles, mark: DamageMark, lock: CacheLock,
        space: CacheSpace,
        log: Log, activity: Activity
    ) throws {
        announcements = try mark.watch { try writer.read { try Announcements($0) } }
        self.writer = writer
        self.frozen = frozen
        self.files = files
        self.mark = mark
        self.lock = lock
        self.log = log
        self.activity = activity
        self.space = space
    }

    /// Pages in the log, beyond which they are moved into the database.
    private static let checkpointPages = 1_000
    /// Pages, beyond which the log's file is made small again, too: a first update makes it as large as the database.
    private static let largeLogPages = 4_000

    /// One transaction, and the housekeeping that its commit may have made due.
    @discardableResult
    func transaction<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        // Before our own commit is in the log, and what others did can no longer be told from it.
        listenToOthers()
        let result: Result
        do {
            if let frozen { throw frozen.error }
            result = try mark.watch { try mending(body) }
        } catch {
            // Whoever wanted to write: a request, a screen, the darkroom. Nobody else knows of all of them.
            if let trouble = CacheError(thrown: error).flatMap(StorageTrouble.init) { activity.report(trouble) }
            throw error
        }
        lock?.signalCommit()
        // Others may have rung since they were last listened to, and not be heard for our own ringing.
        listenToOthers()
        checkpointIfDue()
        return result
    }

    private func listenToOthers() {
        do { try announceOthers() } catch { log.error(.cache, "\(error)") }
    }

    /// The index of words is made of what the rows say, so it can be made again at once: no update need fail for it.
    private func mending<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        do {
            return try announced(body)
        } catch SQLiteError.damagedIndex(let reason) {
            log.error(.cache, "the index of words is damaged (\(reason)) and made anew")
            try writer.transaction(PhotoText.rebuild)
            return try announced(body)
        }
    }

    private func announced<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let before = announcements
        do {
            return try writer.transaction(body) { try announcements.add($1, $0) }
        } catch {
            // Nothing of it has happened, its announcement's number included.
            announcements = before
            throw error
        }
    }

    /// Announces what other processes have committed, if they have. Returns whether they have.
    @discardableResult
    func announceOthers() throws -> Bool {
        try mark.watch {
            // After each update another process empties the log, and that is no reason to look at everything.
            let mayBeSilent = !writer.isLogEmpty
            // Of one moment: what is announced after somebody has been heard would be taken for his, and the next one for silent.
            let changes = try writer.read { connection in
                try connection.transaction(writes: false) {
                    guard try writer.othersHaveCommitted() else { return ChangeSet() }
                    return try announcements.takeOthers(connection, mayBeSilent: mayBeSilent)
                }
            }
            writer.announce(changes)
            return !changes.isEmpty
        }
    }

    private func checkpointIfDue() {
        guard writer.pagesInLog >= Self.checkpointPages else { return }
        do {
            let checkpoint = try writer.checkpoint(emptying: writer.pagesInLog >= Self.largeLogPages, patience: 0)
            log.debug(.cache, "checkpoint: \(checkpoint.moved) of \(checkpoint.pages) pages moved")
        } catch {
            // The commit before it stands; the log only grows until a checkpoint succeeds.
            log.error(.cache, "checkpoint failed: \(error)")
        }
    }

    /// Notes that somebody looks at the gallery now.
    public func recordOpened(at time: Timestamp) throws {
        try transaction { try $0.run("UPDATE gallery SET last_opened = ?", time.milliseconds) }
    }

    /// Notes that the user has left the gallery: what comes from now on is new to him.
    public func recordLeft() throws {
        // Numbers are never given out again, so what comes later has a higher one, whatever goes meanwhile.
        try transaction {
            try $0.run("UPDATE gallery SET seen_through = (SELECT seq FROM sqlite_sequence WHERE name = 'photo')")
        }
    }

    /// Marks the gallery to be kept whatever room it takes; or takes the mark away, if it has it.
    public func toggleKept() throws {
        try transaction { try $0.run("UPDATE gallery SET is_kept = NOT is_kept") }
    }

    /// Notes that an update failed. No photo changes.
    public func recordSyncFailure(_ failure: Failure) throws {
        try transaction {
            try $0.run(
                "UPDATE gallery SET failure = ?, failure_remedy = ?", failure.reason, failure.remedy.rawValue)
        }
    }

    /// Notes that the server has nothing new: the one write of an update that was answered 304.
    ///
    /// - Parameter isPrivate: whether it was said by this machine or from the user's own network; nil if nobody has looked.
    ///   Of a list that came from the world it proves nothing, for the same name may lead anywhere by now; then the whole is
    ///   asked for the next time.
    /// - Parameter isPublic: whether the gallery's own address led to a public one. Once it has, that is never forgotten
    ///   before the cache is cleared.
    public func recordUnchanged(isPrivate: Bool? = nil, isPublic: Bool = false, at time: Timestamp) throws {
        try transaction {
            try $0.run(
                """
                UPDATE gallery SET last_success = ?1, failure = NULL, failure_remedy = NULL,
                                   etag = iif(?2 > is_private, NULL, etag),
                                   last_modified = iif(?2 > is_private, NULL, last_modified),
                                   is_private = ifnull(min(is_private, ?2), ifnull(is_private, ?2)),
                                   was_public = max(was_public, ?3)
                """, time.milliseconds, isPrivate.map { $0 ? 1 : 0 }, isPublic ? 1 : 0)
        }
    }

    /// What a photo's row says when no file holds it.
    static let withoutFile = """
        photo_file = NULL, photo_size = NULL, photo_digest = NULL, photo_held = NULL, photo_etag = NULL, \
        photo_last_modified = NULL
        """

    /// Empties the cache: photos' files alone, or everything but the gallery's own row. All of it includes that the gallery
    /// was public.
    ///
    /// Returns how many files were removed.
    @discardableResult
    public func clear(photosOnly: Bool) throws -> Int {
        let names = try transaction { connection in
            let names = try connection.map("SELECT photo_file FROM photo WHERE photo_file IS NOT NULL") { $0.text(0) }
            try connection.run(
                "UPDATE photo SET \(Self.withoutFile) WHERE photo_file IS NOT NULL")
            if !photosOnly {
                // With a condition: a bare DELETE empties the table in one stroke, unannounced.
                try connection.run("DELETE FROM thumbnail WHERE photo > 0")
                try connection.run("DELETE FROM metadata WHERE photo > 0")
                try connection.run("DELETE FROM photo WHERE key > 0")
                try PhotoText.rebuild(connection)
                try connection.run(
                    """
                    UPDATE gallery SET photo_count = 0, skipped = 0, last_success = NULL, failure = NULL,
                                       etag = NULL, last_modified = NULL, is_private = NULL, was_public = 0,
                                       list_version = list_version + 1
                    """)
            }
            return names
        }
        for name in names { files.remove(name) }
        return names.count
    }

    /// Whether the database is whole, in SQLite's own judgement: its complaints, none if it is.
    ///
    /// One that is not is set aside when it is opened next.
    public func complaints() throws -> [String] {
        do {
            let complaints = try mark.watch {
                try writer.read { connection in
                    try connection.map("PRAGMA integrity_check(20)") { $0.text(0) }.filter { $0 != "ok" }
                }
            }
            if !complaints.isEmpty { mark.set() }
            return complaints
        } catch CacheError.database(.damaged(let reason)) {
            // So damaged that it cannot even be looked through.
            return [reason]
        }
    }

    /// Makes the database file whole by itself, for the end of the program.
    public func close() {
        guard frozen == nil else { return }
        do {
            try writer.checkpoint(emptying: true)
        } catch {
            log.error(.cache, "last checkpoint failed: \(error)")
        }
    }
}

/// Frees room in an open gallery when the caches exceed their limit. Freed pictures are fetched again when they are
/// looked at.
extension GalleryWriter {
    /// Files and rows of a transaction.
    private static let photosAtOnce = 64
    private static let thumbnailsAtOnce = 128

    /// Removes photos, those first that have been here longest, until so many bytes are free.
    ///
    /// Returns how many bytes are. They are fewer where the rest is excepted, or the task was cancelled.
    func freeSpace(fromPhotos bytes: Int64, except kept: Set<PhotoKey>) throws -> Int64 {
        var freed: Int64 = 0
        var rest = ClosedGalleryCache.photosByAge(in: files.photosFolder).filter { file in
            PhotoFiles.key(in: file.name).map { !kept.contains($0) } ?? false
        }[...]
        while freed < bytes, !rest.isEmpty, !Task.isCancelled {
            var keys: [PhotoKey] = []
            while freed < bytes, keys.count < Self.photosAtOnce, let file = rest.popFirst() {
                guard let key = PhotoFiles.key(in: file.name) else { continue }
                keys.append(key)
                freed += file.size
            }
            try dropPhotos(keys)
        }
        return freed
    }

    /// Removes thumbnails, those first whose photos are farthest from the excepted ones, until so many bytes are free.
    ///
    /// Returns how many bytes are. The database's file stays as large, and is written to before it grows.
    func freeSpace(fromThumbnails bytes: Int64, except kept: Set<PhotoKey>) throws -> Int64 {
        let places = kept.map(\.rawValue).sorted()
        let middle = places.isEmpty ? 0 : places[places.count / 2]
        let all = try mark.watch {
            try writer.read { connection in
                try connection.map("SELECT photo, length(data) + ifnull(length(unproven), 0) FROM thumbnail") {
                    (key: $0.int(0), size: $0.int(1))
                }
            }
        }
        var rest = all.filter { !kept.contains(PhotoKey($0.key)) }
            .sorted { ($0.key - middle).magnitude > ($1.key - middle).magnitude }[...]
        var freed: Int64 = 0
        while freed < bytes, !rest.isEmpty, !Task.isCancelled {
            var keys: [Int64] = []
            while freed < bytes, keys.count < Self.thumbnailsAtOnce, let row = rest.popFirst() {
                keys.append(row.key)
                freed += row.size
            }
            try transaction { try Self.dropThumbnails(keys, $0) }
        }
        return freed
    }

    /// Removes the thumbnails of some photos.
    static func dropThumbnails(_ keys: [Int64], _ connection: Connection) throws {
        let list = keys.keyList
        try connection.run("DELETE FROM thumbnail WHERE photo IN (SELECT value FROM json_each(?))", list)
        try connection.run(
            """
            UPDATE photo SET thumbnail_held = NULL, thumbnail_etag = NULL, thumbnail_last_modified = NULL
            WHERE key IN (SELECT value FROM json_each(?))
            """, list)
    }
}

/// What is written together with whatever else wants to be written at the time.
extension GalleryWriter {
    /// Writes something small, in one transaction with all that is waiting to be written so. It is durable and announced when
    /// this returns, like everything else.
    ///
    /// What one of them finds, that its thumbnail is stale for one, is its own affair. That the disk is full is everybody's.
    ///
    /// - Parameters:
    ///   - size: bytes that it brings.
    ///   - isCancellable: whether a task that is cancelled before it is begun writes nothing, and throws.
    ///   - body: may be done a second time, when nothing is left of the first.
    nonisolated func together(
        size: Int = 0, isCancellable: Bool = true, _ body: @escaping @Sendable (Connection) throws -> Bool
    ) async throws -> Bool {
        try await shared.add(size: size, isCancellable: isCancellable, call: callForShared, body)
    }

    private nonisolated func callForShared() {
        executor.run { self.assumeIsolated { $0.writeShared() } }
    }

    private func writeShared() {
        write(shared.take())
        // Not at once: whoever else wants something of the writer is before those who came last.
        if shared.hasMore() { callForShared() }
    }

    private func write(_ writes: [SharedWrites.Write]) {
        guard !writes.isEmpty else { return }
        do {
            let results = try transaction { connection in try writes.map { try $0.body(connection) } }
            for (write, result) in zip(writes, results) { write.end(.success(result)) }
        } catch  where writes.count > 1 && CacheError(thrown: error)?.isTransient != true {
            // It is one's own: a page that only its row lies on is damaged. The others have nothing to do with it.
            for write in writes { self.write([write]) }
        } catch {
            for write in writes { write.end(.failure(error)) }
        }
    }
}
