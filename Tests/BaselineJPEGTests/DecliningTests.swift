import BaselineJPEG
import Testing

/// Files left to other decoders.
struct DecliningTests {
    private let picture = TestPicture.waves(width: 20, height: 20)

    /// Files that are declined before their scan is read.
    @Test(arguments: [
        JPEGWriter(frameMarker: 0xC2), JPEGWriter(frameMarker: 0xC3), JPEGWriter(frameMarker: 0xC5),
        JPEGWriter(frameMarker: 0xC9), JPEGWriter(frameMarker: 0xCA), JPEGWriter(frameMarker: 0xF7),
        JPEGWriter(precision: 12), JPEGWriter(frameMarker: 0xC1, precision: 12), JPEGWriter(componentCount: 4),
        JPEGWriter(componentCount: 2), JPEGWriter(componentCount: 0), JPEGWriter(identifiers: Array("RGB".utf8)),
        JPEGWriter(identifiers: [1, 1, 2]), JPEGWriter(across: 4), JPEGWriter(down: 4), JPEGWriter(across: 0),
        JPEGWriter(across: 2, down: 2, chromaFactors: 0x21), JPEGWriter(chromaFactors: 0x22),
        JPEGWriter(size: (0, 20)), JPEGWriter(size: (20, 0)), JPEGWriter(size: (4097, 1)),
        JPEGWriter(size: (1, 4097)), JPEGWriter(size: (65535, 65535)), JPEGWriter(size: (4096, 1025)),
        JPEGWriter(segments: [[0xFF, 0xE1, 0, 8] + Array("Exif".utf8) + [0, 0]]),
        JPEGWriter(segments: [[0xFF, 0xE2, 0, 14] + Array("ICC_PROFILE".utf8) + [0]]),
        JPEGWriter(segments: [[0xFF, 0xEE, 0, 14] + Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0]]),
        JPEGWriter(segments: [[0xFF, 0xEE, 0, 14] + Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 2]]),
        JPEGWriter(segments: [[0xFF, 0xCC, 0, 4, 0, 0]]), JPEGWriter(segments: [[0xFF, 0xDC, 0, 4, 0, 20]]),
        JPEGWriter(segments: [[0xFF, 0xD8]]), JPEGWriter(segments: [[0]]), JPEGWriter(segments: [[0xFF, 0xFE, 0, 1]]),
        JPEGWriter(omitted: [0xC4]), JPEGWriter(omitted: [0xDB]), JPEGWriter(omitted: [0xC0]),
        JPEGWriter(omitted: [0xDA]), JPEGWriter(spectralEnd: 5),
    ])
    func declinesTheHeader(writer: JPEGWriter) {
        #expect(BaselinePicture(writer.file(picture)) == nil)
    }

    @Test(arguments: [[], [0xFF], [0xFF, 0xD8], [0xFF, 0xD8, 0xFF, 0xD9], Array("GIF89a".utf8)] as [[UInt8]])
    func declinesFilesThatAreNotJPEGs(bytes: [UInt8]) {
        #expect(BaselinePicture(bytes) == nil)
    }

    /// Three components in separate scans.
    @Test func declinesSeparateScans() throws {
        var file = JPEGWriter().file(picture)
        let start = try #require(file.firstRange(of: [0xFF, 0xDA]))
        file.replaceSubrange(start.lowerBound..<start.lowerBound + 14, with: [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0])
        #expect(BaselinePicture(file) == nil)
    }

    /// A few bytes cannot cost the time or memory of four million pixels.
    @Test func declinesFilesTooShortForTheirPixels() throws {
        for size in [(4096, 1024), (1024, 4096), (2048, 2048)] {
            let file = JPEGWriter(size: size).file(picture)
            #expect(try #require(BaselinePicture(file)).decoded(eighths: 8) == nil)
        }
    }

    @Test func declinesSizesThatDifferFromTheScan() throws {
        for size in [(20, 28), (20, 12), (28, 20), (12, 20)] {
            let file = JPEGWriter(size: size).file(picture)
            #expect(try #require(BaselinePicture(file)).decoded(eighths: 8) == nil)
        }
    }
}
