import Cache
import Formats
import Logging
import Model
import Concurrency

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
