import Streams

/// Reads for a list what would hold up the main actor.
actor ResultLoader {
    private let executor = QueueExecutor(label: "vitrine.cache.results")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func rows(_ query: PhotoQuery, _ cache: GalleryCache) throws -> sending OrderedRows {
        try cache.read { try query.rows($0) }
    }

    func keys(
        of rows: Set<Int64>, _ query: PhotoQuery, _ cache: GalleryCache
    ) throws -> sending [(row: Int64, key: SortKey?)] {
        try cache.read { try query.keys(of: rows, $0) }
    }
}
