import Cache
import Model
import Pixels

/// What the cache lacks of photos that are here, and can be had from their files.
extension PictureRenderer {
    /// Photos of which something is lacking: a thumbnail that the gallery does not have, or what they say of themselves.
    public func incomplete(in cache: GalleryCache) throws -> [PhotoKey] {
        let keys = try cache.read { try $0.thumbnailsToMake() } + cache.unreadPhotos()
        return Set(keys).sorted()
    }

    /// Finds out what is lacking of a photo, if it is here. One decoding does for everything. Returns whether there was
    /// anything to find out.
    @discardableResult
    public func complete(_ key: PhotoKey, in cache: GalleryCache) async throws -> Bool {
        if try await makeThumbnail(of: key, in: cache) { return true }
        return try await read(key, in: cache)
    }

    /// Reads what the photos of a gallery say of themselves: of those that are here, and of each that comes, whether
    /// anybody looks at it or not. Until the task is cancelled.
    public func readPhotos(in cache: GalleryCache) async {
        let changes = cache.changes()
        await read(in: cache) { try cache.unreadPhotos() }
        for await change in changes {
            switch change["photo"] {
            case .listed(let rows)?: await read(in: cache) { try cache.read { try $0.unread(rows.map(PhotoKey.init)) } }
            case .many?: await read(in: cache) { try cache.unreadPhotos() }
            case nil: continue
            }
        }
    }

    /// One that cannot be read is no reason to leave the others. What several cannot be read for is said once.
    private func read(in cache: GalleryCache, _ keys: () throws -> [PhotoKey]) async {
        var said: Set<String> = []
        do {
            for key in try keys() where !Task.isCancelled {
                do { try await read(key, in: cache) } catch  where said.insert("\(error)").inserted {
                    log.error(.cache, "\(error)")
                } catch {}
            }
        } catch {
            log.error(.cache, "\(error)")
        }
    }

    @discardableResult
    private func read(_ key: PhotoKey, in cache: GalleryCache) async throws -> Bool {
        guard let stored = try cache.read({ try $0.unread([key]).isEmpty ? nil : try $0.photoFile(of: key) }) else {
            return false
        }
        var request = DecodeRequest(box: PixelSize(width: 1, height: 1))
        request.product = .facts
        let reply = try await decode(stored, key, in: cache, request)
        return try await cache.writer.store(PhotoMetadata(reply), of: key, edition: stored.edition)
    }

    /// Makes the thumbnail of a photo for which the gallery has none, if the photo is here and is what the gallery speaks of.
    /// Returns whether one was made. Of several who ask for it at once, one makes it, and the others wait.
    @discardableResult
    public func makeThumbnail(of key: PhotoKey, in cache: GalleryCache) async throws -> Bool {
        try await backgroundDecoder.once(BackgroundDecoder.Subject(gallery: cache.id, key: key)) {
            try await makeThumbnailNow(of: key, in: cache)
        }
    }

    private func makeThumbnailNow(of key: PhotoKey, in cache: GalleryCache) async throws -> Bool {
        guard let (edition, stored) = try cache.read({ try $0.thumbnailToMake(of: key) }) else { return false }
        let side = PixelSize(width: Self.thumbnailSide, height: Self.thumbnailSide)
        var request = DecodeRequest(box: side)
        request.product = .thumbnail
        let reply = try await decode(stored, key, in: cache, request)
        try await cache.writer.store(PhotoMetadata(reply), of: key, edition: stored.edition)
        guard let bytes = reply.thumbnail else { return false }
        return try await cache.writer.store(thumbnail: bytes, of: key, edition: edition)
    }

    /// Decodes a photo's file; what comes of one that cannot be decoded, the cache is told.
    private func decode(
        _ stored: StoredPhoto, _ key: PhotoKey, in cache: GalleryCache, _ request: DecodeRequest
    ) async throws -> DecodeReply {
        do {
            return try await backgroundDecoder.decode(cache.files.path(stored), request)
        } catch {
            let verdict = await backgroundDecoder.verdict(error, of: stored, in: cache.files)
            try await note(verdict, on: stored, key, in: cache)
            throw error
        }
    }
}
