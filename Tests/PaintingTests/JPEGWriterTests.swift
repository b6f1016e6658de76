import Testing

@testable import Painting

@Suite struct JPEGWriterTests {
    /// A picture with slopes, an edge and some noise, whose sides are no multiples of a block.
    private static let picture: Raster = {
        var raster = Raster(width: 53, height: 37)
        var random = RandomSource(seed: 5)
        for index in raster.bytes.indices {
            let pixel = index / 3
            let level = pixel % 53 * 4 + (pixel / 53 > 20 ? 40 : 0) + random.below(8)
            raster.bytes[index] = UInt8(min(level, 255))
        }
        return raster
    }()

    @Test(arguments: [JPEGWriter.Sampling.grey, .full, .halved])
    func hasTheSegmentsOfABaselineFile(sampling: JPEGWriter.Sampling) throws {
        let file = JPEGWriter(Self.picture, sampling: sampling).file(quality: 80)
        let parsed = try #require(ParsedJPEG(file))
        let tables = sampling == .grey ? 1 : 2
        let expected: [UInt8] =
            [0xE0] + Array(repeating: 0xDB, count: tables) + [0xC0]
            + Array(repeating: 0xC4, count: 2 * tables)
            + [0xDA]
        #expect(parsed.segments.map(\.marker) == expected)
        #expect(parsed.segments.filter { $0.marker == 0xDB }.allSatisfy { $0.content.count == 65 })
    }

    @Test func framesTellSizeAndSampling() throws {
        let file = JPEGWriter(Self.picture, sampling: .halved).file(quality: 80)
        let frame = try #require(ParsedJPEG(file)?.segments.first { $0.marker == 0xC0 })
        #expect(frame.content == [8, 0, 37, 0, 53, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1])
    }

    @Test func scanHasNoMarkerButTheLast() throws {
        let file = JPEGWriter(Self.picture, sampling: .full).file(quality: 95)
        let scan = try #require(ParsedJPEG(file)).scan
        #expect(scan.suffix(2) == [0xFF, 0xD9])
        let inner = Array(scan.dropLast(2))
        for index in inner.indices where inner[index] == 0xFF {
            #expect(index + 1 < inner.count && inner[index + 1] == 0)
        }
    }

    @Test func givesTheSameBytesAgain() {
        let first = JPEGWriter(Self.picture).file(quality: 75)
        #expect(JPEGWriter(Self.picture).file(quality: 75) == first)
    }

    @Test func flatGreyTakesNextToNothing() throws {
        var flat = Raster(width: 64, height: 64)
        for index in flat.bytes.indices { flat.bytes[index] = 128 }
        let scan = try #require(ParsedJPEG(JPEGWriter(flat, sampling: .grey).file(quality: 90))).scan
        // Each of the 64 blocks has two one-bit symbols: the unchanged mean and the block's end.
        #expect(scan.count == 16 + 2)
    }

    @Test func betterQualityTakesMoreBytes() {
        let writer = JPEGWriter(Self.picture)
        let sizes = [30, 50, 70, 90].map { writer.file(quality: $0).count }
        #expect(sizes == sizes.sorted())
        #expect(Set(sizes).count == sizes.count)
    }

    @Test func keepsWithinABudget() {
        let writer = JPEGWriter(Self.picture)
        let budget = (writer.file(quality: 40).count + writer.file(quality: 85).count) / 2
        let file = writer.file(within: budget, best: 90)
        #expect(file.count <= budget)
        #expect(file.count > writer.file(quality: 40).count)
    }

    @Test func zigzagGoesThroughEveryPlaceOnce() {
        #expect(JPEGTables.zigzag.sorted() == Array(0..<64))
        #expect(JPEGTables.zigzag.prefix(10) == [0, 1, 8, 16, 9, 2, 3, 10, 17, 24])
        #expect(JPEGTables.zigzag.suffix(3) == [55, 62, 63])
    }
}
