import Cache
import Concurrency
import Formats
import Glibc
import HTTP
import Logging
import Model
import Numbers
import Scheduling
import Session

/// Fetches a gallery's list and updates the cache.
public struct GalleryListRequest: TransferRequest {
    /// The list as the subject. A list has no editions.
    public let identity: RequestIdentity
    /// The address of the gallery.
    public var address: Address { cache.address }
    /// The kind of transfer: a list, on which other requests depend.
    public var kind: TransferKind { .list }
    /// True, because a list's failure is stored with the gallery and never prevents a request.
    public let hasFailedBefore = true
    /// Whether the cache holds a list, which has probably not changed.
    public let isAskedAfter: Bool
    private let cache: GalleryCache
    /// The credentials to send; nil to send none.
    private let signIn: SignIn?
    private let context: RequestContext

    /// The most bytes of a list. The text is compact, but a gallery may be large.
    static let limit: ByteCount = 1 << 30

    /// Creates a request for a list. The request is always needed, because only the server knows whether the list has
    /// changed. Returns nil for a wish of another kind.
    public static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
        guard case .list(let gallery) = subject, let cache = context.caches.cache(gallery) else { return nil }
        return Self(
            identity: RequestIdentity(subject), isAskedAfter: try Self.validators(in: cache) != Validators(),
            cache: cache, context: context)
    }

    private init(identity: RequestIdentity, isAskedAfter: Bool, cache: GalleryCache, context: RequestContext) {
        self.identity = identity
        self.isAskedAfter = isAskedAfter
        self.cache = cache
        signIn = cache.signIn(for: cache.address)
        self.context = context
    }

    /// Returns a plan that fetches the list, unless it is unchanged since the cached one.
    public func plan() throws -> FetchPlan {
        let record = try cache.read { try $0.gallery() }
        return FetchPlan(
            address: cache.listFile ?? cache.address, signIn: signIn, validators: Self.validators(in: record),
            limit: Self.limit,
            addressPolicy: cache.listAddressPolicy(wasPublic: record.wasPublic), isNamedByUser: true,
            wasPublic: record.wasPublic,
            allowsCompression: true)
    }

    /// Reads and compares the list, and commits the changes at its end.
    public func process(_ response: inout Response) async throws {
        guard !response.isUnchanged else {
            try await cache.writer.recordUnchanged(
                isPrivate: response.head.isPrivate, isPublic: response.head.beganPublic, at: context.now())
            return context.log.info(.sync, "\(cache.address): unchanged")
        }
        let (changes, skipped) = try await read(&response)
        try Task.checkCancellation()
        context.activity.setPhase(.committing, of: cache.id)
        let summary: SyncSummary
        do {
            summary = try await cache.writer.commit(
                changes, skipped: skipped, validators: response.validators, isPrivate: response.head.isPrivate,
                isPublic: response.head.beganPublic, at: context.now())
        } catch CacheError.conflict {
            guard try isHeld(response.validators) else { throw CacheError.conflict }
            return context.log.info(.sync, "\(cache.address): another process has just stored this list")
        }
        context.log.info(
            .sync,
            """
            \(cache.address): \(summary.total) photos, \(summary.added) added, \(summary.changed) changed, \
            \(summary.removed) removed, \(summary.skipped) skipped
            """)
    }

    /// Reads the body piece by piece. Compares each piece while parsing the next.
    private func read(_ response: inout Response) async throws -> (changes: SyncChanges, skipped: Int) {
        let reader = ListReader(base: response.address)
        let comparer = try ListComparer(cache, address: response.address, log: context.log)
        var progress = Progress(done: 0, total: response.head.length)
        var count = 0
        var progressLimit = RateLimit(interval: .milliseconds(250))
        var photos: WrittenPhotos?
        while let bytes = try await response.nextBytes() {
            async let next = reader.read(bytes)
            if let photos { count = try await comparer.add(photos) }
            photos = try await next
            progress.done += ByteCount(bytes.count)
            if progressLimit.isDue() { context.activity.setPhase(.getting(progress, entries: count), of: cache.id) }
        }
        if let photos { count = try await comparer.add(photos) }
        context.activity.setPhase(.parsing(entries: count), of: cache.id)
        try await comparer.add(try await reader.finish())
        return try await comparer.finish()
    }

    /// Whether the cache holds the list with these validators.
    private func isHeld(_ validators: Validators) throws -> Bool {
        try validators != Validators() && Self.validators(in: cache) == validators
    }

    /// Returns the server's validators for the cached list.
    private static func validators(in cache: GalleryCache) throws -> Validators {
        validators(in: try cache.read { try $0.gallery() })
    }

    private static func validators(in record: GalleryRecord) -> Validators {
        record.lastSuccess == nil ? Validators() : record.validators
    }

    /// Shows that an update runs.
    public func showStarted() {
        context.activity.setPhase(.getting(Progress(done: 0), entries: 0), of: cache.id)
    }

    /// Shows that the update has ended. The cache holds the result.
    public func showDone() {
        context.activity.endUpdate(of: cache.id)
    }

    /// Records the failure beside the last success.
    public func recordPostponement(_ failure: Failure) async {
        context.log.info(.network, "\(cache.address): \(failure); will retry")
        await record(failure)
    }

    /// Shows the wait for a retry, and the time when it ends.
    public func showWaiting(_ failure: Failure, until time: Timestamp?) {
        context.activity.setPhase(.waiting(failure, until: time), of: cache.id)
    }

    /// Records the failure beside the last success. Asks the user for credentials if the server requires some.
    public func recordFailure(_ failure: Failure) async {
        context.log.error(.network, "\(cache.address): \(failure)")
        await record(failure)
        await context.ask(failure.question, afterSaying: signIn, in: cache)
    }

    /// Shows that the user stopped the update.
    public func showCancelled() {
        context.activity.endUpdate(of: cache.id, cancelled: true)
    }

    private func record(_ failure: Failure) async {
        do {
            try await cache.writer.recordSyncFailure(failure)
        } catch {
            context.log.error(.cache, "\(error)")
            context.activity.setFailure(failure, of: cache.id)
        }
    }
}

/// Parses a gallery's list on a queue with lower priority than screens. A ``ListComparer`` compares its photos
/// meanwhile.
actor ListReader {
    private let parser: GalleryXMLParser
    private let executor = QueueExecutor(label: "vitrine.list", qos: .utility)

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(base: Address) {
        parser = GalleryXMLParser(base: base)
    }

    func read(_ bytes: [UInt8]) throws -> WrittenPhotos {
        try parser.parse(bytes, isCancelled: { Task.isCancelled })
    }

    func finish() throws -> WrittenPhotos {
        try parser.finish()
    }
}

/// Compares a gallery's list with the cache and collects the changes.
actor ListComparer {
    private let draft: SyncDraft
    private let log: Log
    private let address: Address
    private var skipped = 0
    /// The number of lines written to the log.
    private var notes = 0

    /// The most log lines for one list. Each of a million photos may have a mistake.
    private static let maximumNotes = 1_000

    private let executor = QueueExecutor(label: "vitrine.list.comparison", qos: .utility)

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - scopes: the folders that the list covers; nil for all.
    ///   - address: the address of the list, for the log.
    init(_ cache: GalleryCache, address: Address, within scopes: [FolderScope]? = nil, log: Log) throws {
        draft = try cache.beginSync(within: scopes)
        self.address = address
        self.log = log
    }

    /// Adds photos. Returns the number of photos so far.
    @discardableResult
    func add(_ photos: WrittenPhotos) throws -> Int {
        try Task.checkCancellation()
        var photos = photos
        try draft.add(&photos)
        skipped += photos.skipped.count
        note(
            photos.skipped.prefix(Self.maximumNotes).map { "line \($0.line): photo skipped: \($0.reason)" }
                + photos.remarks.prefix(Self.maximumNotes).map { "line \($0.line): \($0.reason)" })
        return draft.count
    }

    /// Adds the photos of a folder and returns how many have come so far.
    func add(_ entries: FolderEntries) throws -> Int {
        try Task.checkCancellation()
        var entries = entries
        try draft.add(&entries)
        if let failure = entries.failure {
            // Its photos may still be there, so they stay.
            try draft.keep(below: entries.folder)
            skipped += 1
            note(["\(entries.folder.isEmpty ? "the folder" : entries.folder) cannot be read: \(failure)"])
        }
        skipped += entries.skipped.count
        note(entries.skipped.map { "\($0): photo skipped: the path is too long" })
        return draft.count
    }

    /// Commits the photos so far, if the gallery was empty.
    func commitBeginning(in cache: GalleryCache, at time: Timestamp) async throws {
        guard let beginning = try draft.takeBeginning() else { return }
        let summary = try await cache.writer.commit(beginning, skipped: 0, validators: Validators(), at: time)
        try draft.resume(after: summary)
    }

    private func note(_ noted: [String]) {
        for text in noted.prefix(Self.maximumNotes - notes) { log.info(.xml, "\(address), \(text)") }
        if notes < Self.maximumNotes, notes + noted.count >= Self.maximumNotes {
            log.info(.xml, "\(address): further mistakes in this list are not logged")
        }
        notes = min(notes + noted.count, Self.maximumNotes)
    }

    func finish() throws -> (changes: SyncChanges, skipped: Int) {
        (try draft.finish(), skipped)
    }
}
