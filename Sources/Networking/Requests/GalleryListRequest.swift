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

/// Fetches a gallery's list and makes the cache say what it says.
public struct GalleryListRequest: NetworkRequest {
    /// What it fetches: there is one list, and no edition of it.
    public let identity: RequestIdentity
    /// Where it lies.
    public var address: Address { cache.address }
    /// What the rest follows from.
    public var kind: TransferKind { .list }
    /// A list's failure is the gallery's, and stands in no list's way.
    public let hasFailedBefore = true
    /// Most of the time a list that is here has not changed.
    public let isAskedAfter: Bool
    private let cache: GalleryCache
    /// Who asks.
    private let signIn: SignIn?
    private let context: RequestContext

    /// A gallery's list is small text, but a gallery may be large.
    static let limit: ByteCount = 1 << 30

    /// Serves wishes for lists. A list is always wanting: only the server knows whether it has changed.
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

    /// Asks whether the list has changed, where one is held.
    public func plan() throws -> FetchPlan {
        let record = try cache.read { try $0.gallery() }
        return FetchPlan(
            address: try listAddress(), signIn: signIn, validators: Self.validators(in: record), limit: Self.limit,
            addressPolicy: cache.listAddressPolicy(wasPublic: record.wasPublic), isNamedByUser: true,
            wasPublic: record.wasPublic,
            allowsCompression: true)
    }

    /// Reads the list as it comes, compares, and commits at its end.
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

    /// Reads the body as it comes. Each piece is compared while the next one is read.
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

    /// Whether the cache says what a list with these validators says.
    private func isHeld(_ validators: Validators) throws -> Bool {
        try validators != Validators() && Self.validators(in: cache) == validators
    }

    /// Those of the list that is held.
    private static func validators(in cache: GalleryCache) throws -> Validators {
        validators(in: try cache.read { try $0.gallery() })
    }

    private static func validators(in record: GalleryRecord) -> Validators {
        record.lastSuccess == nil ? Validators() : record.validators
    }

    /// Shows that an update is running.
    public func noteBegun() {
        context.activity.setPhase(.getting(Progress(done: 0), entries: 0), of: cache.id)
    }

    /// Shows that it has ended; how, the cache says.
    public func noteDone() {
        context.activity.noteEnd(of: cache.id)
    }

    /// Keeps the failure beside the last success, for whoever looks while we wait, or after.
    public func notePutOff(_ failure: Failure) async {
        context.log.info(.network, "\(cache.address): \(failure); to be tried again")
        await noteInCache(failure)
    }

    /// Shows what it waits for, and until when.
    public func noteWaiting(_ failure: Failure, until time: Timestamp?) {
        context.activity.setPhase(.waiting(failure, until: time), of: cache.id)
    }

    /// Keeps the failure beside the last success.
    public func noteFailed(_ failure: Failure) async {
        context.log.error(.network, "\(cache.address): \(failure)")
        await noteInCache(failure)
        await context.note(failure.question, afterSaying: signIn, in: cache)
    }

    /// Shows that the user stopped it.
    public func noteCancelled() {
        context.activity.noteEnd(of: cache.id, cancelled: true)
    }

    private func noteInCache(_ failure: Failure) async {
        do {
            try await cache.writer.recordSyncFailure(failure)
        } catch {
            context.log.error(.cache, "\(error)")
            context.activity.setFailure(failure, of: cache.id)
        }
    }

    /// A folder's list is the file in it that `vitrine publish` makes, or one by the usual name.
    private func listAddress() throws -> Address {
        guard cache.isFolder, let path = cache.address.filePath else { return cache.address }
        for name in ["gallery.xml", "index.xml"] where access(path + "/" + name, R_OK) == 0 {
            return cache.address.appending(name)
        }
        throw RequestError.transfer(
            .file("the folder holds neither gallery.xml nor index.xml; “vitrine publish” makes a list of its photos"))
    }
}

/// Reads one gallery's list: bytes in, photos out, as they were written.
///
/// That is work for a processor, so it has a queue of its own below the screens', and neither the network nor anything drawn
/// waits for it. Another compares meanwhile what this one has read; see ``ListComparer``.
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

/// Compares one gallery's list with the cache: photos in, what they change out.
actor ListComparer {
    private let draft: SyncDraft
    private let log: Log
    private let address: Address
    private var skipped = 0
    /// Lines in the log so far.
    private var notes = 0

    /// The most lines in the log of one list: each of a million photos may have a mistake.
    private static let maximumNotes = 1_000

    private let executor = QueueExecutor(label: "vitrine.list.comparison", qos: .utility)

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter address: where the list was read from, for the log.
    init(_ cache: GalleryCache, address: Address, log: Log) throws {
        draft = try cache.beginSync()
        self.address = address
        self.log = log
    }

    /// Returns how many photos have come so far.
    @discardableResult
    func add(_ photos: WrittenPhotos) throws -> Int {
        try Task.checkCancellation()
        var photos = photos
        try draft.add(&photos)
        skipped += photos.skipped.count
        let noted =
            photos.skipped.prefix(Self.maximumNotes).map { "line \($0.line): photo skipped: \($0.reason)" }
            + photos.remarks.prefix(Self.maximumNotes).map { "line \($0.line): \($0.reason)" }
        for text in noted.prefix(Self.maximumNotes - notes) { log.info(.xml, "\(address), \(text)") }
        if notes < Self.maximumNotes, notes + noted.count >= Self.maximumNotes {
            log.info(.xml, "\(address): further mistakes in this list are not noted")
        }
        notes = min(notes + noted.count, Self.maximumNotes)
        return draft.count
    }

    func finish() throws -> (changes: SyncChanges, skipped: Int) {
        (try draft.finish(), skipped)
    }
}
