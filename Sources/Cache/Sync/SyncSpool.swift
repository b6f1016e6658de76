import Glibc
import Model

/// What a list that is still coming is going to change, kept on the disk until all of it is there: a gallery may be larger
/// than memory should be.
///
/// The file has no name, so it goes when nobody holds it any more, however the program ends. One draft writes it, and
/// hands it to the writer with ``finish()``.
final class SyncSpool {
    private let items: SpooledItems
    private var buffer: [UInt8] = []
    private var key = NaturalKey()
    /// Bytes that were appended.
    private(set) var bytes: Int64 = 0

    /// Opens a spool in a folder.
    init(folder: String) throws(CacheError) {
        let path = folder + "/" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(path) }
        unlink(path)
        items = SpooledItems(descriptor)
    }

    /// Writes down what an entry changes.
    func append(_ change: SyncItem.Change, _ entry: EntryBytes) throws(CacheError) {
        // Made here, so that whoever writes to the database does that and nothing else.
        if case .stamp = change {} else { key.make(of: entry[.name]) }
        let before = buffer.count
        SyncItem.append(change, entry, key: key.bytes, to: &buffer)
        bytes += Int64(buffer.count - before)
        if buffer.count >= SpooledItems.pieceSize { try flush() }
    }

    /// Hands out what was written. Nothing may be appended any more.
    func finish() throws(CacheError) -> SpooledItems {
        try flush()
        return items
    }

    private func flush() throws(CacheError) {
        var rest = buffer[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(items.descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw .file("the changes of an update")
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
