/// Formats that are known but not read, so that their pictures get a better answer than "not a picture".
enum UnreadFormat {
    private typealias Signature = (name: String, parts: [(offset: Int, bytes: [UInt8])])

    private static let signatures: [Signature] = [
        ("JPEG XL", [(0, [0xFF, 0x0A])]),
        ("JPEG XL", [(0, [0, 0, 0, 12] + ascii("JXL "))]),
        ("JPEG 2000", [(0, [0, 0, 0, 12] + ascii("jP  "))]),
        ("JPEG 2000", [(0, [0xFF, 0x4F, 0xFF, 0x51])]),
        ("Photoshop", [(0, ascii("8BPS"))]),
        ("OpenEXR", [(0, [0x76, 0x2F, 0x31, 0x01])]),
        ("Canon raw", [(4, ascii("ftypcrx "))]),
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
