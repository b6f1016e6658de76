import Cache
import Pixels
import Streams

/// Where photos are decoded for what they say, and not to be looked at: one after the other, whatever gallery they are of.
///
/// Decoding blocks for as long as a decoder runs, and the shared pool of Swift's concurrency has one thread a core. A few
/// galleries that are read at once would take all of them; here they wait for their turn, and hold nothing.
actor BackRoom {
    private let decoder: DecoderClient
    private let executor = QueueExecutor(label: "vitrine.pictures.backroom", qos: .utility)

    /// The queue that a decoder may block.
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ decoder: DecoderClient) {
        self.decoder = decoder
    }

    /// Decodes a photo's file.
    func decode(_ path: String, _ request: DecodeRequest) throws(PictureError) -> DecodeReply {
        try decoder.decode(.file(path), request)
    }

    /// What a photo is to the cache that could not be decoded: its file is looked through.
    func verdict(_ error: PictureError, of stored: StoredPhoto, in files: PhotoFiles) -> PictureDeveloper.Verdict {
        PictureDeveloper.verdict(error, of: stored, in: files)
    }
}
