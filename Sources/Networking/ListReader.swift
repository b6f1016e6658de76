import Cache
import Formats
import Logging
import Model
import Streams

/// Reads one gallery's list: bytes in, what they change in the cache out.
///
/// Parsing and comparing are work for a processor, so they have a queue of their own below the screens', and neither the
/// network nor anything drawn waits for them.
actor ListReader {
    private let parser: GalleryXMLParser
    private let draft: SyncDraft
    private let log: Log
    private let address: Address
    private var skipped = 0
    private let executor = QueueExecutor(label: "vitrine.list", qos: .utility)

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(base: Address, cache: GalleryCache, log: Log) throws {
        parser = GalleryXMLParser(base: base)
        draft = try cache.beginSync()
        address = base
        self.log = log
    }

    /// Photos that have come so far.
    var count: Int { draft.count }

    func take(_ bytes: [UInt8]) throws {
        try take(try parser.parse(bytes, isCancelled: { Task.isCancelled }))
    }

    func finish() throws -> (changes: SyncChanges, skipped: Int) {
        try take(try parser.finish())
        return (try draft.finish(), skipped)
    }

    private func take(_ photos: WrittenPhotos) throws {
        var photos = photos
        try draft.add(&photos)
        skipped += photos.skipped.count
        for photo in photos.skipped { log.info(.xml, "\(address), line \(photo.line): photo skipped: \(photo.reason)") }
        for remark in photos.remarks { log.info(.xml, "\(address), line \(remark.line): \(remark.reason)") }
    }
}
