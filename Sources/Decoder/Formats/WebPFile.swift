import Pixels

/// The chunks of a WebP file, walked without the library: of a still picture what lies beside it, of an animation where its
/// pictures are.
struct WebPFile {
    /// One picture of an animation.
    struct Frame {
        let place: (x: Int, y: Int)
        let size: PixelSize
        /// In milliseconds.
        let duration: Int
        /// Whether it is mixed with what is below it, and not put in its place.
        let isBlended: Bool
        let disposal: Animation.Disposal
        /// The packed picture.
        let data: UnsafeRawBufferPointer
    }

    /// The sides of an animation's canvas.
    private(set) var canvas: PixelSize?
    /// The pictures of an animation; none in a file of one picture.
    private(set) var frames: [Frame] = []
    /// The EXIF block, from its byte order on.
    private(set) var exif: UnsafeRawBufferPointer?
    /// The colour profile.
    private(set) var profile: UnsafeRawBufferPointer?
    /// Whether the file says that it is an animation.
    private(set) var isAnimated = false

    /// Walks a file whose signature was recognised. What ends early is taken as far as it goes.
    init(_ bytes: UnsafeRawBufferPointer) {
        var position = 12
        while let chunk = Self.chunk(of: bytes, at: &position) {
            switch chunk.type {
            case "VP8X" where chunk.content.count >= 10:
                isAnimated = chunk.content[0] & 2 != 0
                canvas = Self.size(chunk.content, at: 4)
            case "ANMF" where chunk.content.count >= 16 && frames.count < DecodeRequest.frames.count:
                frames.append(Self.frame(chunk.content))
            case "EXIF":
                let hasName = chunk.content.starts(with: "Exif\0\0".utf8)
                exif = exif ?? UnsafeRawBufferPointer(rebasing: chunk.content.dropFirst(hasName ? 6 : 0))
            case "ICCP":
                profile = profile ?? chunk.content
            default: break
            }
        }
    }

    private static func frame(_ content: UnsafeRawBufferPointer) -> Frame {
        Frame(
            place: (2 * number(content, at: 0), 2 * number(content, at: 3)), size: size(content, at: 6),
            duration: number(content, at: 12), isBlended: content[15] & 2 == 0,
            disposal: content[15] & 1 != 0 ? .clear : .keep,
            data: UnsafeRawBufferPointer(rebasing: content[16...]))
    }

    /// The chunk at `position`, which moves behind it; the last one may lack its end.
    private static func chunk(
        of bytes: UnsafeRawBufferPointer, at position: inout Int
    ) -> (type: String, content: UnsafeRawBufferPointer)? {
        guard position + 8 <= bytes.count else { return nil }
        let type = String(decoding: bytes[position..<position + 4], as: UTF8.self)
        let length = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self)))
        let content = position + 8..<min(position + 8 + length, bytes.count)
        // "If Chunk Size is odd, a single padding byte [...] is added" (RIFF container, WebP).
        position += 8 + length + length % 2
        return (type, UnsafeRawBufferPointer(rebasing: bytes[content]))
    }

    /// Two sides of 24 bits, each stored one less than it is.
    private static func size(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> PixelSize {
        PixelSize(width: 1 + number(bytes, at: offset), height: 1 + number(bytes, at: offset + 3))
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2]) << 16
    }
}
