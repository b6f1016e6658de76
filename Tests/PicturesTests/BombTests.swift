import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// Gives malicious pictures to the real decoder, and counts their cost.
@Suite(.disabled(if: Sanitizer.isOn, "the decoder limits its address space"))
struct BombTests {
    private let folder = TestFolder()

    /// KiB that the client may grow by: nothing in proportion to the bomb's size or claims.
    private static let growth = 2_048
    /// The decoder's own limits: milliseconds of processor time, with the kernel's rounding, and KiB of memory. A
    /// refusal depends only on the header, so it costs no more than a process does.
    private static let work = 11_000
    private static let refusal = 50
    private static let memory = 1 << 20

    @Test(arguments: Bomb.all) func bombsStayWithinTheLimits(bomb: Bomb) throws {
        let file = folder.path("bomb")
        try bomb.write(to: file)
        let client = try DecoderClientProgram("bomb", [file], in: folder)
        let outcome = try #require(client.counts["outcome"])
        #expect(outcome.hasPrefix(bomb.outcome), "\(outcome)")
        #expect(try #require(client["grown"]) < Self.growth)
        let isRefused = outcome != "whole" && outcome != "incomplete"
        #expect(try #require(client["milliseconds"]) < (isRefused ? Self.refusal : Self.work))
        #expect(try #require(client["resident"]) <= Self.memory)
    }
}

/// A malicious picture and the start of the decoder's answer. "whole" and "incomplete" mean a picture.
struct Bomb: Sendable, CustomStringConvertible {
    let description: String
    let outcome: String
    private let make: @Sendable () throws -> [UInt8]
    /// The file's length; its rest is a hole.
    private var length: Int?

    private init(_ description: String, _ outcome: String, _ make: @escaping @Sendable () throws -> [UInt8]) {
        self.description = description
        self.outcome = outcome
        self.make = make
    }

    func write(to path: String) throws {
        try Data(try make()).write(to: URL(fileURLWithPath: path))
        if let length { truncate(path, off_t(length)) }
    }

    private static let tooLarge = "The picture is too large"
    private static let damaged = "The picture is damaged"
    private static let noPicture = "This is not a picture"

    static var all: [Bomb] {
        var endless = Bomb("a JPEG of 600 MB", "The picture could not be decoded") { try jpeg() }
        endless.length = 600 << 20
        return [endless] + claims + work + others
    }

    /// Headers that claim more than the file contains.
    private static let claims = [
        Bomb("a JPEG of 65,500² in a few hundred bytes", tooLarge) { resized(try jpeg(), to: 65_500) },
        Bomb("a progressive JPEG of 40,000²", tooLarge) { resized(try jpeg("-progressive"), to: 40_000) },
        Bomb("a progressive JPEG of 9,984², of which there is next to nothing", "incomplete") {
            resized(try jpeg("-progressive"), to: 9_984)
        },
        Bomb("a PNG of 20,000²", tooLarge) { png(PixelSize(width: 20_000, height: 20_000)) },
        Bomb("an interlaced PNG of 20,000²", tooLarge) {
            png(PixelSize(width: 20_000, height: 20_000), isInterlaced: true)
        },
        Bomb("a PNG of 2³¹ − 1", tooLarge) { png(PixelSize(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF)) },
        Bomb("a PNG of 2³² − 1", tooLarge) { png(PixelSize(width: 0xFFFF_FFFF, height: 0xFFFF_FFFF)) },
        Bomb("a PNG of 0×0", damaged) { png(PixelSize(width: 0, height: 0)) },
        Bomb("a JPEG of 0×0", damaged) { resized(try jpeg(), to: 0) },
    ]

    /// Short files that need much work.
    private static let work = [
        Bomb("a JPEG of 20,000 scans", "incomplete") { try scans(20_000) },
        Bomb("a PNG of 17,000² that are all black", "whole") {
            let size = PixelSize(width: 17_000, height: 17_000)
            return png(size, data: try zeros(17_000 * (17_000 * 3 + 1)))
        },
        Bomb("a PNG with a text of 200 MB", "whole") {
            var file = PNGFile(.scene(width: 16, height: 12))
            file.chunks = [("zTXt", Array("Comment\0\0".utf8) + (try zeros(200_000_000)))]
            return file.bytes
        },
        Bomb("a PNG with a colour profile of 200 MB", "whole") {
            var file = PNGFile(.scene(width: 16, height: 12))
            file.chunks = [("iCCP", Array("profile\0\0".utf8) + (try zeros(200_000_000)))]
            return file.bytes
        },
        Bomb("a PNG of 100,000 texts", "whole") {
            var file = PNGFile(.scene(width: 16, height: 12))
            file.chunks = Array(repeating: ("tEXt", Array("Comment\0 ".utf8)), count: 100_000)
            return file.bytes
        },
    ]

    /// Truncated or odd pictures are shown; other files are reported as no pictures.
    private static let others = [
        Bomb("a JPEG cut in the middle", "incomplete") { Array(try jpeg().dropLast(300)) },
        Bomb("EXIF that leads back to itself", "whole") {
            var exif = ExifFile()
            exif.main = [(0x8769, .long(8)), (0x8825, .long(8))]
            return ExifFile.jpeg(try jpeg(), inserting: exif.segment)
        },
        Bomb("EXIF with offsets far outside", "whole") {
            var exif = ExifFile()
            exif.main = [(0x010F, .text("a maker with a long name")), (0x8769, .long(0xFFFF_FFF0))]
            return ExifFile.jpeg(try jpeg(), inserting: exif.segment)
        },
        Bomb("an orientation of 9", "whole") {
            ExifFile.jpeg(try jpeg(), inserting: ExifFile(orientation: 9).segment)
        },
        Bomb("an SVG", noPicture) { Array("<svg xmlns='http://www.w3.org/2000/svg' width='10' height='10'/>".utf8) },
        Bomb("a PDF", noPicture) { Array("%PDF-1.7\n".utf8) },
        Bomb("PostScript", noPicture) { Array("%!PS-Adobe-3.0 EPSF-3.0\n(/etc/passwd) run\n".utf8) },
        Bomb("a script for ImageMagick", noPicture) { Array("push graphic-context\nimage over 0,0 0,0 '|id'".utf8) },
    ]

    private static func jpeg(_ options: String...) throws -> [UInt8] {
        try Tool.run(
            "/usr/bin/cjpeg", ["-quality", "90"] + options, input: PixelBuffer.scene(width: 64, height: 48).ppm)
    }

    /// Changes the width and height in the frame's header.
    private static func resized(_ jpeg: [UInt8], to side: Int) -> [UInt8] {
        var bytes = jpeg
        let markers: [[UInt8]] = [[0xFF, 0xC0, 0x00, 0x11], [0xFF, 0xC2, 0x00, 0x11]]
        guard let frame = markers.lazy.compactMap({ bytes.firstRange(of: $0) }).first else { return [] }
        let sides = [UInt8(side >> 8), UInt8(side & 255), UInt8(side >> 8), UInt8(side & 255)]
        bytes.replaceSubrange(frame.upperBound + 1..<frame.upperBound + 5, with: sides)
        return bytes
    }

    /// A progressive picture with a repeated last scan.
    private static func scans(_ count: Int) throws -> [UInt8] {
        let picture = PixelBuffer.scene(width: 512, height: 384)
        let bytes = try Tool.cjpeg(picture.ppm, "-progressive")
        let starts = bytes.indices.dropLast().filter { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA }
        guard let last = starts.last else { return [] }
        let scan = bytes[last..<bytes.count - 2]
        return bytes[..<(bytes.count - 2)] + (0..<count).flatMap { _ in scan } + [0xFF, 0xD9]
    }

    private static func png(_ size: PixelSize, isInterlaced: Bool = false, data: [UInt8] = []) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + PNGFile.chunk("IHDR", PNGFile.header(size, 8, 2, isInterlaced: isInterlaced))
            + PNGFile.chunk("IDAT", data) + PNGFile.chunk("IEND", [])
    }

    /// Zeros, compressed by zlib.
    private static func zeros(_ count: Int) throws -> [UInt8] {
        let program = """
            import sys, zlib
            pack, rest = zlib.compressobj(), \(count)
            while rest:
                piece = min(rest, 1 << 20)
                sys.stdout.buffer.write(pack.compress(bytes(piece)))
                rest -= piece
            sys.stdout.buffer.write(pack.flush())
            """
        return try Tool.run("/usr/bin/python3", ["-c", program], input: [])
    }
}
