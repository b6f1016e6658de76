import Concurrency

/// Reads for a list what would hold up the main actor. One reading at a time; one that is cancelled ends at once.
actor ResultLoader {
    private let executor = QueueExecutor(label: "vitrine.cache.results")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func rows(_ query: PhotoQuery, _ cache: GalleryCache, outOf all: OrderedRows? = nil) throws -> OrderedRows {
        try read(cache) { try query.rows($0, outOf: all) }
    }

    func keys(
        of rows: Set<Int64>, _ query: PhotoQuery, _ cache: GalleryCache
    ) throws -> sending [RowKey] {
        try read(cache) { try query.keys(of: rows, $0) }
    }

    private func read<Result>(_ cache: GalleryCache, _ body: (CacheReader) throws -> Result) throws -> Result {
        try Task.checkCancellation()
        return try cache.read { reader in
            try reader.connection.interrupting(when: { Task.isCancelled }) { try body(reader) }
        }
    }
}
