/// The first bytes of the picture formats that photos come in.
///
/// A guard at the door, nothing more: it keeps web pages and error texts out of the cache. Whether the bytes are a
/// picture is found out where they are decoded.
public enum PictureSignature: String, Sendable, CaseIterable {
    case jpeg, png, gif, webp, tiff, heif

    /// How many bytes it takes to tell.
    public static let length = 12

    /// The format that these first bytes begin, if it is one of them.
    public init?(_ bytes: some Collection<UInt8>) {
        let head = Array(bytes.prefix(Self.length))
        switch head {
        case _ where head.starts(with: [0xFF, 0xD8, 0xFF]): self = .jpeg
        case _ where head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]): self = .png
        case _ where head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8)): self = .gif
        case _ where head.starts(with: Array("RIFF".utf8)) && head.dropFirst(8).elementsEqual("WEBP".utf8):
            self = .webp
        // 43 in the place of 42 are files with offsets of 64 bits.
        case _ where [0x2A, 0x2B].contains { head.starts(with: [0x49, 0x49, $0, 0x00]) }: self = .tiff
        case _ where [0x2A, 0x2B].contains { head.starts(with: [0x4D, 0x4D, 0x00, $0]) }: self = .tiff
        // ISO base media, the brands of still pictures.
        case _ where head.dropFirst(4).starts(with: "ftyp".utf8) && Self.isStillBrand(head.dropFirst(8)): self = .heif
        default: return nil
        }
    }

    private static func isStillBrand(_ brand: ArraySlice<UInt8>) -> Bool {
        ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif", "avis"].contains {
            $0.utf8.elementsEqual(brand)
        }
    }
}
