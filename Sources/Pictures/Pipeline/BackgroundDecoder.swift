import Cache
import Concurrency
import Model
import Pixels

/// Decodes photos for metadata and thumbnails, one at a time, for all galleries.
///
/// Decoding blocks a thread for as long as the decoder runs, and Swift's shared pool has one thread per core. A few
/// galleries read at once would occupy the whole pool; this actor runs them one after the other on a queue of its
/// own.
actor BackgroundDecoder {
    private let decoder: DecoderClient
    private let executor = QueueExecutor(label: "vitrine.pictures.background", qos: .utility)
    private var missing = MissingLibraries()
    /// Thumbnails in progress. Every drawing of a photo without a thumbnail requests one.
    private var underWay: [Subject: Task<Bool, any Error>] = [:]

    /// A photo in a gallery.
    struct Subject: Hashable {
        let gallery: GalleryID
        let key: PhotoKey
    }

    /// A queue of its own, which decoders may block.
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ decoder: DecoderClient) {
        self.decoder = decoder
    }

    /// Decodes a photo's file. Blocks this actor's queue until the decoder has ended.
    func decode(_ path: String, _ request: DecodeRequest) throws(PictureError) -> DecodeReply {
        if let failure = missing.failure(ofFileAt: path) { throw .undecodable(failure) }
        do {
            return try decoder.decode(.file(path), request)
        } catch {
            missing.record(error, ofFileAt: path)
            throw error
        }
    }

    /// Runs `make` after any earlier call for the same photo has finished, and returns its result.
    func once(_ subject: Subject, _ make: @escaping @Sendable () async throws -> Bool) async throws -> Bool {
        while let task = underWay[subject] { _ = await task.result }
        let task = Task { try await make() }
        underWay[subject] = task
        defer { underWay[subject] = nil }
        return try await task.value
    }

    /// Classifies a decoding failure. Runs here because it reads the whole file.
    func verdict(_ error: PictureError, of stored: StoredPhoto, in files: PhotoFiles) -> PictureRenderer.Verdict {
        PictureRenderer.verdict(error, of: stored, in: files)
    }
}

/// All metadata in a photo's file, and its histogram.
public struct PhotoExamination: Hashable, Sendable {
    /// A metadata field as the file names it. Both texts are untrusted and not yet sanitised.
    public struct Field: Hashable, Sendable {
        /// The field's name.
        public let name: String
        /// The field's value.
        public let value: String
    }

    /// The fields that Vitrine knows, in the form common to all formats.
    public let metadata: PhotoMetadata
    /// All fields, in the file's order.
    public let fields: [Field]
    /// The histogram of the whole photo; nil if no pixels were decoded.
    public let histogram: Histogram?

    /// The size the photo is decoded at: enough pixels for 256 levels, few enough to be quick.
    static let box = PixelSize(width: 512, height: 512)

    /// Creates an examination from the decoder's reply for the whole photo.
    init(_ reply: DecodeReply) {
        metadata = PhotoMetadata(reply)
        fields = reply.metadata.fields.map { Field(name: $0.name, value: $0.value) }
        histogram = reply.pixels.map { Histogram($0) }
    }

    /// The approximate memory use.
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
    }
}
