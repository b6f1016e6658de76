import Cache
import Concurrency
import Formats
import HTTP
import Logging
import Model

/// Parses a gallery's list on a queue with lower priority than screens. A ``ListComparer`` compares the photos
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
    /// The name of the gallery, if the list states one; otherwise nil.
    private(set) var galleryName: String?
    private var skipped = 0
    /// The number of lines written to the log.
    private var notes = 0
    /// Whether the first photos are being committed. The draft must not change meanwhile.
    private var isCommitting = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// The maximum number of log lines for one list. Each of a million photos may have a mistake.
    private static let maximumNotes = 1_000

    private let executor = QueueExecutor(label: "vitrine.list.comparison", qos: .utility)

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - scopes: the folders that the list covers; nil for all folders.
    ///   - address: the address of the list.
    init(_ cache: GalleryCache, address: Address, within scopes: [FolderScope]? = nil, log: Log) throws {
        draft = try cache.beginSync(from: address, within: scopes)
        self.address = address
        self.log = log
    }

    /// Adds photos. Returns the number of photos so far.
    @discardableResult
    func add(_ photos: WrittenPhotos) throws -> Int {
        try Task.checkCancellation()
        var photos = photos
        try draft.add(&photos)
        galleryName = photos.galleryName ?? galleryName
        skipped += photos.skipped.count
        note(
            photos.skipped.prefix(Self.maximumNotes).map { "line \($0.line): photo skipped: \($0.reason)" }
                + photos.remarks.prefix(Self.maximumNotes).map { "line \($0.line): \($0.reason)" })
        return draft.count
    }

    /// Adds the photos of folders. Returns the number of photos so far.
    func add(_ folders: [FolderEntries]) throws -> Int {
        for folder in folders { try add(folder) }
        return draft.count
    }

    private func add(_ entries: FolderEntries) throws {
        try Task.checkCancellation()
        var entries = entries
        try draft.add(&entries)
        if let failure = entries.failure {
            // The folder's photos may still be there, so they stay.
            try draft.keep(FolderScope(folder: entries.folder, isDeep: true))
            skipped += 1
            note(["\(entries.folder.isEmpty ? "the folder" : entries.folder) cannot be read: \(failure)"])
        }
        skipped += entries.skipped.count
        note(entries.skipped.map { "\($0): photo skipped: the path is too long" })
    }

    /// Adds photos of a server. Returns the number of photos so far.
    @discardableResult
    func add(_ listing: some ServerListing) async throws -> Int {
        await waitForCommit()
        try Task.checkCancellation()
        var listing = listing
        try draft.add(&listing)
        skipped += listing.skipped.count
        note(listing.skipped.map { "\($0): photo skipped: the address is too long" })
        return draft.count
    }

    /// Keeps photos that were not added, unless their part has lost them.
    ///
    /// - Parameter members: for each part that may have lost photos, the ids of the photos that it still has.
    func keepAll(exceptOutside members: [String: Set<String>]) throws {
        try draft.keepAll(exceptOutside: members)
    }

    /// Whether any photo so far is new or has changed.
    var hasChanges: Bool { draft.hasChanges }

    /// Counts and logs paths whose names cannot be part of an address.
    func skip(_ paths: [String]) async throws {
        guard !paths.isEmpty else { return }
        await waitForCommit()
        skipped += paths.count
        note(paths.prefix(Self.maximumNotes).map { "\($0): skipped: its name cannot be part of an address" })
    }

    /// Keeps the photos in a part of the gallery.
    ///
    /// - Parameter reason: the reason why the part could not be read; nil if it has not changed.
    func keep(_ part: FolderScope, because reason: Failure? = nil) async throws {
        await waitForCommit()
        try draft.keep(part)
        guard let reason else { return }
        skipped += 1
        note(["\(part.name) is incomplete: \(reason)"])
    }

    /// The number of photos so far.
    var count: Int { draft.count }

    /// Commits the photos so far, if the gallery was empty. Additions wait until the commit has ended.
    ///
    /// - Parameters:
    ///   - source: the place from which the list comes; nil if the last commit of the update stores the place.
    ///   - head: the head of an answer with these photos; nil for a folder on this machine.
    func commitBeginning(
        in cache: GalleryCache, from source: ListSource? = nil, after head: HTTPResponse?, at time: Timestamp
    ) async throws {
        await waitForCommit()
        guard let beginning = try draft.takeBeginning() else { return }
        isCommitting = true
        defer {
            isCommitting = false
            for waiter in waiters { waiter.resume() }
            waiters = []
        }
        let summary = try await cache.writer.commit(
            beginning, skipped: 0, validators: Validators(), isPrivate: head?.isPrivate ?? true,
            isPublic: head?.beganPublic ?? false, source: source, at: time)
        try draft.resume(after: summary)
    }

    private func waitForCommit() async {
        while isCommitting { await withCheckedContinuation { waiters.append($0) } }
    }

    private func note(_ noted: [String]) {
        for text in noted.prefix(Self.maximumNotes - notes) { log.info(.xml, "\(address), \(text)") }
        if notes < Self.maximumNotes, notes + noted.count >= Self.maximumNotes {
            log.info(.xml, "\(address): further mistakes in this list are not logged")
        }
        notes = min(notes + noted.count, Self.maximumNotes)
    }

    /// Ends the comparison. Returns the changes and the number of skipped entries.
    ///
    /// - Parameters:
    ///   - parts: the parts that were read whole; nil if the whole list was read.
    ///   - keepsOthers: whether photos that were not added stay in the gallery.
    func finish(
        onlyWithin parts: [FolderScope]? = nil, keepsOthers: Bool = false
    ) throws -> (changes: SyncChanges, skipped: Int) {
        (try draft.finish(onlyWithin: parts, keepsOthers: keepsOthers), skipped)
    }
}

/// The photos in a piece of a server's list.
protocol ServerListing: WrittenEntries {
    /// The ids of photos whose addresses are too long.
    var skipped: [String] { get }
}

extension FolderListing: ServerListing {}
extension LibraryListing: ServerListing {}
