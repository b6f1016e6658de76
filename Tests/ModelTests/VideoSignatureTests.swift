import Testing

@testable import Model

@Suite struct VideoSignatureTests {
    private static func packets(_ size: Int, from first: Int) -> [UInt8] {
        (0..<600).map { $0 % size == first ? 0x47 : 0 }
    }

    @Test(
        "Every container of videos is recognised",
        arguments: [
            ([0, 0, 0, 24] + Array("ftypisom".utf8), .mp4), ([0, 0, 0, 20] + Array("ftypqt  ".utf8), .mp4),
            ([0, 0, 0, 8] + Array("wide".utf8), .mp4), ([0, 0, 0, 8] + Array("moov".utf8), .mp4),
            ([0x1A, 0x45, 0xDF, 0xA3], .matroska), (Array("RIFF....AVI LIST".utf8), .avi),
            ([0, 0, 1, 0xBA], .programStream), (packets(188, from: 0), .transportStream),
            (packets(192, from: 4), .transportStream),
        ] as [([UInt8], VideoSignature)])
    func containers(bytes: [UInt8], format: VideoSignature) {
        #expect(VideoSignature(bytes) == format)
        #expect(PictureSignature(bytes) == nil)
    }

    @Test(
        "Pictures and other files are no videos",
        arguments: [
            "....ftypheic", "....ftypavif", "....ftypcrx ", "RIFF....WEBPVP8 ", "RIFF....WAVEfmt ", "GGGG", "G", "",
            "<!DOCTYPE html>",
        ])
    func others(text: String) {
        #expect(VideoSignature(Array(text.utf8)) == nil)
    }

    @Test("Names of videos are shown, and are not those of pictures")
    func names() {
        for ending in ["mp4", "M4V", "mov", "webm", "mkv", "AVI", "mts", "m2ts", "3gp", "mpg", "mpeg"] {
            let name = Array("a.\(ending)".utf8)[...]
            #expect(
                PictureName.isVideo(name) && PictureName.isPictureOrVideo(name) && !PictureName.isPicture(name),
                "\(ending)")
        }
        for name in ["a.mp3", ".mov", "mov", "a.ts", "a.thm"] {
            #expect(!PictureName.isPictureOrVideo(Array(name.utf8)[...]), "\(name)")
        }
        #expect(PictureName.isPictureOrVideo(Array("a.jpg".utf8)[...]))
    }

    @Test("Names of HEIC and AVIF photos are told from others")
    func heif() {
        for path in ["/p/a.HEIC", "/p/a.heif/", "a.hif", "/a.b.avif"] {
            #expect(PictureName.isHEIF(path: path), "\(path)")
        }
        for path in ["", "/", "/heic", "/.heic", "/a.heic/b", "/a.jpg", "/a.heics"] {
            #expect(!PictureName.isHEIF(path: path), "\(path)")
        }
    }
}
