/// What the decoder hands back in one block of memory: a picture, or why there is none.
///
/// The block: "VTRN", a version, a kind, the values in order, the pixels or the thumbnail last. The process that writes it decodes
/// untrusted bytes and may have been taken over, so reading survives any block whatsoever.
public enum DecodeOutcome: Hashable, Sendable {
    /// The picture.
    case picture(DecodeReply)
    /// Why there is none.
    case failure(DecodeFailure)

    private static let magic: UInt32 = 0x4E52_5456
    private static let version: UInt16 = 3
    private static let headerLength = 7

    /// The largest block that answers `request`: the decoder may not write a larger one, nor is it read.
    public static func longestEncoding(for request: DecodeRequest) -> Int {
        let product =
            switch request.product {
            case .facts: 0
            case .pixels: (PixelBuffer.byteCount(of: request.box) ?? 0) * request.picturesAtOnce
            case .thumbnail: DecodeReply.longestThumbnail
            }
        let durations = 4 * DecodeRequest.runs.upperBound
        return headerLength + 64 + durations + PictureMetadata.longestText + PictureMetadata.longestEncoding + product
    }

    /// Reads an answer to `request`. Throws `PixelsError.malformedReply` for every block that is none.
    public init(reading block: UnsafeRawBufferPointer, for request: DecodeRequest) throws(PixelsError) {
        var wire = WireReader(block)
        guard try wire.integer(UInt32.self) == Self.magic, try wire.integer(UInt16.self) == Self.version else {
            throw .malformedReply("it does not begin as an answer does")
        }
        switch try wire.integer(UInt8.self) {
        case 0: self = .picture(try DecodeReply(from: &wire, for: request))
        case 1: self = .failure(try DecodeFailure(from: &wire))
        default: throw .malformedReply("it is of no known kind")
        }
        guard wire.remaining == 0 else { throw .malformedReply("it goes on after its end") }
    }

    /// Reads an answer to `request` from the block that a decoder has sealed.
    public init(reading memory: SealedMemory, for request: DecodeRequest) throws(PixelsError) {
        self = try memory.withBytes(atMost: Self.longestEncoding(for: request)) { block throws(PixelsError) in
            try DecodeOutcome(reading: block, for: request)
        }
    }

    /// The block, of an answer with one picture at most.
    public var block: [UInt8] { head + product }

    /// Writes the block and seals it.
    public func write(to memory: SealedMemory) throws(PixelsError) {
        try memory.fill(with: [head, product] + following)
    }

    /// All of the block but what was made of the picture.
    var head: [UInt8] {
        var wire = WireWriter()
        wire.append(Self.magic)
        wire.append(Self.version)
        switch self {
        case .picture(let reply):
            wire.append(0 as UInt8)
            reply.encodeHead(to: &wire)
        case .failure(let failure):
            wire.append(1 as UInt8)
            failure.encode(to: &wire)
        }
        return wire.bytes
    }

    /// The bytes of the pixels or of the thumbnail, not copied.
    var product: [UInt8] {
        guard case .picture(let reply) = self else { return [] }
        return reply.pixels?.bytes ?? reply.thumbnail ?? []
    }

    /// The bytes of the pictures behind the first, likewise.
    var following: [[UInt8]] {
        if case .picture(let reply) = self { reply.following.map(\.pixels.bytes) } else { [] }
    }
}
