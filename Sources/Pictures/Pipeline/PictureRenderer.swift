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
public struct PictureRenderer: Sendable {
    private let caches: CacheFolder
    private let decoder: DecoderClient
    private let parts: DecodedParts
    private let runs: DecodedRuns
    let backgroundDecoder: BackgroundDecoder
    let log: Log

    /// The longer side of thumbnails that are made here, in pixels.
    static let thumbnailSide = 320

    /// A developer that reads from these caches.
    ///
    /// - Parameter limit: bytes of decoded pixels to keep, of photos that are looked at closely; and as many of animations.
    public init(caches: CacheFolder, decoder: DecoderClient, log: Log, limit: Int = 24 << 20) {
        parts = DecodedParts(limit: limit)
        runs = DecodedRuns(limit: limit)
        self.caches = caches
        self.decoder = decoder
        backgroundDecoder = BackgroundDecoder(decoder)
        self.log = log
    }

    /// What has come of an order.
    enum Development {
        case picture(DrawnPicture)
        case examination(PhotoExamination)
    }

    /// Develops an order.
    ///
    /// - Parameter showing: called with a coarser picture that is there sooner, if there is one and somebody waits for it.
    func develop(
        _ order: PictureOrder, _ cancellation: DecodeCancellation, showing: ((DrawnPicture) -> Void)? = nil
    ) throws -> Development {
        guard case .picture(let gallery, let key, let rendition) = order.subject,
            let cache = caches.cache(gallery)
        else { throw PictureError.file("the gallery is not open") }
        let drawing = PictureDrawing(order.request, order.style)
        let draw = { (reply: DecodeReply) throws(PictureError) in
            try drawing.draw(reply) { file, request throws(PictureError) in
                try decoder.decode(.bytes(file), request, cancellation: cancellation)
            }
        }
        let coarse =
            order.product == .drawing
            ? showing.map { show in { (reply: DecodeReply) in if let picture = try? draw(reply) { show(picture) } } }
            : nil
        let reply =
            switch (order.product, rendition) {
            case (.beginning, _): try beginning(of: key, order.edition, in: cache, drawing.request, cancellation)
            case (_, .thumbnail): try thumbnail(of: key, in: cache, drawing.request, cancellation)
            case (_, .original): try photo(key, in: cache, drawing.request, cancellation, showing: coarse)
            }
        if order.product == .examination { return .examination(PhotoExamination(reply)) }
        return .picture(try draw(reply))
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
        _ key: PhotoKey, in cache: GalleryCache, _ request: DecodeRequest, _ cancellation: DecodeCancellation,
        showing: ((DecodeReply) -> Void)? = nil
    ) throws -> DecodeReply {
        let (found, isUnread) = try cache.read { (try $0.photoFile(of: key), try !$0.unread([key]).isEmpty) }
        guard let stored = found else { throw PictureError.file("it is not here yet") }
        let part = DecodedParts.Photo(gallery: cache.id, key: key, edition: stored.edition)
        if let reply = parts.reply(to: request, for: part) ?? runs.reply(to: request, for: part) { return reply }
        let path = cache.files.path(stored)
        do {
            if request.frame > 0, request.region == .whole, request.product == .pixels {
                let run = DecodedRuns.run(from: request)
                let reply = try decoder.decode(.file(path), run, cancellation: cancellation)
                runs.keep(reply, to: run, of: part)
                return reply.with(pixels: reply.pixels, for: request)
            }
            let wider = DecodedParts.wider(than: request)
            let reply = try decode(path, wider ?? request, cancellation, showing: wider == nil ? showing : nil)
            if isUnread {
                tell { try await cache.writer.store(PhotoMetadata(reply), of: key, edition: stored.edition) }
            }
            guard let wider else { return reply }
            parts.keep(reply, to: wider, of: part)
            if let reply = parts.reply(to: request, for: part) { return reply }
            return try decoder.decode(.file(path), request, cancellation: cancellation)
        } catch {
            let verdict = Self.verdict(error, of: stored, in: cache.files)
            tell { try await note(verdict, on: stored, key, in: cache) }
            // Of a file that broke here the user sees that it is fetched again, and no more.
            throw verdict == .broken ? PictureError.file("it is fetched again") : error
        }
    }

    /// Decodes a photo's file: where somebody waits for it, first in haste, and then all of it if that was not all.
    private func decode(
        _ path: String, _ request: DecodeRequest, _ cancellation: DecodeCancellation, showing: ((DecodeReply) -> Void)?
    ) throws(PictureError) -> DecodeReply {
        if let showing {
            var soon = request
            soon.haste = .soon
            let reply = try decoder.decode(.file(path), soon, cancellation: cancellation)
            guard reply.isCoarse else { return reply }
            showing(reply)
        }
        return try decoder.decode(.file(path), request, cancellation: cancellation)
    }

    /// What has come so far of a photo that is on its way. What is wrong with it says nothing of the photo: there is more.
    private func beginning(
        of key: PhotoKey, _ edition: Int, in cache: GalleryCache, _ request: DecodeRequest,
        _ cancellation: DecodeCancellation
    ) throws -> DecodeReply {
        guard let path = cache.parts.growing(key, edition: edition) else {
            throw PictureError.file("it is not on its way")
        }
        do {
            let reply = try decoder.decode(.file(path), request, cancellation: cancellation)
            guard let pixels = reply.pixels, !reply.isComplete,
                let stored = try cache.read({ try $0.thumbnail(of: key) }),
                let rest = try? decoder.decode(
                    .bytes(stored.bytes), reply.substitute(for: request), cancellation: cancellation
                ).pixels
            else { return reply }
            return reply.with(pixels: pixels.completed(by: rest, background: request.background), for: request)
        } catch let error as PictureError {
            throw error.isThePicturesFault ? PictureError.file("too little has come of it") : error
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
        // Whether the file is what was stored need not be looked at, all of it, where nobody could read it anyway.
        if error == .cancelled || error == .tooFewDescriptors || error.isForWantOfALibrary { return .undecided }
        guard files.isIntact(stored) else { return .broken }
        return error.isThePicturesFault ? .bad(Failure(error.reason, remedy: .none)) : .undecided
    }

    func note(_ verdict: Verdict, on stored: StoredPhoto, _ key: PhotoKey, in cache: GalleryCache) async throws {
        switch verdict {
        case .broken:
            log.error(.cache, "\(stored.name) of \(cache.address) is missing or broken; it is fetched again")
            try await cache.writer.dropPhotoFile(stored.name, of: key)
        case .bad(let failure):
            log.error(.cache, "photo \(key.rawValue) of \(cache.address): \(failure)")
            try await cache.writer.recordTrouble(.bad(failure), for: .original, of: key, edition: stored.edition)
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

/// A picture whose bytes break off, with the rest of it taken from its thumbnail.
extension DecodeReply {
    /// The same part of a smaller picture, as large as this one: to show through where there is nothing of this.
    func substitute(for request: DecodeRequest) -> DecodeRequest {
        var small = request
        small.box = pixels?.size ?? request.box
        small.region = region
        small.fitting = .cover
        small.enlarges = true
        return small
    }
}

extension PixelBuffer {
    /// The pixels of another picture where there are none of this one.
    ///
    /// What is missing of a picture has the background's colour; of a JPEG also the grey that libjpeg makes of no
    /// coefficients. Where the picture itself has such a pixel, the other one has nearly the same.
    func completed(by other: PixelBuffer, background: PixelColor) -> PixelBuffer {
        guard other.size == size else { return self }
        var mixed = bytes
        for pixel in stride(from: 0, to: bytes.count, by: Self.bytesPerPixel) {
            let colour = PixelColor(red: bytes[pixel], green: bytes[pixel + 1], blue: bytes[pixel + 2])
            guard colour == background || colour == PixelColor(red: 128, green: 128, blue: 128) else { continue }
            for channel in pixel..<pixel + Self.bytesPerPixel { mixed[channel] = other.bytes[channel] }
        }
        return PixelBuffer(size: size, bytes: mixed) ?? self
    }
}
