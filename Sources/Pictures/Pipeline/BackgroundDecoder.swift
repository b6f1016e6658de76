import Cache
import Concurrency
import Model
import Pixels

/// Where photos are decoded for what they say, and not to be looked at: one after the other, whatever gallery they are of.
///
/// Decoding blocks for as long as a decoder runs, and the shared pool of Swift's concurrency has one thread a core. A few
/// galleries that are read at once would take all of them; here they wait for their turn, and hold nothing.
actor BackgroundDecoder {
    private let decoder: DecoderClient
    private let executor = QueueExecutor(label: "vitrine.pictures.backroom", qos: .utility)
    private var missing = MissingLibraries()
    /// Thumbnails that are being made. Each drawing of a photo that has none asks for one.
    private var underWay: [Subject: Task<Bool, any Error>] = [:]

    /// A photo of some gallery.
    struct Subject: Hashable {
        let gallery: GalleryID
        let key: PhotoKey
    }

    /// The queue that a decoder may block.
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ decoder: DecoderClient) {
        self.decoder = decoder
    }

    /// Decodes a photo's file.
    func decode(_ path: String, _ request: DecodeRequest) throws(PictureError) -> DecodeReply {
        if let failure = missing.failure(ofFileAt: path) { throw .undecodable(failure) }
        do {
            return try decoder.decode(.file(path), request)
        } catch {
            missing.note(error, ofFileAt: path)
            throw error
        }
    }

    /// Makes a thumbnail when nobody else is about it: then there may be nothing left to do. Returns what comes of it.
    func once(_ subject: Subject, _ make: @escaping @Sendable () async throws -> Bool) async throws -> Bool {
        while let task = underWay[subject] { _ = await task.result }
        let task = Task { try await make() }
        underWay[subject] = task
        defer { underWay[subject] = nil }
        return try await task.value
    }

    /// What a photo is to the cache that could not be decoded: its file is looked through.
    func verdict(_ error: PictureError, of stored: StoredPhoto, in files: PhotoFiles) -> PictureRenderer.Verdict {
        PictureRenderer.verdict(error, of: stored, in: files)
    }
}

/// What a photo's file says of itself, all of it, and how the photo's tones are spread.
public struct PhotoExamination: Hashable, Sendable {
    /// One thing that a file says, in the words of its metadata. Both come from strangers, and are not yet made harmless.
    public struct Field: Hashable, Sendable {
        /// What it is called.
        public let name: String
        /// What is said.
        public let value: String
    }

    /// What is known of every photo in the same words.
    public let metadata: PhotoMetadata
    /// Everything that the file says, in the file's order.
    public let fields: [Field]
    /// The tones of the whole photo; nil if there are no pixels.
    public let histogram: Histogram?

    /// Of so many pixels the tones are taken: enough for 256 levels, few enough to be had soon.
    static let box = PixelSize(width: 512, height: 512)

    /// Takes it from a decoder's answer about the whole photo.
    init(_ reply: DecodeReply) {
        metadata = PhotoMetadata(reply)
        fields = reply.metadata.fields.map { Field(name: $0.name, value: $0.value) }
        histogram = reply.pixels.map { Histogram($0) }
    }

    /// About how much memory it takes.
    var byteCount: Int {
        let texts = fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        return texts + fields.count * MemoryLayout<Field>.stride
            + Histogram.levels * Histogram.Channel.allCases.count * MemoryLayout<UInt32>.stride
    }
}

extension PhotoMetadata {
    /// Takes from a decoder's answer what the picture says of itself.
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
