import Formats
import Model
import Concurrency

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
