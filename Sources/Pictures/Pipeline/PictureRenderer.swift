import Cache
import Glibc
import Logging
import Model
import Pixels

/// Draws one picture from the cache: finds its file, decodes it and draws the pixels.
///
/// Calls block, so the pipeline makes them on its own threads. The renderer also records in the cache whether a
/// thumbnail's bytes are a valid picture, and whether a photo's file is missing or broken. It adds the metadata of
/// photos, and thumbnails for photos without one.
public struct PictureRenderer: Sendable {
    private let caches: CacheFolder
    private let decoder: DecoderClient
    private let parts: DecodedParts
    private let runs: DecodedRuns
    private let backgroundDecoder: BackgroundDecoder
    private let desktop: DesktopThumbnails?
    private let log: Log

    /// The longer side of thumbnails that Vitrine makes, in pixels.
    static let thumbnailSide = 320

    /// Creates a renderer for these caches.
    ///
    /// - Parameters:
    ///   - desktop: the desktop's thumbnails, which the renderer uses for photos in local folders; nil to use none.
    ///   - limit: the maximum number of bytes of decoded pixels to cache for zoomed photos, and again for animations.
    public init(
        caches: CacheFolder, decoder: DecoderClient, desktop: DesktopThumbnails? = nil, log: Log, limit: Int = 24 << 20
    ) {
        parts = DecodedParts(limit: limit)
        runs = DecodedRuns(limit: limit)
        self.caches = caches
        self.decoder = decoder
        self.desktop = desktop
        backgroundDecoder = BackgroundDecoder(decoder, desktop)
        self.log = log
    }

    /// Shrinks the caches of decoded pictures to a fraction of their limits.
    func shrink(toOneIn divisor: Int) {
        parts.shrink(toOneIn: divisor)
        runs.shrink(toOneIn: divisor)
    }

    /// The result of an order.
    enum Output {
        case picture(DrawnPicture)
        case examination(PhotoExamination)
    }

    /// Performs an order and returns its result.
    ///
    /// - Parameter showing: receives a preview if the file offers one. Nil if the user is not waiting.
    func render(
        _ order: PictureOrder, _ cancellation: DecodeCancellation, showing: ((DrawnPicture) -> Void)? = nil
    ) throws -> Output {
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
        // Until the new thumbnail is ready, the screen shows an old thumbnail, or else the photo itself.
        defer { if isDue { write { try await makeThumbnail(of: key, in: cache) } } }
        guard let stored else {
            return try desktopThumbnail(of: key, in: cache, request, cancellation)
                ?? photo(key, in: cache, request, cancellation)
        }
        do {
            let reply = try decoder.decode(.bytes(stored.bytes), request, cancellation: cancellation)
            if !stored.isProven { write { try await cache.writer.accept(stored, of: key) } }
            return reply
        } catch {
            if error != .cancelled { log.error(.cache, "thumbnail \(key.rawValue) of \(cache.address): \(error)") }
            if error.isThePicturesFault {
                write { try await cache.writer.reject(stored, of: key, reason: error.reason) }
            }
            throw error
        }
    }

    /// Decodes the desktop's thumbnail of a photo. Returns nil if the thumbnail is missing, damaged or too small.
    private func desktopThumbnail(
        of key: PhotoKey, in cache: GalleryCache, _ request: DecodeRequest, _ cancellation: DecodeCancellation
    ) throws -> DecodeReply? {
        guard let desktop else { return nil }
        let found = try cache.read { try $0.photoFile(of: key) }
        guard let stored = found, stored.original != nil, let file = try? cache.files.openPicture(stored) else {
            return nil
        }
        defer { close(file) }
        let side = max(request.box.width, request.box.height)
        guard let photo = desktop.photo(stored, on: file), let png = desktop.thumbnail(of: photo, side: side) else {
            return nil
        }
        do {
            let reply = try decoder.decode(.bytes(png), request, cancellation: cancellation)
            return reply.isComplete ? reply : nil
        } catch {
            if error == .cancelled { throw error }
            return nil
        }
    }

    private func photo(
        _ key: PhotoKey, in cache: GalleryCache, _ request: DecodeRequest, _ cancellation: DecodeCancellation,
        showing: ((DecodeReply) -> Void)? = nil
    ) throws -> DecodeReply {
        let (found, isUnread) = try cache.read { (try $0.photoFile(of: key), try !$0.unread([key]).isEmpty) }
        guard let stored = found else { throw PictureError.file("the photo has not been fetched yet") }
        let part = DecodedParts.Photo(gallery: cache.id, key: key, edition: stored.edition)
        if let reply = parts.reply(to: request, for: part) ?? runs.reply(to: request, for: part) { return reply }
        let wider = try wider(than: request, of: key, edition: stored.edition, in: cache)
        do {
            let file = try cache.files.openPicture(stored)
            defer { close(file) }
            if request.frame > 0, request.region == .whole, request.product == .pixels {
                let run = DecodedRuns.run(from: request)
                let reply = try decoder.decode(.open(file), run, cancellation: cancellation)
                runs.keep(reply, to: run, of: part)
                return reply.with(pixels: reply.pixels, for: request)
            }
            let reply = try decode(file, wider ?? request, cancellation, showing: wider == nil ? showing : nil)
            if isUnread {
                write { try await cache.writer.store(PhotoMetadata(reply), of: key, edition: stored.edition) }
            }
            guard let wider else { return reply }
            parts.keep(reply, to: wider, of: part)
            if let reply = parts.reply(to: request, for: part) { return reply }
            return try decoder.decode(.open(file), request, cancellation: cancellation)
        } catch {
            let verdict = Self.verdict(error, of: stored, in: cache.files)
            write { try await record(verdict, on: stored, key, in: cache) }
            // The error tells the user only that Vitrine fetches the broken file again.
            throw verdict == .broken ? PictureError.file("it is damaged, and Vitrine fetches it again") : error
        }
    }

    /// Returns a request for a larger part of a zoomed photo. Returns nil to decode only the visible part.
    private func wider(
        than request: DecodeRequest, of key: PhotoKey, edition: Int, in cache: GalleryCache
    ) throws -> DecodeRequest? {
        guard request.region != .whole else { return nil }
        let kept = try cache.read { try $0.metadata(of: key) }
        // The file may have changed since its metadata were read.
        let known = kept?.edition == edition ? kept?.metadata : nil
        // A cut would scale and move the chequerboard of a transparent picture. A JPEG is opaque.
        guard !request.isChequered || known?.format == "JPEG" else { return nil }
        return DecodedParts.wider(
            than: request, of: known.map { PixelSize(width: max(1, $0.width), height: max(1, $0.height)) })
    }

    /// Decodes a photo's file. If `showing` is given, first decodes a preview, and the full picture only if needed.
    private func decode(
        _ file: Int32, _ request: DecodeRequest, _ cancellation: DecodeCancellation, showing: ((DecodeReply) -> Void)?
    ) throws(PictureError) -> DecodeReply {
        if let showing {
            var soon = request
            soon.haste = .soon
            let reply = try decoder.decode(.open(file), soon, cancellation: cancellation)
            guard reply.isCoarse else { return reply }
            showing(reply)
        }
        return try decoder.decode(.open(file), request, cancellation: cancellation)
    }

    /// Decodes the part of a photo that has arrived. Ignores damage, because more bytes will follow.
    private func beginning(
        of key: PhotoKey, _ edition: Int, in cache: GalleryCache, _ request: DecodeRequest,
        _ cancellation: DecodeCancellation
    ) throws -> DecodeReply {
        guard let file = cache.files.openPartial(of: key, edition: edition) else {
            throw PictureError.file("Vitrine is not fetching this photo")
        }
        defer { close(file) }
        do {
            let reply = try decoder.decode(.open(file), request, cancellation: cancellation)
            guard let pixels = reply.pixels, !reply.isComplete,
                let stored = try cache.read({ try $0.thumbnail(of: key) }),
                let rest = try? decoder.decode(
                    .bytes(stored.bytes), reply.substitute(for: request), cancellation: cancellation
                ).pixels
            else { return reply }
            return reply.with(pixels: pixels.completed(by: rest, background: request.background), for: request)
        } catch let error as PictureError {
            throw error.isThePicturesFault ? PictureError.file("too few of its bytes have arrived") : error
        }
    }

    /// The conclusion from a decoding failure, which the cache records.
    enum Verdict: Equatable {
        /// The file is missing or differs from the stored file.
        case broken
        /// The file is intact, but its bytes are not a valid picture.
        case bad(Failure)
        /// The cause is unknown, and another attempt may succeed.
        case undecided
    }

    static func verdict(_ error: PictureError, of stored: StoredPhoto, in files: PhotoFiles) -> Verdict {
        // Checking the file means reading all of it, so first exclude failures that have nothing to do with the file.
        if error == .cancelled || error == .tooFewDescriptors || error.isMissingLibrary { return .undecided }
        guard files.isIntact(stored) else { return .broken }
        return error.isThePicturesFault ? .bad(Failure(error.reason, remedy: .none)) : .undecided
    }

    private func record(
        _ verdict: Verdict, on stored: StoredPhoto, _ key: PhotoKey, in cache: GalleryCache
    ) async throws {
        switch verdict {
        case .broken:
            log.error(.cache, "\(stored.name) of \(cache.address) is missing or broken; fetching it again")
            try await cache.writer.dropPhotoFile(stored.name, of: key)
        case .bad(let failure):
            log.error(.cache, "photo \(key.rawValue) of \(cache.address): \(failure)")
            try await cache.writer.recordTrouble(.bad(failure), for: .original, of: key, edition: stored.edition)
        case .undecided: break
        }
    }

    /// Runs a write to the cache in the background. Logs its errors.
    private func write(_ body: @escaping @Sendable () async throws -> Void) {
        Task { [log] in
            do { try await body() } catch { log.error(.cache, "\(error)") }
        }
    }
}

extension PictureError {
    /// The description without its full stop, for use after “Load failed: ”.
    var reason: String {
        let text = description
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}

extension PictureRenderer {
    /// Opens a cached video. The order states the size and the part of the frames. The video's process starts with the
    /// first frame.
    func player(_ order: PictureOrder) throws(PictureError) -> VideoPlayer {
        guard case .picture(let gallery, let key, .original) = order.subject, let cache = caches.cache(gallery),
            let stored = try? cache.read({ try $0.photoFile(of: key) })
        else { throw .file("the video is not cached") }
        let file = try cache.files.openPicture(stored)
        defer { close(file) }
        return try VideoPlayer(decoder: decoder, file: file, request: drawing(order).request)
    }

    /// Draws a frame of a video.
    func draw(_ reply: DecodeReply, of order: PictureOrder) throws(PictureError) -> DrawnPicture {
        try drawing(order).draw(reply) { file, request throws(PictureError) in
            try decoder.decode(.bytes(file), request)
        }
    }

    private func drawing(_ order: PictureOrder) -> PictureDrawing { PictureDrawing(order.request, order.style) }
}

/// Adds missing thumbnails and metadata to the cache, made from photos in the cache.
extension PictureRenderer {
    /// Returns the cached photos that lack a thumbnail or metadata.
    public func incomplete(in cache: GalleryCache) throws -> [PhotoKey] {
        let keys = try cache.read { try $0.thumbnailsToMake() } + cache.unreadPhotos()
        return Set(keys).sorted()
    }

    /// Makes a photo's missing thumbnail and metadata, if its file is in the cache. One decoding yields the thumbnail
    /// and the metadata. Returns false if nothing was missing.
    @discardableResult
    public func complete(_ key: PhotoKey, in cache: GalleryCache) async throws -> Bool {
        if try await makeThumbnail(of: key, in: cache) { return true }
        return try await read(key, in: cache)
    }

    /// Reads the metadata of a gallery's cached photos. Then reads the metadata of every photo that arrives, until the
    /// task is cancelled.
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

    /// Reads the metadata of several photos. Continues after a failure. Logs equal errors once.
    private func read(in cache: GalleryCache, _ keys: () throws -> [PhotoKey]) async {
        var logged: Set<String> = []
        do {
            for key in try keys() where !Task.isCancelled {
                do { try await read(key, in: cache) } catch  where logged.insert("\(error)").inserted {
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
        let reply = try await reporting(stored, key, in: cache) { [request] () throws(PictureError) in
            try await backgroundDecoder.decode(stored, in: cache.files, request)
        }
        return try await cache.writer.store(PhotoMetadata(reply), of: key, edition: stored.edition)
    }

    /// Makes a photo's thumbnail if the gallery has none. The current photo must be in the cache. Returns whether it
    /// made a thumbnail. Concurrent calls for a photo wait for the first call.
    @discardableResult
    public func makeThumbnail(of key: PhotoKey, in cache: GalleryCache) async throws -> Bool {
        try await backgroundDecoder.once(BackgroundDecoder.Subject(gallery: cache.id, key: key)) {
            try await makeThumbnailNow(of: key, in: cache)
        }
    }

    private func makeThumbnailNow(of key: PhotoKey, in cache: GalleryCache) async throws -> Bool {
        guard let (edition, stored) = try cache.read({ try $0.thumbnailToMake(of: key) }) else { return false }
        let request = DecodeRequest.thumbnail(
            box: PixelSize(width: Self.thumbnailSide, height: Self.thumbnailSide))
        let thumbnail = try await reporting(stored, key, in: cache) { () throws(PictureError) in
            try await backgroundDecoder.makeThumbnail(of: stored, in: cache.files, request)
        }
        guard let thumbnail else { return false }
        if let metadata = thumbnail.metadata {
            try await cache.writer.store(metadata, of: key, edition: stored.edition)
        }
        let isStored = try await cache.writer.store(thumbnail: thumbnail.bytes, of: key, edition: edition)
        do {
            try await backgroundDecoder.shareWithDesktop(thumbnail)
        } catch {
            log.debug(.cache, "cannot write the desktop's thumbnail of photo \(key.rawValue): \(error)")
        }
        if thumbnail.metadata == nil { try await read(key, in: cache) }
        return isStored
    }

    /// Runs a closure that decodes a photo's file. Reports a failure to the cache.
    private func reporting<Result: Sendable>(
        _ stored: StoredPhoto, _ key: PhotoKey, in cache: GalleryCache,
        _ decode: () async throws(PictureError) -> Result
    ) async throws -> Result {
        do {
            return try await decode()
        } catch {
            let verdict = await backgroundDecoder.verdict(error, of: stored, in: cache.files)
            try await record(verdict, on: stored, key, in: cache)
            throw error
        }
    }
}

/// Fills the missing part of a truncated picture from its thumbnail.
extension DecodeReply {
    /// Returns the request for the same part of the thumbnail, at this reply's size.
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
    /// Replaces missing pixels with those of another picture of the same size.
    ///
    /// Missing pixels have the background's colour, or in a JPEG the grey that libjpeg makes of absent coefficients.
    /// The decoder does not convert this grey by the picture's profile.
    /// Where the picture really has such a pixel, the other picture's pixel is nearly the same.
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
