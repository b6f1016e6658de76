import Testing

@testable import Painting

@Suite struct PNGWriterTests {
    private struct Chunk {
        var name: String
        var content: [UInt8]
        var sum: UInt32
    }

    private func chunks(_ file: [UInt8]) -> [Chunk] {
        func number(_ at: Int) -> Int { file[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) } }
        var chunks: [Chunk] = []
        var at = 8
        while at + 12 <= file.count {
            let length = number(at)
            let name = String(decoding: file[(at + 4)..<(at + 8)], as: UTF8.self)
            let content = Array(file[(at + 8)..<(at + 8 + length)])
            chunks.append(Chunk(name: name, content: content, sum: UInt32(number(at + 8 + length))))
            at += 12 + length
        }
        return chunks
    }

    @Test func chunksAreInOrderAndSummedRight() throws {
        let file = FlagPicture().png.file
        #expect(file.prefix(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        let chunks = chunks(file)
        #expect(chunks.map(\.name) == ["IHDR", "PLTE", "IDAT", "IEND"])
        for chunk in chunks {
            #expect(chunk.sum == Checksum.crc32(Array(chunk.name.utf8) + chunk.content))
        }
        #expect(chunks.last?.sum == 0xAE42_6082)
        #expect(chunks.first?.content == [0, 0, 1, 0x68, 0, 0, 0, 0xF0, 8, 3, 0, 0, 0])
    }

    @Test func paletteRowsComeBackUnfiltered() throws {
        let png = FlagPicture().png
        let data = try #require(chunks(png.file).first { $0.name == "IDAT" }).content
        let rows = try #require(TinyInflate.zlib(data))
        #expect(rows.count == png.height * (png.width + 1))
        for y in 0..<png.height {
            let row = rows[(y * (png.width + 1))..<((y + 1) * (png.width + 1))]
            #expect(row.first == 0)
            #expect(Array(row.dropFirst()) == Array(png.pixels[(y * png.width)..<((y + 1) * png.width)]))
        }
    }

    @Test func interlacedPicturesSendEveryPixelOnce() throws {
        // Every pixel has its own palette index, so the rows contain each index exactly once.
        let pixels = (0..<11 * 9).map { UInt8($0) }
        let png = PNGWriter(
            width: 11, height: 9, kind: .palette, pixels: pixels, palette: [0, 0, 0], interlaced: true)
        let data = try #require(chunks(png.file).first { $0.name == "IDAT" }).content
        let sent = try #require(TinyInflate.zlib(data))
        let rowsOfPasses = 2 + 2 + 1 + 3 + 2 + 5 + 4
        #expect(sent.count == pixels.count + rowsOfPasses)
        #expect(sent.prefix(3) == [0, 0, 8])
    }

    @Test func checkSumsMatchThoseOfTheStandards() {
        let digits = Array("123456789".utf8)
        #expect(Checksum.crc32(digits) == 0xCBF4_3926)
        #expect(Checksum.adler32(Array("Wikipedia".utf8)) == 0x11E6_0398)
    }

    @Test func deflatedBytesComeBack() {
        var random = RandomSource(seed: 9)
        let noise = (0..<3000).map { _ in UInt8(truncatingIfNeeded: random.bits()) }
        let words = (0..<4000).map { _ in [UInt8(97), 98, 99, 200][random.below(4)] }
        let long = [UInt8](repeating: 7, count: 1000) + noise + [UInt8](repeating: 7, count: 259)
        for bytes in [[], [1], noise, words, long, noise + words + noise] {
            #expect(TinyInflate.zlib(Deflater.zlib(bytes)) == bytes)
        }
        #expect(Deflater.zlib([UInt8](repeating: 0, count: 100_000)).count < 1000)
    }
}
