import Cache
import Logging
import Model
import Pixels

/// Draws one picture out of the cache: finds its bytes, has them decoded, and draws the pixels. Blocks; the darkroom calls
/// it on threads of its own.
///
/// It also tells the cache what it finds out on the way: that a thumbnail's bytes are a picture, or are none, that a
/// photo's file is missing or broken, what a photo without a thumbnail looks like when it is small, and what a photo says of
/// itself.
public struct PictureDeveloper: Sendable {
    private let caches: CacheFolder
    private let decoder: DecoderClient
    let backRoom: BackRoom
    let log: Log

    /// The longer side of thumbnails that are made here, in pixels.
    static let thumbnailSide = 320

    /// A developer that reads from these caches.
    public init(caches: CacheFolder, decoder: DecoderClient, log: Log) {
        self.caches = caches
        self.decoder = decoder
        backRoom = BackRoom(decoder)
        self.log = log
    }

    func develop(_ order: PictureOrder, _ cancellation: DecodeCancellation) throws -> DrawnPicture {
        guard case .picture(let gallery, let key, let rendition) = order.subject,
            let cache = caches.cache(gallery)
        else { throw PictureError.file("the gallery is not open") }
        let drawing = PictureDrawing(order.request, order.style)
        let reply =
            switch rendition {
            case .thumbnail: try thumbnail(of: key, in: cache, drawing.request, cancellation)
            case .photo: try photo(key, in: cache, drawing.request, cancellation)
            }
        return try drawing.draw(reply) { file, request throws(PictureError) in
            try decoder.decode(.bytes(file), request, cancellation: cancellation)
        }
    }

    // MARK: -

    private func thumbnail(
        of key: PhotoKey, in cache: GalleryCache, _ request: DecodeRequest, _ cancellation: DecodeCancellation
    ) throws -> DecodeReply {
        let (stored, isDue) = try cache.read { (try $0.thumbnail(of: key), try $0.thumbnailToMake(of: key) != nil) }
        // Until it is made, an older one is shown; where there is none, the photo itself, this once.
        defer { if isDue { tell { try await makeThumbnail(of: key, in: cache) } } }
        guard let stored else { return try photo(key, in: cache, request, cancellation) }
        do {
            let reply = try decoder.decode(.bytes(stored.bytes), request, cancellation: cancellation)
            if !stored.isProven { tell { try await cache.writer.accept(stored, of: key) } }
            return reply
        } catch {
            if error != .cancelled { log.error(.cache, "thumbnail \(key.rawValue) of \(cache.address): \(error)") }
            if error.isThePicturesFault {
                tell { try await cache.writer.reject(stored, of: key, reason: error.reason) }
            }
            throw error
        }
    }

    private func photo(
        _ key: PhotoKey, in cache: GalleryCache, _ request: DecodeRequest, _ cancellation: DecodeCancellation
    ) throws -> DecodeReply {
        let (found, isUnread) = try cache.read { (try $0.photoFile(of: key), try !$0.unread([key]).isEmpty) }
        guard let stored = found else { throw PictureError.file("it is not here yet") }
        do {
            let reply = try decoder.decode(.file(cache.files.path(stored)), request, cancellation: cancellation)
            if isUnread {
                tell { try await cache.writer.store(PhotoMetadata(reply), of: key, edition: stored.edition) }
            }
            return reply
        } catch {
            let verdict = Self.verdict(error, of: stored, in: cache.files)
            tell { try await note(verdict, on: stored, key, in: cache) }
            // Of a file that broke here the user sees that it is fetched again, and no more.
            throw verdict == .broken ? PictureError.file("it is fetched again") : error
        }
    }

    /// What a photo that could not be decoded is to the cache.
    enum Verdict: Equatable {
        /// Its file is missing, or not what was stored.
        case broken
        /// It was never a picture.
        case bad(Failure)
        /// It may be decoded yet.
        case undecided
    }

    static func verdict(_ error: PictureError, of stored: StoredPhoto, in files: PhotoFiles) -> Verdict {
        if error == .cancelled { return .undecided }
        guard files.isIntact(stored) else { return .broken }
        return error.isThePicturesFault ? .bad(Failure(error.reason, remedy: .none)) : .undecided
    }

    func note(_ verdict: Verdict, on stored: StoredPhoto, _ key: PhotoKey, in cache: GalleryCache) async throws {
        switch verdict {
        case .broken:
            log.error(.cache, "\(stored.name) of \(cache.address) is missing or broken; it is fetched again")
            try await cache.writer.forgetPhotoFile(stored.name, of: key)
        case .bad(let failure):
            log.error(.cache, "photo \(key.rawValue) of \(cache.address): \(failure)")
            try await cache.writer.note(.bad(failure), for: .photo, of: key, edition: stored.edition)
        case .undecided: break
        }
    }

    /// Tells the cache something, when it has time.
    private func tell(_ what: @escaping @Sendable () async throws -> Void) {
        Task { [log] in
            do { try await what() } catch { log.error(.cache, "\(error)") }
        }
    }
}

extension PictureError {
    /// The sentence as a phrase, to be put behind “Load failed: ”.
    var reason: String {
        let text = description
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}
