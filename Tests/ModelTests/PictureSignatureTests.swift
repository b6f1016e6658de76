import Testing

@testable import Model

@Suite struct PictureSignatureTests {
    /// Every format that the decoder reads is recognised.
    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], .jpeg), ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
            (Array("GIF89a".utf8), .gif), (Array("RIFF....WEBPVP8 ".utf8), .webp),
            ([0x49, 0x49, 42, 0], .tiff), ([0x4D, 0x4D, 0, 42], .tiff),
            ([0x49, 0x49, 43, 0], .tiff), ([0x4D, 0x4D, 0, 43], .tiff),
        ] as [([UInt8], PictureSignature)])
    func knowsEveryFormat(bytes: [UInt8], format: PictureSignature) {
        #expect(PictureSignature(bytes) == format)
    }

    @Test(arguments: ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif", "avis"])
    func knowsTheBrandsOfPictures(brand: String) {
        #expect(PictureSignature([0, 0, 0, 24] + Array("ftyp\(brand)".utf8)) == .heif)
    }

    @Test(arguments: ["<!DOCTYPE html>", "RIFF....WAVEfmt ", "....ftypisom", "II,\0", "MM\0,"])
    func otherFilesAreRefused(text: String) {
        #expect(PictureSignature(Array(text.utf8)) == nil)
    }
}
