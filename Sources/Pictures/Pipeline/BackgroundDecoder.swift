import Cache
import Model
import Pixels
import Concurrency

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
