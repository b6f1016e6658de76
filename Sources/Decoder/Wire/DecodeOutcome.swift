/// The decoder's answer in shared memory: a picture or a failure.
///
/// The answer consists of "VTRN", a version, a kind, the values in order, and last the pixels or the thumbnail. Its
/// writer has decoded untrusted bytes and may be compromised, so the reader must withstand any bytes.
public enum DecodeOutcome: Hashable, Sendable {
    /// The decoder decoded the picture.
    case picture(DecodeReply)
    /// The decoder could not decode the picture.
    case failure(DecodeFailure)

    private static let magic: UInt32 = 0x4E52_5456
    private static let version: UInt16 = 3
    private static let headerLength = 7

    /// Returns the most bytes of an answer to a request. Writer and reader use the same limit.
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

    /// Reads the answer to a request. Throws `PixelsError` if the bytes are anything else.
    public init(reading block: UnsafeRawBufferPointer, for request: DecodeRequest) throws(PixelsError) {
        var wire = WireReader(block)
        guard try wire.integer(UInt32.self) == Self.magic, try wire.integer(UInt16.self) == Self.version else {
            throw .malformedReply("wrong signature or version")
        }
        switch try wire.integer(UInt8.self) {
        case 0: self = .picture(try DecodeReply(from: &wire, for: request))
        case 1: self = .failure(try DecodeFailure(from: &wire))
        default: throw .malformedReply("unknown kind")
        }
        guard wire.remaining == 0 else { throw .malformedReply("unexpected bytes after the end") }
    }

    /// Reads the answer to a request from sealed memory.
    public init(reading memory: SealedMemory, for request: DecodeRequest) throws(PixelsError) {
        self = try memory.withBytes(atMost: Self.longestEncoding(for: request)) { block throws(PixelsError) in
            try DecodeOutcome(reading: block, for: request)
        }
    }

    /// The encoded answer, for at most one frame.
    public var block: [UInt8] { head + product }

    /// Writes the answer into memory and seals the memory.
    public func write(to memory: SealedMemory) throws(PixelsError) {
        try memory.fill(with: [head, product] + following)
    }

    /// The encoded answer without pixels or thumbnail.
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

    /// The bytes of the pixels or the thumbnail. Swift shares the array without copying the bytes.
    var product: [UInt8] {
        guard case .picture(let reply) = self else { return [] }
        return reply.pixels?.bytes ?? reply.thumbnail ?? []
    }

    /// The bytes of the further frames. Swift shares the arrays without copying the bytes.
    var following: [[UInt8]] {
        if case .picture(let reply) = self { reply.following.map(\.pixels.bytes) } else { [] }
    }
}
