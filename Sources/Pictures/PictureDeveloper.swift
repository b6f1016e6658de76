import Cache
import Logging
import Model
import Pixels

/// Draws one picture out of the cache: finds its bytes, has them decoded, and draws the pixels. Blocks; the darkroom calls
/// it on threads of its own.
///
/// It also tells the cache what it finds out on the way: that a thumbnail's bytes are a picture, or are none, that a
/// photo's file is missing or broken, and what a photo without a thumbnail looks like when it is small.
public struct PictureDeveloper: Sendable {
    private let caches: CacheFolder
    private let decoder: DecoderClient
    private let log: Log

    /// The longer side of thumbnails that are made here, in pixels.
    static let thumbnailSide = 320

    /// A developer that reads from these caches.
    public init(caches: CacheFolder, decoder: DecoderClient, log: Log) {
        self.caches = caches
        self.decoder = decoder
        self.log = log
    }

    func develop(_ order: PictureOrder, _ cancellation: DecodeCancellation) throws -> DrawnPicture {
        guard case .picture(let gallery, let key, let rendition) = order.subject,
            let cache = caches.cache(gallery)
        else { throw PictureError.file("the gallery is not open") }
        let reply =
            switch rendition {
            case .thumbnail: try thumbnail(of: key, in: cache, order.request, cancellation)
            case .photo: try photo(key, in: cache, order.request, cancellation)
            }
        return try Self.draw(reply, order.style)
    }

    /// Makes the thumbnail of a photo that has none, if the photo is here. Returns whether there is one now.
    @discardableResult
    public func makeThumbnail(of key: PhotoKey, in cache: GalleryCache) async throws -> Bool {
        guard let photo = try cache.read({ try $0.photo(key) }),
            let stored = try cache.read({ try $0.photoFile(of: key) })
        else { return false }
        let side = PixelSize(width: Self.thumbnailSide, height: Self.thumbnailSide)
        var request = DecodeRequest(box: side)
        request.product = .thumbnail
        let reply = try decoder.decode(.file(cache.files.path(stored)), request)
        guard let bytes = reply.thumbnail else { return false }
        return try await cache.writer.store(thumbnail: bytes, of: key, edition: photo.thumbnail.edition)
    }

    // MARK: -

    private func thumbnail(
        of key: PhotoKey, in cache: GalleryCache, _ request: DecodeRequest, _ cancellation: DecodeCancellation
    ) throws -> DecodeReply {
        guard let stored = try cache.read({ try $0.thumbnail(of: key) }) else {
            // Drawn from the photo this once; from then on there is a thumbnail.
            tell { _ = try await makeThumbnail(of: key, in: cache) }
            return try photo(key, in: cache, request, cancellation)
        }
        do {
            let reply = try decoder.decode(.bytes(stored.bytes), request, cancellation: cancellation)
            if !stored.isProven { tell { try await cache.writer.acceptThumbnail(of: key) } }
            return reply
        } catch {
            if error.isThePicturesFault {
                log.error(.cache, "thumbnail \(key.rawValue) of \(cache.address): \(error)")
                tell { try await cache.writer.rejectThumbnail(of: key, reason: error.reason) }
            }
            throw error
        }
    }

    private func photo(
        _ key: PhotoKey, in cache: GalleryCache, _ request: DecodeRequest, _ cancellation: DecodeCancellation
    ) throws -> DecodeReply {
        guard let stored = try cache.read({ try $0.photoFile(of: key) }) else {
            throw PictureError.file("it is not here yet")
        }
        do {
            return try decoder.decode(.file(cache.files.path(stored)), request, cancellation: cancellation)
        } catch {
            throw noteFailure(error, of: stored, key, in: cache)
        }
    }

    /// Was the photo always broken, or did it break here? Only the first is worth telling the user; of the second he sees
    /// that it is fetched again.
    private func noteFailure(
        _ error: PictureError, of stored: StoredPhoto, _ key: PhotoKey, in cache: GalleryCache
    ) -> PictureError {
        if error == .cancelled { return error }
        guard cache.files.isIntact(stored) else {
            log.error(.cache, "\(stored.name) of \(cache.address) is missing or broken; it is fetched again")
            tell { try await cache.writer.forgetPhotoFile(stored.name, of: key) }
            return .file("it is fetched again")
        }
        if error.isThePicturesFault {
            log.error(.cache, "photo \(key.rawValue) of \(cache.address): \(error)")
            let failure = Failure(error.reason, remedy: .none)
            tell { try await cache.writer.note(.bad(failure), for: .photo, of: key, edition: stored.edition) }
        }
        return error
    }

    /// Tells the cache something, when it has time.
    private func tell(_ what: @escaping @Sendable () async throws -> Void) {
        Task { [log] in
            do { try await what() } catch { log.error(.cache, "\(error)") }
        }
    }

    private static func draw(_ reply: DecodeReply, _ style: DrawingStyle) throws -> DrawnPicture {
        guard let picture = DrawnPicture(reply, style) else { throw PictureError.decoderDied }
        return picture
    }
}

extension PictureError {
    /// The sentence as a phrase, to be put behind “Load failed: ”.
    var reason: String {
        let text = description
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}
