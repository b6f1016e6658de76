import BaselineJPEG
import TestSupport
import Testing

/// Accepted files and their pixels.
struct BaselinePictureTests {
    static let samplings = [(1, 1), (2, 1), (1, 2), (2, 2)]
    static let scales = [1, 2, 4, 8]

    @Test(arguments: samplings, scales)
    func decodesEverySamplingAtEveryScale(sampling: (Int, Int), eighths: Int) throws {
        let picture = TestPicture.waves(width: 96, height: 64)
        try expectCopy(JPEGWriter(across: sampling.0, down: sampling.1).file(picture), of: picture, eighths)
    }

    @Test(arguments: samplings, scales)
    func decodesSidesThatAreNotMultiplesOfABlock(sampling: (Int, Int), eighths: Int) throws {
        for (width, height) in [(1, 1), (3, 50), (15, 17), (33, 7), (47, 41)] {
            let picture = TestPicture.waves(width: width, height: height)
            try expectCopy(JPEGWriter(across: sampling.0, down: sampling.1).file(picture), of: picture, eighths)
        }
    }

    @Test(arguments: samplings, scales)
    func ignoresTheFactorsOfGreyPictures(sampling: (Int, Int), eighths: Int) throws {
        let picture = TestPicture.waves(width: 45, height: 37, isGrey: true)
        let writer = JPEGWriter(isGrey: true, across: sampling.0, down: sampling.1)
        try expectCopy(writer.file(picture), of: picture, eighths)
    }

    @Test(arguments: samplings, [1, 2, 5, 1000])
    func resumesAfterRestartMarkers(sampling: (Int, Int), interval: Int) throws {
        let picture = TestPicture.waves(width: 150, height: 90)
        let writer = JPEGWriter(across: sampling.0, down: sampling.1)
        var restarting = writer
        restarting.restartInterval = interval
        for eighths in Self.scales {
            let whole = try #require(BaselinePicture(writer.file(picture))?.decoded(eighths: eighths))
            let pieces = try #require(BaselinePicture(restarting.file(picture))?.decoded(eighths: eighths))
            #expect(pieces.bytes == whole.bytes)
        }
    }

    @Test func readsTheSizeBeforeDecoding() throws {
        let picture = try #require(BaselinePicture(JPEGWriter(across: 2).file(.waves(width: 33, height: 18))))
        #expect(picture.width == 33)
        #expect(picture.height == 18)
    }

    @Test(arguments: [0, 3, 5, 6, 7, 9, 16, -1, Int.min, Int.max])
    func declinesOtherScales(eighths: Int) throws {
        let picture = try #require(BaselinePicture(JPEGWriter().file(.waves(width: 9, height: 9))))
        #expect(picture.decoded(eighths: eighths) == nil)
    }

    @Test func acceptsMeaninglessSegments() throws {
        let picture = TestPicture.waves(width: 40, height: 30)
        let adobe: [UInt8] = [0xFF, 0xEE, 0, 14] + Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1]
        let plain = try #require(BaselinePicture(JPEGWriter().file(picture))?.decoded(eighths: 8))
        let writers = [
            JPEGWriter(isWide: true), JPEGWriter(frameMarker: 0xC1), JPEGWriter(identifiers: [0, 1, 2]),
            JPEGWriter(segments: [[0xFF, 0xFE, 0, 5, 1, 0xFF, 0xD9]]), JPEGWriter(segments: [adobe]),
            JPEGWriter(segments: [[0xFF, 0xFF, 0xFF, 0xED, 0, 2]]), JPEGWriter(omitted: [0xE0]),
        ]
        for writer in writers {
            let pixels = try #require(BaselinePicture(writer.file(picture))?.decoded(eighths: 8))
            #expect(pixels.bytes == plain.bytes)
        }
        let followed = try #require(BaselinePicture(JPEGWriter().file(picture) + [1, 0xFF])?.decoded(eighths: 8))
        #expect(followed.bytes == plain.bytes)
        let padded = JPEGWriter().file(picture).dropLast(2) + [0xFF, 0xFF, 0xFF, 0xD9]
        #expect(BaselinePicture(Array(padded))?.decoded(eighths: 8)?.bytes == plain.bytes)
    }

    /// Fine steps give large values, and long codes with large values after them.
    @Test func decodesSharpPictures() throws {
        var noise = SeededNumbers(seed: 7)
        let values = (0..<64 * 48).flatMap { _ -> [Double] in
            let value = noise.next() & 1 == 0 ? 10.0 : 245
            return [value, value, value]
        }
        let picture = TestPicture(width: 64, height: 48, values: values)
        for eighths in Self.scales {
            try expectCopy(JPEGWriter(coarseness: 0.05).file(picture), of: picture, eighths)
        }
    }

    private func expectCopy(_ file: [UInt8], of picture: TestPicture, _ eighths: Int) throws {
        let decoded = try #require(BaselinePicture(file))
        let pixels = try #require(decoded.decoded(eighths: eighths))
        let expected = picture.scaled(eighths: eighths)
        #expect(pixels.width == expected.width)
        #expect(pixels.height == expected.height)
        #expect(expected.decibels(pixels.bytes) >= 30)
    }
}
