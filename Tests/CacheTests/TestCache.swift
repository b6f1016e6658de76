import Glibc
import Logging
import Model
import TestSupport

@testable import Cache

/// A gallery's cache in a temporary folder, with helpers to fill it.
struct TestCache {
    let folder = TestFolder()
    let log = Log()
    let cache: GalleryCache

    init() throws {
        let address = try Address("http://example.org/album/index.xml")
        cache = try CacheFolder(path: folder.path("cache"), log: log).open(address)
    }

    static func entry(
        _ id: String, name: String? = nil, date: Int64? = nil, photo: String? = nil, thumbnail: String? = "default"
    ) throws -> GalleryEntry {
        let base = try Address("http://example.org/album/index.xml")
        return GalleryEntry(
            id: id, name: name ?? "Photo \(id)",
            date: Timestamp(milliseconds: date ?? Int64(id.utf8.reduce(0) { ($0 * 31 + Int($1)) % 1_000_000 }) * 1000),
            photo: try base.resolving(photo ?? "images/\(id).jpg"),
            thumbnail: try thumbnail.map { try base.resolving($0 == "default" ? "thumbnails/\(id).jpg" : $0) })
    }

    @discardableResult
    func sync(_ entries: [GalleryEntry], validators: Validators = Validators(), at time: Int64 = 1) async throws
        -> SyncSummary
    {
        try await Self.sync(entries, into: cache, validators: validators, at: time)
    }

    /// Updates any cache, or some of its folders.
    @discardableResult
    static func sync(
        _ entries: [GalleryEntry], into cache: GalleryCache, within scopes: [FolderScope]? = nil,
        skipped: Int = 0, validators: Validators = Validators(), source: ListSource? = nil, at time: Int64 = 1
    ) async throws -> SyncSummary {
        let draft = try cache.beginSync(within: scopes)
        try draft.add(entries)
        return try await cache.writer.commit(
            draft.finish(), skipped: skipped, validators: validators, source: source,
            at: Timestamp(milliseconds: time))
    }

    func key(_ id: String) throws -> PhotoKey {
        try cache.read { try $0.photo(galleryID: id)!.key }
    }

    func photo(_ id: String) throws -> Photo {
        try cache.read { try $0.photo(galleryID: id)! }
    }

    /// Stores both renditions of a photo.
    func hold(_ id: String) async throws {
        let photo = try photo(id)
        try await cache.writer.store(
            thumbnail: Array("thumbnail of \(id)".utf8), of: photo.key, edition: photo.thumbnail.edition,
            validators: Validators(etag: "\"t\""))
        try await store(photo: "photo of \(id)", of: photo.key, edition: photo.original.edition)
    }

    /// Stores a photo in any cache.
    static func store(photo text: String, of id: String, in cache: GalleryCache) async throws {
        guard let photo = try cache.read({ try $0.photo(galleryID: id) }) else { return }
        let partial = try cache.files.makePartial(of: photo.key, edition: photo.original.edition)
        partial.write(text)
        try await cache.writer.store(photo: partial, of: photo.key, edition: photo.original.edition)
    }

    @discardableResult
    func store(photo text: String, of key: PhotoKey, edition: Int) async throws -> Bool {
        let partial = try cache.files.makePartial(of: key, edition: edition)
        partial.write(text)
        return try await cache.writer.store(
            photo: partial, of: key, edition: edition, validators: Validators(etag: "\"p\""))
    }
}

extension PartialFile {
    func write(_ text: String) {
        let bytes = Array(text.utf8)
        precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }
}
