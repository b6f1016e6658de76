import Model
import Pixels

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
