import Pixels

/// A PNG's chunks, walked without the library: the header is judged before libpng sees it, and EXIF may come behind the
/// picture, where libpng would not get for a region at the top.
struct PNGChunks {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// What the first chunk says, which has to be IHDR.
    var header: (size: PixelSize, isInterlaced: Bool)? {
        var position = Self.signature.count
        guard let chunk = chunk(at: &position), chunk.type.elementsEqual("IHDR".utf8), chunk.content.count == 13 else {
            return nil
        }
        let size = PixelSize(width: Int(number(chunk.content, at: 0)), height: Int(number(chunk.content, at: 4)))
        return (size, chunk.content[12] != 0)
    }

    /// The EXIF chunk's content, which begins with the byte order.
    var exif: UnsafeRawBufferPointer? {
        var position = Self.signature.count
        while let chunk = chunk(at: &position) {
            if chunk.type.elementsEqual("eXIf".utf8) { return chunk.content }
        }
        return nil
    }

    /// The chunk at `position`, which moves behind it; nothing where the file ends.
    private func chunk(
        at position: inout Int
    ) -> (type: UnsafeRawBufferPointer, content: UnsafeRawBufferPointer)? {
        guard position + 8 <= bytes.count else { return nil }
        let length = Int(number(bytes, at: position))
        let (type, content) = (position + 4, position + 8)
        guard length <= bytes.count - content else { return nil }
        position = content + length + 4
        return (
            UnsafeRawBufferPointer(rebasing: bytes[type..<content]),
            UnsafeRawBufferPointer(rebasing: bytes[content..<content + length])
        )
    }

    private func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
