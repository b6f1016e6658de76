import Cache
import Formats
import Logging
import Model
import Streams

/// Compares one gallery's list with the cache: photos in, what they change out.
actor ListComparer {
    private let draft: SyncDraft
    private let log: Log
    private let address: Address
    private var skipped = 0
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
        for photo in photos.skipped { log.info(.xml, "\(address), line \(photo.line): photo skipped: \(photo.reason)") }
        for remark in photos.remarks { log.info(.xml, "\(address), line \(remark.line): \(remark.reason)") }
        return draft.count
    }

    func finish() throws -> (changes: SyncChanges, skipped: Int) {
        (try draft.finish(), skipped)
    }
}
