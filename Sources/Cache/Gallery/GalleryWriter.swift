import Concurrency
import Logging
import Model
import SQLite
import Session
import Synchronization
import Towns

/// Makes all changes to a gallery's cache.
///
/// Each method is one transaction. When it returns, the changes are durable and published. Small frequent writes share
/// a transaction. The writer runs on a queue of its own, so callers do not block a thread, and readers do not wait.
public actor GalleryWriter {
    private let writer: Writer
    /// The reason why the database is read-only; nil if it is writable.
    private let frozen: StorageTrouble?
    /// Whether the database is read-only.
    var isFrozen: Bool { frozen != nil }
    /// The files of the gallery's photos. The writer's extensions add and remove files.
    let files: PhotoFiles
    private let mark: DamageMark
    /// The lock that signals each commit. The reference is weak, because the lock belongs to the cache and must end
    /// with the cache.
    private weak var lock: CacheLock?
    /// The log, in which the writer's extensions report errors.
    let log: Log
    private var announcements: Announcements
    private let activity: Activity
    /// The file with the user's own ratings; nil if only the rows contain them. An extension reads and writes the file.
    let ratingFile: RatingFile?
    /// The table of towns; nil if it is not installed. An extension finds photos' towns in the table.
    let towns: TownTable?
    /// Whether the writer has logged an error of the table of towns. The extension that finds towns sets this property.
    var hasLoggedTowns = false
    /// Counts written bytes, for the size limit of the caches.
    let space: CacheSpace
    /// The small writes that wait for a shared transaction.
    private let shared = SharedWrites()
    /// Whether writes no longer wait long for other processes.
    private let isEnding = Atomic(false)
    /// Whether a write has waited in vain since then. Later writes do not wait.
    private var hasGivenUp = false
    private let executor = QueueExecutor(label: "vitrine.cache.writer")

    /// A serial queue of this actor's own, because disk access blocks.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        writer: sending Writer, frozen: StorageTrouble?, files: PhotoFiles, ratingFile: RatingFile?, towns: TownTable?,
        mark: DamageMark, lock: CacheLock, space: CacheSpace, log: Log, activity: Activity
    ) throws {
        announcements = try mark.watch { try writer.read { try Announcements($0) } }
        self.writer = writer
        self.frozen = frozen
        self.files = files
        self.ratingFile = ratingFile
        self.towns = towns
        self.mark = mark
        self.lock = lock
        self.log = log
        self.activity = activity
        self.space = space
    }

    /// The number of pages in the log that starts a checkpoint. A checkpoint moves the pages into the database.
    private static let checkpointPages = 1_000
    /// The number of pages in the log at which a checkpoint also truncates the log. A first update makes the log as
    /// large as the database.
    private static let largeLogPages = 4_000

    /// The longest time for which a write waits for another process. That process may commit a very long list.
    private static let patience = Duration.seconds(300)

    /// Runs a transaction and publishes its changes. Afterwards makes a checkpoint if the log is long.
    @discardableResult
    func transaction<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        // Read other processes' commits first, because the commit of this transaction would hide them.
        listenToOthers()
        let result: Result
        do {
            if let frozen { throw frozen.error }
            result = try mark.watch { try repairingIndex(body) }
        } catch {
            // All writes pass here, so this is the place to report storage problems.
            if let trouble = CacheError(thrown: error).flatMap(StorageTrouble.init) { activity.report(trouble) }
            throw error
        }
        lock?.signalCommit()
        // Other processes may have signalled meanwhile, and the signal of this commit would hide their signals.
        listenToOthers()
        checkpointIfDue()
        return result
    }

    /// Reads the database.
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try mark.watch { try writer.read(body) }
    }

    private func listenToOthers() {
        do { try announceOthers() } catch { log.error(.cache, "\(error)") }
    }

    /// Runs a transaction. If the search index is damaged, rebuilds the index and tries again.
    private func repairingIndex<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        do {
            return try announced(body)
        } catch SQLiteError.damagedIndex(let reason) {
            log.error(.cache, "the search index is damaged (\(reason)) and will be rebuilt")
            try writer.transaction(PhotoText.rebuild)
            return try announced(body)
        }
    }

    private func announced<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        guard !hasGivenUp else { throw SQLiteError.locked }
        let before = announcements
        let deadline = ContinuousClock.now + Self.patience
        do {
            return try writer.transaction(mayWait: { mayWait(until: deadline) }, body) { try announcements.add($1, $0) }
        } catch {
            // The announcement was rolled back, too.
            announcements = before
            throw error
        }
    }

    /// Returns whether a write that needs another process's lock may wait longer.
    private func mayWait(until deadline: ContinuousClock.Instant) -> Bool {
        if isEnding.load(ordering: .relaxed) {
            hasGivenUp = true
            return false
        }
        guard ContinuousClock.now < deadline, !Task.isCancelled else { return false }
        log.info(.cache, "waiting until another process has written to the cache")
        return true
    }

    /// Makes the next write wait only a few seconds for other processes, and later writes not at all. Call this method
    /// before the program ends.
    public nonisolated func stopWaiting() { isEnding.store(true, ordering: .relaxed) }

    /// Publishes the commits of other processes. Returns true if there were new commits.
    @discardableResult
    func announceOthers() throws -> Bool {
        try mark.watch {
            // An empty log shows that a process emptied it after an update, which also changes `data_version`.
            let mayBeSilent = !writer.isLogEmpty
            // Read in one transaction, so that the announcements match the version.
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
            // The commit is valid nevertheless. The log grows until a checkpoint succeeds.
            log.error(.cache, "checkpoint failed: \(error)")
        }
    }

    /// Records that the user opened the gallery.
    ///
    /// - Parameter album: the gallery's name, if the gallery is an album of a server; nil to keep the known name.
    public func recordOpened(at time: Timestamp, album: String? = nil) throws {
        try transaction {
            try $0.run(
                "UPDATE gallery SET last_opened = ?, album_name = ifnull(?, album_name)", time.milliseconds, album)
            try takeRatings(areNew: false, $0)
        }
    }

    /// Records that the user left the gallery. Photos that arrive later count as new.
    public func recordLeft() throws {
        // Row numbers are never reused, so later photos have higher numbers than the last photo, even if it is removed.
        try transaction {
            try $0.run("UPDATE gallery SET seen_through = (SELECT seq FROM sqlite_sequence WHERE name = 'photo')")
        }
    }

    /// Marks the gallery to be kept when space is short, or removes the mark.
    public func toggleKept() throws {
        try transaction { try $0.run("UPDATE gallery SET is_kept = NOT is_kept") }
        space.requestCount()
    }

    /// Records that an update failed.
    public func recordSyncFailure(_ failure: Failure) throws {
        try transaction {
            try $0.run(
                "UPDATE gallery SET failure = ?, failure_remedy = ?", failure.reason, failure.remedy.rawValue)
        }
    }

    /// Records that the list has not changed, because the server answered 304 (Not Modified).
    ///
    /// - Parameters:
    ///   - isPrivate: whether the answer came from this machine or a private network; nil if unknown. A private answer
    ///     about a public list proves nothing, because the host name may lead elsewhere now. Then the next update
    ///     fetches the whole list.
    ///   - isPublic: whether the gallery's address led to a public server. The cache remembers this until it is
    ///     cleared.
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
            try takeRatings(areNew: false, $0)
        }
    }

    /// The SQL assignments that remove the file from a photo's row.
    static let withoutFile = """
        photo_file = NULL, photo_size = NULL, photo_digest = NULL, photo_held = NULL, photo_etag = NULL, \
        photo_last_modified = NULL
        """

    /// The SQL condition for photos with a file in the cache.
    ///
    /// It leaves out photos that stay in the user's folder.
    static let isCopied = "photo_file <> '\(StoredPhoto.inPlace)'"

    /// Removes all photo files, or all data except the gallery's row. Returns the number of removed files.
    ///
    /// If `photosOnly` is false, the cache also forgets that the user opened the gallery, or marked it to be kept, that
    /// the gallery was public, and which photos the user has seen. See ``GalleryRecord/isEmptied``.
    @discardableResult
    public func clear(photosOnly: Bool) throws -> Int {
        let names = try transaction { connection in
            let names = try connection.map("SELECT photo_file FROM photo WHERE \(Self.isCopied)") { $0.text(0) }
            try connection.run("UPDATE photo SET \(Self.withoutFile) WHERE \(Self.isCopied)")
            if !photosOnly {
                // The statements have conditions, because SQLite does not report a DELETE of all rows.
                try connection.run("DELETE FROM thumbnail WHERE photo > 0")
                try connection.run("DELETE FROM metadata WHERE photo > 0")
                try connection.run("DELETE FROM exported WHERE photo > 0")
                try connection.run("DELETE FROM photo WHERE key > 0")
                try PhotoText.rebuild(connection)
                try ListSource.remove(connection)
                try AlbumList.remove(connection)
                try connection.run(
                    """
                    UPDATE gallery SET photo_count = 0, skipped = 0, last_success = NULL, last_opened = NULL,
                                       failure = NULL, etag = NULL, last_modified = NULL, is_private = NULL,
                                       was_public = 0, is_kept = 0, seen_through = NULL,
                                       list_version = list_version + 1
                    """)
            }
            return names
        }
        for name in names { files.remove(name) }
        return names.count
    }

    /// Returns the faults that SQLite finds; an intact database has no faults.
    ///
    /// If the database is damaged, the next opening sets it aside.
    public func complaints() throws -> [String] {
        do {
            let complaints = try read { connection in
                try connection.map("PRAGMA integrity_check(20)") { $0.text(0) }.filter { $0 != "ok" }
            }
            if !complaints.isEmpty { mark.set() }
            return complaints
        } catch CacheError.database(.damaged(let reason)) {
            // The database is too damaged for the check itself.
            return [reason]
        }
    }

    /// Moves the log into the database file, so that the next start need not read the log. Call this method at the end
    /// of the program.
    ///
    /// - Parameter patience: the time to wait for other processes, in milliseconds. While the method waits for their
    ///   reads, they cannot write.
    public func close(patience: Int32 = Connection.patience) {
        guard frozen == nil else { return }
        do {
            try writer.checkpoint(emptying: true, patience: patience)
        } catch {
            log.error(.cache, "last checkpoint failed: \(error)")
        }
    }
}

/// Frees space in an open gallery when the caches exceed their limit. Vitrine fetches the removed pictures again on
/// demand.
extension GalleryWriter {
    /// Removes the oldest photos until this many bytes are free. Returns the number of freed bytes.
    ///
    /// The result is smaller if only the photos in `kept` remain, or if the task was cancelled.
    ///
    /// - Parameter size: removes only files with more bytes than this.
    func freeSpace(fromPhotos bytes: Int64, largerThan size: Int64 = -1, except kept: Set<PhotoKey>) throws -> Int64 {
        let photos = ClosedGalleryCache.photosByAge(in: files.photosFolder)
            .compactMap { file -> (item: PhotoKey, size: Int64)? in
                guard file.size > size, let key = PhotoFiles.key(in: file.name), !kept.contains(key) else { return nil }
                return (item: key, size: file.size)
            }
        return try RemovalSteps.free(bytes, from: photos, atOnce: RemovalSteps.photosAtOnce) { keys in
            try dropPhotos(keys)
        }
    }

    /// Removes a photo's file if it exceeds a quarter of the caches' limit. Returns whether the file was removed.
    @discardableResult
    public func dropLargePhoto(_ key: PhotoKey) throws -> Bool {
        guard let limit = space.limit, let stored = try read({ try CacheReader($0).photoFile(of: key) }),
            stored.original == nil, stored.size > CacheBudget.largest(within: limit), try dropPhotos([key]) > 0
        else { return false }
        space.requestCount()
        return true
    }

    /// Removes thumbnails until this many bytes are free. Starts with the row numbers farthest from the middle of
    /// the kept row numbers.
    ///
    /// Returns the number of freed bytes. The file keeps its size, and SQLite reuses the free space in it.
    func freeSpace(fromThumbnails bytes: Int64, except kept: Set<PhotoKey>) throws -> Int64 {
        let keys = kept.map(\.rawValue).sorted()
        let middle = keys.isEmpty ? 0 : keys[keys.count / 2]
        let all = try read { connection in
            try connection.map("SELECT photo, length(data) + ifnull(length(unproven), 0) FROM thumbnail") {
                (item: $0.int(0), size: $0.size(1) ?? 0)
            }
        }
        let thumbnails = all.filter { !kept.contains(PhotoKey($0.item)) }
            .sorted { ($0.item &- middle).magnitude > ($1.item &- middle).magnitude }
        return try RemovalSteps.free(bytes, from: thumbnails, atOnce: RemovalSteps.thumbnailsAtOnce) { keys in
            try transaction { try Self.dropThumbnails(keys, $0) }
        }
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

/// Small writes that share a transaction.
extension GalleryWriter {
    /// Performs a small write in a transaction that other writes share. When the method returns, the write is durable
    /// and published.
    ///
    /// If the body throws, only its own write fails. If the disk is full, all writes of the transaction fail.
    ///
    /// - Parameters:
    ///   - size: the number of bytes to write.
    ///   - isCancellable: whether to skip the write, and throw an error, if the task is cancelled before the
    ///     transaction.
    ///   - body: performs the write. It may run a second time after a rollback.
    nonisolated func shareTransaction(
        size: Int = 0, isCancellable: Bool = true, _ body: @escaping @Sendable (Connection) throws -> Bool
    ) async throws -> Bool {
        try await shared.add(size: size, isCancellable: isCancellable, call: callForShared, body)
    }

    private nonisolated func callForShared() {
        executor.run { self.assumeIsolated { $0.writeShared() } }
    }

    private func writeShared() {
        write(shared.take())
        // Do not continue directly, so that other calls of the writer get their turn.
        if shared.hasMore() { callForShared() }
    }

    private func write(_ writes: [SharedWrites.Write]) {
        guard !writes.isEmpty else { return }
        do {
            let results = try transaction { connection in try writes.map { try $0.body(connection) } }
            for (write, result) in zip(writes, results) { write.end(.success(result)) }
        } catch  where writes.count > 1 && CacheError(thrown: error)?.isTransient != true {
            // The cause may be one of the writes, such as a write to a damaged page. So repeat each write in its own
            // transaction.
            for write in writes { self.write([write]) }
        } catch {
            for write in writes { write.end(.failure(error)) }
        }
    }
}

/// Collects small writes for one transaction.
///
/// Each commit waits for the disk, and a fast network delivers a thousand thumbnails a second. Writes that arrive
/// during a transaction share the next one. A single write does not wait for others.
final class SharedWrites: Sendable {
    /// A pending write.
    struct Write: Sendable {
        fileprivate let number: Int
        /// The number of bytes to write.
        fileprivate let size: Int
        /// Performs the write. The closure may run a second time after a rollback.
        let body: @Sendable (Connection) throws -> Bool
        fileprivate let continuation: CheckedContinuation<Bool, any Error>

        /// Resumes the caller with a result. Call this method after the commit.
        func end(_ result: Result<Bool, any Error>) { continuation.resume(with: result) }
    }

    private struct State {
        /// The pending writes, in order of arrival.
        var waiting: [Write] = []
        var lastNumber = 0
        /// Whether the writer has been called and has not yet found the queue empty.
        var isCalled = false
    }

    /// The maximum number of writes per transaction. The number matches the network's limit of requests. The limit is
    /// necessary, because other calls of the writer wait for the transaction.
    static let largestCount = 256
    /// The maximum number of bytes per transaction, unless a single write is larger.
    static let largestSize = 4 << 20

    private let state = Mutex(State())

    /// Queues a write, waits for its commit, and returns its result.
    ///
    /// - Parameters:
    ///   - isCancellable: whether to skip the write, and throw `CancellationError`, if the task is cancelled before the
    ///     transaction.
    ///   - call: makes the writer process the queue. `add` calls it again only after the writer has found the queue
    ///     empty.
    func add(
        size: Int, isCancellable: Bool, call: () -> Void, _ body: @escaping @Sendable (Connection) throws -> Bool
    ) async throws -> Bool {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let write = Write(number: number, size: size, body: body, continuation: continuation)
                let (isTaken, isFirst) = state.withLock { state in
                    // A later cancellation will find the write in the queue.
                    if isCancellable, Task.isCancelled { return (false, false) }
                    state.waiting.append(write)
                    defer { state.isCalled = true }
                    return (true, !state.isCalled)
                }
                if !isTaken { write.end(.failure(CancellationError())) }
                if isFirst { call() }
            }
        } onCancel: {
            if isCancellable { cancel(number) }
        }
    }

    private func cancel(_ number: Int) {
        let write = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        write?.end(.failure(CancellationError()))
    }

    /// Removes the writes for the next transaction from the queue and returns them.
    func take() -> [Write] {
        state.withLock { state in
            var size = 0
            let count = state.waiting.prefix(Self.largestCount).prefix { write in
                defer { size += write.size }
                return size == 0 || size + write.size <= Self.largestSize
            }.count
            defer { state.waiting.removeFirst(count) }
            return Array(state.waiting.prefix(count))
        }
    }

    /// Whether the queue has more writes. If the queue is empty, the next `add` calls the writer again.
    func hasMore() -> Bool {
        state.withLock { state in
            state.isCalled = !state.waiting.isEmpty
            return state.isCalled
        }
    }
}
