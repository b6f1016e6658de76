import Cache
import Concurrency
import Files
import Glibc
import Model
import Pixels

/// Decodes photos for metadata and thumbnails, one at a time, for all galleries.
///
/// Decoding blocks a thread for as long as the decoder runs, and the shared pool has one thread per core. Decoding
/// photos of a few galleries at once would occupy the whole pool. So this actor decodes one photo after the other, on a
/// queue of its own.
actor BackgroundDecoder {
    private let decoder: DecoderClient
    private let desktop: DesktopThumbnails?
    private let executor = QueueExecutor(label: "vitrine.pictures.background", qos: .utility)
    private var missing = MissingLibraries()
    /// The photos whose thumbnails are being made. Several drawings may request the thumbnail of one photo at once.
    private var underWay: [Subject: Task<Bool, any Error>] = [:]

    /// A photo in a gallery.
    struct Subject: Hashable {
        let gallery: GalleryID
        let key: PhotoKey
    }

    /// A serial queue of this actor's own, because decoding blocks.
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ decoder: DecoderClient, _ desktop: DesktopThumbnails?) {
        (self.decoder, self.desktop) = (decoder, desktop)
    }

    /// Decodes a photo's file. Blocks this actor's queue until the decoder has ended.
    func decode(
        _ photo: StoredPhoto, in files: PhotoFiles, _ request: DecodeRequest
    ) throws(PictureError) -> DecodeReply {
        let file = try files.openPicture(photo)
        defer { close(file) }
        return try decode(file, request)
    }

    private func decode(_ file: Int32, _ request: DecodeRequest) throws(PictureError) -> DecodeReply {
        if let failure = missing.failure(of: file) { throw .undecodable(failure) }
        do {
            return try decoder.decode(.open(file), request)
        } catch {
            missing.record(error, of: file)
            throw error
        }
    }

    /// A new thumbnail.
    struct Thumbnail: Sendable {
        /// The thumbnail as a JPEG.
        let bytes: [UInt8]
        /// The photo's metadata; nil if the desktop had a thumbnail, so that the photo was not decoded.
        let metadata: PhotoMetadata?
        /// The photo whose thumbnail the desktop lacks; nil to share no thumbnail.
        fileprivate let wanted: DesktopPhoto?
    }

    /// Makes a thumbnail from the desktop's thumbnail, or else from the photo. Blocks this actor's queue.
    func makeThumbnail(
        of photo: StoredPhoto, in files: PhotoFiles, _ request: DecodeRequest
    ) throws(PictureError) -> Thumbnail? {
        let file = try files.openPicture(photo)
        defer { close(file) }
        let known = desktop?.photo(photo, on: file)
        if let known, let png = desktop?.thumbnail(of: known, side: DesktopThumbnails.side),
            let reply = try? decoder.decode(.bytes(png), request), reply.isComplete, let bytes = reply.thumbnail
        {
            return Thumbnail(bytes: bytes, metadata: nil, wanted: nil)
        }
        let reply = try decode(file, request)
        guard let bytes = reply.thumbnail else { return nil }
        // Share only thumbnails of JPEGs, because thumbnails of other formats may have lost their transparency. Share
        // no thumbnail if the photo has changed meanwhile.
        let isWanted = reply.isComplete && reply.format == "JPEG" && known == desktop?.photo(photo, on: file)
        return Thumbnail(bytes: bytes, metadata: PhotoMetadata(reply), wanted: isWanted ? known : nil)
    }

    /// Writes a new thumbnail for the desktop, if the desktop lacks it. Decodes only the thumbnail, not the photo.
    func shareWithDesktop(_ thumbnail: Thumbnail) throws {
        guard let desktop, let photo = thumbnail.wanted else { return }
        let side = DesktopThumbnails.side
        let request = DecodeRequest(box: PixelSize(width: side, height: side))
        guard let pixels = try decoder.decode(.bytes(thumbnail.bytes), request).pixels else { return }
        try desktop.keep(pixels, of: photo)
    }

    /// Runs `make` and returns its result. First waits for all earlier calls for the same photo.
    func once(_ subject: Subject, _ make: @escaping @Sendable () async throws -> Bool) async throws -> Bool {
        while let task = underWay[subject] { _ = await task.result }
        let task = Task { try await make() }
        underWay[subject] = task
        defer { underWay[subject] = nil }
        return try await task.value
    }

    /// Classifies a decoding failure. Runs on this actor, because reading the whole file blocks.
    func verdict(_ error: PictureError, of stored: StoredPhoto, in files: PhotoFiles) -> PictureRenderer.Verdict {
        PictureRenderer.verdict(error, of: stored, in: files)
    }
}

extension PhotoFiles {
    /// Opens a photo's file to decode it. The caller closes the descriptor.
    func openPicture(_ photo: StoredPhoto) throws(PictureError) -> Int32 {
        do throws(SystemError) {
            return try open(photo)
        } catch {
            throw [EMFILE, ENFILE].contains(error.code) ? .tooFewDescriptors : .file("\(error)")
        }
    }
}

/// All metadata in a photo's file, and the histogram of its pixels.
public struct PhotoExamination: Hashable, Sendable {
    /// A metadata field with its name in the file. Both texts are untrusted and not yet made harmless.
    public struct Field: Hashable, Sendable {
        /// The field's name.
        public let name: String
        /// The field's value.
        public let value: String
    }

    /// The metadata that Vitrine understands, in a form common to all formats.
    public let metadata: PhotoMetadata
    /// All metadata fields, in the file's order.
    public let fields: [Field]
    /// The histogram of the whole photo; nil if no pixels were decoded.
    public let histogram: Histogram?

    /// The size at which the decoder decodes the photo. This size gives enough pixels for 256 levels, in a short time.
    static let box = PixelSize(width: 512, height: 512)

    /// Creates an examination from the decoder's reply for the whole photo.
    init(_ reply: DecodeReply) {
        metadata = PhotoMetadata(reply)
        fields = reply.metadata.fields.map { Field(name: $0.name, value: $0.value) }
        histogram = reply.pixels.map { Histogram($0) }
    }

    /// The approximate memory use in bytes.
    var byteCount: Int {
        let texts = fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        return texts + fields.count * MemoryLayout<Field>.stride
            + Histogram.levels * Histogram.Channel.allCases.count * MemoryLayout<UInt32>.stride
    }
}

extension PhotoMetadata {
    /// Creates metadata from the decoder's reply.
    public init(_ reply: DecodeReply) {
        self.init(format: reply.format, width: reply.sourceSize.width, height: reply.sourceSize.height)
        let metadata = reply.metadata
        orientation = Int(reply.orientation.rawValue)
        takenAt = metadata.takenAt
        camera = metadata.camera
        lens = metadata.lens
        exposure = metadata.exposureSeconds
        aperture = metadata.aperture
        iso = metadata.iso
        focalLength = metadata.focalLength
        latitude = metadata.latitude
        longitude = metadata.longitude
        title = metadata.title
        description = metadata.description
        videoMilliseconds = metadata.video.map { $0.durationMilliseconds ?? 0 }
        codec = metadata.video?.codec
        frameRate = metadata.video?.framesPerSecond
    }
}
