/// Formats that are known but not read, so that their pictures get a better answer than "not a picture".
enum UnreadFormat {
    private typealias Signature = (name: String, parts: [(offset: Int, bytes: [UInt8])])

    private static let signatures: [Signature] = [
        ("WebP", [(0, ascii("RIFF")), (8, ascii("WEBP"))]),
        ("GIF", [(0, ascii("GIF87a"))]),
        ("GIF", [(0, ascii("GIF89a"))]),
        ("TIFF", [(0, [0x49, 0x49, 0x2A, 0x00])]),
        ("TIFF", [(0, [0x4D, 0x4D, 0x00, 0x2A])]),
        ("AVIF", [(4, ascii("ftypavif"))]),
        ("AVIF", [(4, ascii("ftypavis"))]),
        ("HEIC", [(4, ascii("ftypheic"))]),
        ("HEIC", [(4, ascii("ftypheix"))]),
        ("HEIC", [(4, ascii("ftyphevc"))]),
        ("HEIC", [(4, ascii("ftypmif1"))]),
        ("HEIC", [(4, ascii("ftypmsf1"))]),
    ]

    /// The name of the format these bytes begin, if it is one of them.
    static func name(of bytes: UnsafeRawBufferPointer) -> String? {
        signatures.first { signature in
            signature.parts.allSatisfy { bytes.dropFirst($0.offset).starts(with: $0.bytes) }
        }?.name
    }

    private static func ascii(_ text: StaticString) -> [UInt8] {
        Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
