import PictureTestSupport
import Pixels
import Testing

struct FormatTests {
    @Test(arguments: [
        "", "\u{FF}", "<!DOCTYPE html><html><body>404</body></html>", "<?xml version=\"1.0\"?><svg/>", "%PDF-1.7\n",
        "#!/bin/sh\n", "P8\n1 1\n255\nabc", "BMW is no bitmap at all", "push graphic-context", "RIFF....WAVEfmt ",
        "....ftypnone", "GIF88a",
        "\u{89}PNG",
    ])
    func refusesFilesThatAreNotPictures(text: String) {
        #expect(throws: DecodeFailure.notAPicture) { try decode(Array(text.utf8), .within(80)) }
    }

    @Test func refusesFilesThatEndEarly() throws {
        let webP = Array("RIFF\u{4}\0\0\0WEBP".utf8)
        let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10]
        for bytes in [webP, jpeg, Array(PNGFile(.noise(width: 1, height: 1)).bytes.prefix(40))] {
            for length in 0...bytes.count {
                #expect(throws: DecodeFailure.self) { try decode(Array(bytes[..<length]), .within(80)) }
            }
        }
    }

    @Test(arguments: [
        ("JPEG 2000", [0xFF, 0x4F, 0xFF, 0x51]), ("Photoshop", Array("8BPS".utf8)),
    ])
    func namesUnsupportedFormats(name: String, bytes: [UInt8]) {
        #expect(throws: DecodeFailure.unsupportedFormat(name)) { try decode(bytes, .within(80)) }
    }

    /// A file of boxes without a picture is recognised by its brand, and refused with or without libheif.
    @Test(arguments: ["heic", "mif1", "avif"])
    func refusesBoxesWithoutAPicture(brand: String) {
        let bytes = [0, 0, 0, 24] + Array("ftyp\(brand)\0\0\0\0mif1\(brand)".utf8)
        #expect {
            try decode(bytes, .within(80))
        } throws: { error in
            switch error as? DecodeFailure {
            case .damaged, .missingLibrary: true
            default: false
            }
        }
    }

    @Test func fitsCoversAndStretches() throws {
        let picture = PixelBuffer.scene(width: 120, height: 80)
        let bytes = PNGFile(picture).bytes
        var request = DecodeRequest(box: PixelSize(width: 30, height: 30))
        #expect(try decode(bytes, request).psnr(picture.scaled(to: PixelSize(width: 30, height: 20))) > 45)
        request.pixelAspect = 0.5
        #expect(try decode(bytes, request).psnr(picture.scaled(to: PixelSize(width: 30, height: 10))) > 45)
        request.fitting = .cover
        let covering = try decode(bytes, request)
        let middle = PixelRect(x: 40, y: 0, width: 40, height: 80)
        #expect(covering.psnr(picture.scaled(to: request.box, region: middle)) > 45)
        request = DecodeRequest(box: PixelSize(width: 360, height: 360))
        #expect(try decode(bytes, request).pixels == picture)
        request.enlarges = true
        #expect(try decode(bytes, request).pixels?.size == PixelSize(width: 360, height: 240))
    }
}
