import Model
import SQLite

/// Frees room in an open gallery when the caches exceed their limit. Freed pictures are fetched again when they are
/// looked at.
extension GalleryWriter {
    /// Files and rows of a transaction.
    private static let photosAtOnce = 64
    private static let thumbnailsAtOnce = 128

    /// Removes photos, those first that have been here longest, until so many bytes are free.
    ///
    /// Returns how many bytes are. They are fewer where the rest is excepted, or the task was cancelled.
    func makeRoom(fromPhotos bytes: Int64, except kept: Set<PhotoKey>) throws -> Int64 {
        var freed: Int64 = 0
        var rest = ClosedGalleryCache.photosByAge(in: files.photosFolder).filter { file in
            PhotoFiles.key(in: file.name).map { !kept.contains($0) } ?? false
        }[...]
        while freed < bytes, !rest.isEmpty, !Task.isCancelled {
            var keys: [PhotoKey] = []
            while freed < bytes, keys.count < Self.photosAtOnce, let file = rest.popFirst() {
                guard let key = PhotoFiles.key(in: file.name) else { continue }
                keys.append(key)
                freed += file.size
            }
            try dropPhotos(keys)
        }
        return freed
    }

    /// Removes thumbnails, those first whose photos are farthest from the excepted ones, until so many bytes are free.
    ///
    /// Returns how many bytes are. The database's file stays as large, and is written to before it grows.
    func makeRoom(fromThumbnails bytes: Int64, except kept: Set<PhotoKey>) throws -> Int64 {
        let places = kept.map(\.rawValue).sorted()
        let middle = places.isEmpty ? 0 : places[places.count / 2]
        let all = try mark.watch {
            try writer.read { connection in
                try connection.map("SELECT photo, length(data) + ifnull(length(unproven), 0) FROM thumbnail") {
                    (key: $0.int(0), size: $0.int(1))
                }
            }
        }
        var rest = all.filter { !kept.contains(PhotoKey($0.key)) }
            .sorted { ($0.key - middle).magnitude > ($1.key - middle).magnitude }[...]
        var freed: Int64 = 0
        while freed < bytes, !rest.isEmpty, !Task.isCancelled {
            var keys: [Int64] = []
            while freed < bytes, keys.count < Self.thumbnailsAtOnce, let row = rest.popFirst() {
                keys.append(row.key)
                freed += row.size
            }
            try transaction { try Self.dropThumbnails(keys, $0) }
        }
        return freed
    }

    /// Removes the thumbnails of some photos.
    static func dropThumbnails(_ keys: [Int64], _ connection: Connection) throws {
        let list = keys.keyList
        try connection.run("DELETE FROM thumbnail WHERE photo IN (SELECT value FROM json_each(?))", list)
        try connection.run(
            """
            UPDATE photo SET thumbnail_held = NULL, thumbnail_etag = NULL, thumbnail_last_modified = NULL
            WHERE key IN (SELECT value FROM json_each(?))
            """, list)
    }
}
