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
            (Array("FUJIFILMCCD-RAW 0201".utf8), .raf), ([0, 0, 0, 24] + Array("ftypcrx ".utf8), .cr3),
            (Array("IIRO".utf8), .orf), (Array("IIRS".utf8), .orf), (Array("MMOR".utf8), .orf),
            ([0x49, 0x49, 0x55, 0], .rw2), (Array("qoif".utf8), .qoi), ([0xFF, 0x0A], .jxl),
            ([0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jxl),
            (Array("BM".utf8) + [UInt8](repeating: 1, count: 12) + [40, 0, 0, 0], .bmp),
            (Array("P6\n4 4".utf8), .netpbm), (Array("P1 4 4".utf8), .netpbm), (Array("P7\nWIDTH".utf8), .netpbm),
        ] as [([UInt8], PictureSignature)])
    func knowsEveryFormat(bytes: [UInt8], format: PictureSignature) {
        #expect(PictureSignature(bytes) == format)
    }

    @Test(arguments: ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif", "avis"])
    func knowsTheBrandsOfPictures(brand: String) {
        #expect(PictureSignature([0, 0, 0, 24] + Array("ftyp\(brand)".utf8)) == .heif)
    }

    @Test(arguments: [
        "<!DOCTYPE html>", "RIFF....WAVEfmt ", "....ftypisom", "II,\0", "MM\0,", "BMW, a car", "P8\n4 4", "P7 332",
        "Pa ", "BM",
    ])
    func otherFilesAreRefused(text: String) {
        #expect(PictureSignature(Array(text.utf8)) == nil)
    }

    @Test("A file that is no picture is called a drawing only if it is one")
    func drawings() {
        let drawing = "an SVG drawing, which Vitrine does not show"
        #expect(PictureSignature.description(ofOther: Array("<svg xmlns=''/>".utf8)) == drawing)
        let commented = "<?xml version='1.0'?>\n<!-- made by a program -->\n<svg/>"
        #expect(PictureSignature.description(ofOther: Array(commented.utf8)) == drawing)
        for other in ["", "<html>", "text about <svg"] {
            #expect(PictureSignature.description(ofOther: Array(other.utf8)) == "something that is not a picture")
        }
    }

    @Test("Names of cameras' raw files and of simple formats are those of pictures")
    func namesOfPictures() {
        for ending in ["CR2", "cr3", "NEF", "nrw", "arw", "DNG", "raf", "orf", "rw2", "pef", "srw"] {
            #expect(PictureName.isPicture(Array("a.\(ending)".utf8)[...]), "\(ending)")
        }
        for ending in ["bmp", "ppm", "pgm", "pbm", "pnm", "pam", "qoi", "jxl", "mpo"] {
            #expect(PictureName.isPicture(Array("a.\(ending)".utf8)[...]), "\(ending)")
        }
        for name in ["a.svg", "a.psd", ".dng", "dng", "a.xmp"] {
            #expect(!PictureName.isPicture(Array(name.utf8)[...]), "\(name)")
        }
    }
}
