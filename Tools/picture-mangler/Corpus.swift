import Foundation
import PictureTestSupport
import Pixels

/// Small pictures of every format, written by other programs, to be mangled.
enum Corpus {
    /// Formats that ImageMagick writes, supported by the decoder or not.
    private static let conversions: [[String]] = [
        ["-colorspace", "CMYK", "jpeg:-"], ["-define", "webp:lossless=true", "webp:-"], ["webp:-"],
        ["-quality", "20", "-define", "webp:filter-type=0", "-define", "webp:segments=1", "webp:-"],
        ["-quality", "98", "-define", "webp:partitions=3", "-define", "webp:method=1", "webp:-"], ["gif:-"],
        ["-interlace", "GIF", "gif:-"], ["tiff:-"], ["-compress", "LZW", "tiff:-"], ["-compress", "JPEG", "tiff:-"],
        ["-compress", "Zip", "-depth", "16", "tiff:-"], ["-define", "png:color-type=6", "png:-"],
        ["-interlace", "PNG", "png:-"], ["-depth", "16", "png:-"], ["-colors", "8", "png8:-"], ["heic:-"], ["avif:-"],
        ["bmp:-"], ["bmp2:-"], ["-colors", "8", "-type", "Palette", "-compress", "RLE", "bmp3:-"],
        ["-define", "bmp:subtype=RGB565", "bmp:-"], ["ppm:-"], ["-depth", "16", "pgm:-"],
        ["-compress", "none", "ppm:-"],
        ["-alpha", "on", "pam:-"], ["-threshold", "50%", "pbm:-"],
    ]

    static func write(to folder: String) throws {
        for (number, bytes) in try files().enumerated() {
            try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(number)"))
        }
    }

    /// Reads the written files in the same order.
    static func read(from folder: String) throws -> [[UInt8]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        return try names.map { [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)"))) }
    }

    private static func files() throws -> [[UInt8]] {
        let scene = PixelBuffer.scene(width: 40, height: 28)
        let jpegs = try [
            [], ["-progressive"], ["-arithmetic"], ["-arithmetic", "-progressive"], ["-grayscale"], ["-restart", "1"],
            ["-sample", "1x1"], ["-sample", "4x1"], ["-rgb"], ["-optimize", "-sample", "1x2"],
        ].map { try Tool.run("/usr/bin/cjpeg", $0, input: scene.ppm) }
        // Omits formats that this ImageMagick cannot write.
        let converted = conversions.compactMap { try? Tool.run("/usr/bin/convert", ["ppm:-"] + $0, input: scene.ppm) }
        return jpegs + exif(jpegs[0]) + pngs() + converted.filter { !$0.isEmpty } + ready()
    }

    /// Files of the tests' corpus that these programs cannot write: raw files, QOI, JPEG XL, high dynamic
    /// range and videos.
    private static func ready() -> [[UInt8]] {
        guard let corpus = try? PictureCorpus() else { return [] }
        let names = corpus.names(in: "pictures").filter { name in
            ["qoi-", "jxl-", "hdr-", "video-"].contains { name.hasPrefix($0) }
                || name.hasPrefix("raw-") && !name.hasPrefix("raw-orientation")
        }
        return names.compactMap { try? corpus.bytes("pictures", $0) }
    }

    private static func exif(_ jpeg: [UInt8]) -> [[UInt8]] {
        var exif = ExifFile(orientation: 6)
        exif.main += [(0x010E, .text("described")), (0x0110, .text("a camera"))]
        exif.exif = [(0x829A, .rationals([(1, 250)])), (0x8827, .short(400)), (0x9003, .text("2006:07:30 07:47:17"))]
        exif.gps = [(0x0001, .text("N")), (0x0002, .rationals([(50, 1), (30, 1), (0, 1)]))]
        var png = PNGFile(.scene(width: 9, height: 7))
        png.chunks = [("eXIf", exif.tiff)]
        return [ExifFile.jpeg(jpeg, inserting: exif.segment), png.bytes]
    }

    private static func pngs() -> [[UInt8]] {
        PNGFile.Kind.allCases.flatMap { kind in
            let depths = kind == .palette ? [1, 4, 8] : kind == .grey ? [1, 2, 4, 8, 16] : [8, 16]
            return depths.flatMap { depth in
                [false, true].map { isInterlaced in
                    let values = kind == .palette ? 2 : 1 << depth
                    var file = PNGFile(kind, depth: depth, size: PixelSize(width: 11, height: 9)) { x, y in
                        (0..<kind.channels).map { (x * 7 + y * 3 + $0) % values }
                    }
                    file.isInterlaced = isInterlaced
                    if kind == .palette { file.chunks = [("PLTE", [0, 0, 0, 255, 128, 64]), ("tRNS", [128])] }
                    return file.bytes
                }
            }
        }
    }
}
