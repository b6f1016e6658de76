import Decoding
import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// Boundary values of integers in headers, EXIF and directories do not crash the decoder.
@Suite(.ownThread, .serialized) struct BoundaryNumberTests {
    struct Format: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let make: @Sendable () throws -> [UInt8]
        /// The number of attempts. Opening a video or a raw file takes longer than a small picture.
        var rounds = 3_000

        init(_ name: String, _ make: @escaping @Sendable () throws -> [UInt8]) {
            (testDescription, self.make) = (name, make)
        }
    }

    private static func converted(_ words: String...) throws -> [UInt8] {
        try Tool.run("/usr/bin/convert", ["ppm:-"] + words, input: PixelBuffer.scene(width: 16, height: 12).ppm)
    }

    private static func jpeg(_ words: String...) throws -> [UInt8] {
        try Tool.run("/usr/bin/cjpeg", words, input: PixelBuffer.scene(width: 16, height: 12).ppm)
    }

    private static func exif() -> ExifFile {
        var exif = ExifFile(orientation: 6)
        exif.main += [(0x010E, .text("described")), (0x0110, .text("a camera"))]
        exif.exif = [(0x829A, .rationals([(1, 250)])), (0x8827, .short(400)), (0x9003, .text("2006:07:30 07:47:17"))]
        exif.gps = [(0x0001, .text("N")), (0x0002, .rationals([(50, 1), (30, 1), (0, 1)]))]
        exif.thumbnail = [UInt8](repeating: 7, count: 20)
        return exif
    }

    static let formats =
        [
            Format("JPEG") { try jpeg() }, Format("progressive JPEG") { try jpeg("-progressive") },
            Format("EXIF in a JPEG") { ExifFile.jpeg(try jpeg(), inserting: exif().segment) },
            Format("PNG") { PNGFile(.scene(width: 9, height: 7)).bytes },
            Format("EXIF in a PNG") {
                var png = PNGFile(.scene(width: 9, height: 7))
                png.chunks = [("eXIf", exif().tiff)]
                return png.bytes
            },
            Format("GIF") {
                var gif = GIFFile(
                    size: PixelSize(width: 8, height: 6),
                    palette: [.black, PixelColor(red: 255, green: 255, blue: 255)])
                gif.frames = [.init(size: gif.size, filled: 0), .init(size: gif.size, filled: 1)]
                return gif.bytes
            },
            Format("WebP") { try converted("webp:-") },
            Format("lossless WebP") { try converted("-define", "webp:lossless=true", "webp:-") },
            Format("TIFF") { try converted("tiff:-") },
            Format("BigTIFF") { exif().bigTIFF },
            Format("HEIF") { try converted("heic:-") },
            Format("BMP") { try converted("bmp:-") },
            Format("BMP in run lengths") {
                try converted("-colors", "8", "-type", "Palette", "-compress", "RLE", "bmp3:-")
            },
            Format("PPM") { try converted("ppm:-") },
            Format("PPM as text") { try converted("-compress", "none", "ppm:-") },
            Format("PAM") { try converted("-alpha", "on", "pam:-") },
        ] + ["qoi-alpha.qoi", "jxl-described.jxl", "jxl-alpha-lossless.jxl", "raw-thumbnail.dng"].map(inCorpus)
        + ["h264.mp4", "hevc.mov", "vp9.webm", "av1.mkv", "mjpeg.avi", "mpeg4.avi", "h264.mts", "mpeg2.mpg"].map {
            var format = inCorpus("video-\($0)")
            format.rounds = 100
            return format
        }
        + ["arw", "cr2", "cr3", "dng", "nef", "orf", "pef", "raf", "rw2", "srw"].map {
            var format = inCorpus("raw-\($0).\($0)")
            format.rounds = 500
            return format
        }

    private static func inCorpus(_ name: String) -> Format {
        Format(name) { try PictureCorpus().bytes("pictures", name) }
    }

    @Test("No number anywhere in a picture's header crashes the decoder", arguments: formats)
    func headers(format: Format) throws {
        let whole = try format.make()
        var numbers = BoundaryNumbers(seed: UInt64(whole.count))
        var requests = [DecodeRequest.within(8), .within(8), .within(8)]
        requests[1].product = .facts
        requests[2].product = .thumbnail
        // A directory may be at the end, behind the pixels.
        let places =
            whole.count <= 1_200 ? Array(whole.indices) : Array(0..<900) + Array(whole.count - 300..<whole.count)
        // `VITRINE_NUMBERS=30` makes thirty times as many attempts.
        let times = ProcessInfo.processInfo.environment["VITRINE_NUMBERS"].flatMap { Int($0) } ?? 1
        for round in 0..<format.rounds * max(1, times) {
            var bytes = whole
            for _ in 0...(round % 2) { numbers.overwrite(&bytes, at: places.randomElement(using: &numbers) ?? 0) }
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { Self.rightChecksums(&bytes) }
            let request = requests[round % requests.count]
            guard let reply = try? decode(bytes, request) else { continue }
            // Every answer must be readable.
            let block = DecodeOutcome.picture(reply).block
            #expect(throws: Never.self) { try block.withUnsafeBytes { try DecodeOutcome(reading: $0, for: request) } }
            if SmallPictureService.takes(bytes, for: request) { _ = Decoder.decodeSmall(bytes, request) }
        }
    }

    /// A PNG's chunks are read only if their checksums are right.
    private static func rightChecksums(_ bytes: inout [UInt8]) {
        var start = 8
        while start + 12 <= bytes.count {
            let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = start + 8 + length
            guard end + 4 <= bytes.count else { return }
            bytes.replaceSubrange(end..<end + 4, with: PNGFile.bigEndian(PNGFile.crc(Array(bytes[start + 4..<end]))))
            start = end + 4
        }
    }
}
