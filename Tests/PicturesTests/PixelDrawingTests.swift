import Cells
import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Pictures

/// Decodes what a terminal with pixels receives.
@Suite struct PixelDrawingTests {
    private let scene = PixelBuffer.scene(width: 640, height: 480)

    private func capabilities(
        _ language: PixelProtocol, colours: Int = 256, isRemote: Bool = false
    ) -> PixelCapabilities {
        PixelCapabilities(language, cellWidth: 9, cellHeight: 19, paletteSize: colours, isRemote: isRemote)
    }

    private func style(_ language: PixelProtocol, background: Colour = .rgb(40, 50, 60)) -> DrawingStyle {
        DrawingStyle(
            symbols: .sextant, colours: .full, cellAspect: 9.0 / 19, pixels: capabilities(language),
            background: background)
    }

    private func draw(
        _ picture: PixelBuffer, _ language: PixelProtocol, size: Size, background: Colour = .rgb(40, 50, 60)
    ) throws -> DrawnPicture {
        try DecoderClient(path: DecoderProcess.path).draw(
            .bytes(PNGFile(picture).bytes), size: size, style: style(language, background: background))
    }

    /// Returns the payload of a picture in sixels, in one tile.
    private func sixels(_ picture: PixelBuffer, colours: Int = 256) throws -> [UInt8] {
        let limits = SixelEncoding.Limits(side: .max, bytes: .max)
        let tiles = SixelEncoding.tiles(picture, capabilities(.sixel, colours: colours), within: limits)
        try #require(tiles.count == 1)
        return tiles[0].payload
    }

    /// Returns the picture that tiles form. Each pixel must be in one tile.
    private func joined(_ tiles: [PixelPicture.Tile], _ size: PixelSize) throws -> PixelBuffer {
        var bytes = [UInt8](repeating: 0, count: size.width * size.height * 3)
        var count = 0
        for tile in tiles {
            let part = try SixelPicture(tile.payload).pixels
            count += part.width * part.height
            let (left, top) = (tile.origin.column * 9, tile.origin.row * 19)
            try #require(left + part.width <= size.width && top + part.height <= size.height)
            for row in 0..<part.height {
                let start = 3 * ((top + row) * size.width + left)
                let from = 3 * row * part.width
                bytes.replaceSubrange(
                    start..<start + 3 * part.width, with: part.bytes[from..<from + 3 * part.width])
            }
        }
        #expect(count == size.width * size.height)
        return try #require(PixelBuffer(size: size, bytes: bytes))
    }

    /// xterm draws nothing of a picture beyond 1000 by 1000 pixels, and tmux nothing of a sequence of 1 MiB.
    @Test("A large picture in sixels is sent in tiles, which form the whole picture")
    func sixelTiles() throws {
        let noise = PixelBuffer.noise(width: 1_200, height: 1_100)
        let tiles = SixelEncoding.tiles(noise, capabilities(.sixel))
        for tile in tiles {
            let size = try SixelPicture(tile.payload).pixels.size
            #expect(size.width <= 1_000 && size.height <= 1_000 && tile.payload.count <= 768 << 10)
        }
        let whole = try sixels(noise)
        #expect(whole.count > 1 << 20)
        let isSame = try joined(tiles, noise.size) == SixelPicture(whole).pixels
        #expect(isSame)
    }

    @Test(arguments: [(256, 34.0), (64, 25), (16, 18), (2, 5)])
    func sixelsAreThePicture(colours: Int, decibels: Double) throws {
        let payload = try sixels(scene, colours: colours)
        let shown = try SixelPicture(payload)
        #expect(shown.pixels.size == scene.size && shown.colours <= colours)
        #expect(shown.pixels.psnr(scene) > decibels)
    }

    @Test func sixelsOfAnySize() throws {
        for (width, height) in [(1, 1), (1, 7), (5, 6), (13, 12), (300, 5), (4, 301)] {
            let noise = PixelBuffer.noise(width: width, height: height)
            let shown = try SixelPicture(sixels(noise))
            #expect(shown.pixels.size == noise.size)
        }
    }

    @Test func sixelsOfFewColoursAreExact() throws {
        let flag = PixelBuffer(width: 60, height: 40) { x, y in
            // Whole percents.
            x < 20
                ? .black : y < 20 ? PixelColor(red: 255, green: 51, blue: 0) : PixelColor(red: 0, green: 153, blue: 204)
        }
        let payload = try sixels(flag)
        let shown = try SixelPicture(payload)
        #expect(shown.pixels == flag && shown.colours == 3)
        #expect(payload.count < 250)
    }

    /// With fewer colours than the picture, areas have the right colour on average.
    @Test func mixesFewColours() throws {
        let ramp = PixelBuffer(width: 256, height: 64) { x, _ in
            PixelColor(red: UInt8(x), green: UInt8(x), blue: UInt8(x))
        }
        let shown = try SixelPicture(sixels(ramp, colours: 4))
        for left in stride(from: 64, to: 192, by: 16) {
            var (sum, wanted) = (0, 0)
            for x in left..<left + 16 {
                for y in 0..<64 {
                    sum += Int(shown.pixels.color(x, y).green)
                    wanted += x
                }
            }
            #expect(abs(sum - wanted) / (16 * 64) < 6)
        }
    }

    @Test("Kitty gets a file with the same pixels, and far fewer bytes")
    func kittyFile() throws {
        let payload = KittyEncoding.payload(scene, capabilities(.kitty))
        #expect(try decoded(payload) == scene)
        #expect(payload.count < scene.bytes.count * 4 / 3 * 6 / 10)
    }

    @Test("Over SSH, kitty gets a file with about half the bytes, whose channels differ by at most two")
    func remoteKittyFile() throws {
        let remote = capabilities(.kitty, isRemote: true)
        for picture in [scene, .noise(width: 61, height: 40), .noise(width: 1, height: 9)] {
            let shown = try #require(try decoded(KittyEncoding.payload(picture, remote)))
            #expect(shown.size == picture.size)
            #expect(zip(shown.bytes, picture.bytes).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
        }
        let exact = KittyEncoding.payload(scene, capabilities(.kitty))
        #expect(KittyEncoding.payload(scene, remote).count < exact.count * 6 / 10)
    }

    /// A photo with strips of a similar colour at the right and at the bottom.
    private func padded(_ strip: PixelColor) -> PixelBuffer {
        PixelBuffer(width: 160, height: 58) { x, y in
            x < 155 && y < 50 ? (x % 3 == 0 ? PixelColor(red: 44, green: 54, blue: 64) : scene.color(x, y)) : strip
        }
    }

    @Test("Over SSH, strips of one colour beside a photo are exact")
    func remoteKittyStrips() throws {
        let strip = PixelColor(red: 40, green: 50, blue: 60)
        let picture = padded(strip)
        let payload = KittyEncoding.payload(picture, capabilities(.kitty, isRemote: true))
        let shown = try #require(try decoded(payload))
        #expect(shown != picture)
        for y in 0..<58 {
            for x in 0..<160 where x >= 155 || y >= 50 { #expect(shown.color(x, y) == strip) }
        }
    }

    @Test("In sixels, strips of one colour beside a photo have one colour")
    func sixelStrips() throws {
        let shown = try SixelPicture(sixels(padded(PixelColor(red: 40, green: 50, blue: 60)))).pixels
        for y in 0..<58 {
            for x in 0..<160 where x >= 155 || y >= 50 { #expect(shown.color(x, y) == shown.color(159, 57)) }
        }
    }

    @Test("A pixel of a sixel picture has the nearest colour, or a neighbour's that differs little")
    func sixelNeighbours() throws {
        let indexed = IndexedPicture(scene, colours: 256) { $0 }
        var palette = FittedPalette(ColourHistogram(scene), count: 256) { $0 }
        var (others, near, shared) = (0, 0, 0)
        for (pixel, index) in indexed.indices.enumerated() {
            let (column, row) = (pixel % scene.width, pixel / scene.width)
            let wanted = scene.color(column, row)
            guard palette.index(red: wanted.red, green: wanted.green, blue: wanted.blue) != index else { continue }
            others += 1
            let colour = PartColour(red: Int32(wanted.red), green: Int32(wanted.green), blue: Int32(wanted.blue))
            if (colour - indexed.colours[Int(index)]).square <= IndexedPicture.nearColour { near += 1 }
            var neighbours = column > 0 ? [pixel - 1] : []
            if row % 6 > 0 { neighbours += [pixel - scene.width, pixel - scene.width + 1] }
            if neighbours.contains(where: { indexed.indices[$0] == index }) { shared += 1 }
        }
        #expect(others > 1_000)
        #expect(near == others)
        #expect(shared == others)
    }

    /// Decodes the payload of a kitty picture.
    private func decoded(_ payload: [UInt8]) throws -> PixelBuffer? {
        let file = [UInt8](try #require(Data(base64Encoded: Data(payload))))
        let request = DecodeRequest(box: PixelSize(width: 4_000, height: 4_000))
        return try DecoderClient(path: DecoderProcess.path).decode(.bytes(file), request).pixels
    }

    @Test(arguments: [PixelProtocol.kitty, .sixel]) func pixelsCoverTheirCells(language: PixelProtocol) throws {
        let picture = try draw(scene, language, size: Size(columns: 30, rows: 20))
        let pixels = try #require(picture.pixels)
        #expect(pixels.language == language && pixels.size == picture.cells.size)
        #expect(pixels.width == pixels.size.columns * 9 && pixels.height == pixels.size.rows * 19)
        // 270 pixels wide, so 202.5 high: eleven cells, of which the last is partly covered.
        #expect(pixels.size == Size(columns: 30, rows: 11))
        let last = try shown(pixels).color(100, 208)
        #expect(abs(Int(last.red) - 40) < 4 && abs(Int(last.green) - 50) < 4 && abs(Int(last.blue) - 60) < 4)
    }

    /// A strip beside the picture would have the wrong colour on some background.
    @Test(arguments: [PixelProtocol.kitty, .sixel], [(30, 11), (29, 10)])
    func whereTheBackgroundIsNotKnownThePictureFillsItsCells(
        language: PixelProtocol, columnsAndRows: (Int, Int)
    ) throws {
        let yellow = PixelBuffer(width: 640, height: 480) { _, _ in PixelColor(red: 255, green: 204, blue: 0) }
        let (columns, rows) = columnsAndRows
        let picture = try draw(yellow, language, size: Size(columns: columns, rows: 20), background: .terminal)
        let pixels = try #require(picture.pixels)
        // 202.5 and 195.75 pixels are ten cells and two thirds, and slightly less than ten and a third.
        #expect(pixels.size == Size(columns: columns, rows: rows) && picture.cells.size == pixels.size)
        let shown = try shown(pixels)
        #expect(shown.size == PixelSize(width: columns * 9, height: rows * 19))
        for y in [0, shown.height / 2, shown.height - 1] {
            #expect(shown.color(100, y) == PixelColor(red: 255, green: 204, blue: 0))
        }
        let edge = picture.cells[3, rows - 1].style
        #expect([edge.foreground, edge.background].contains(.rgb(255, 204, 0)), "\(edge)")
    }

    /// The pixels that a terminal shows.
    private func shown(_ pixels: PixelPicture) throws -> PixelBuffer {
        if pixels.language == .sixel { return try SixelPicture(pixels.payload).pixels }
        let shown = try #require(try decoded(whole(pixels)))
        #expect(shown.size == PixelSize(width: pixels.width, height: pixels.height))
        return shown
    }

    /// The payload joined from its chunks.
    private func whole(_ picture: PixelPicture) -> [UInt8] {
        picture.payload + picture.following.flatMap { $0.drop { $0 != UInt8(ascii: ";") }.dropFirst().dropLast(2) }
    }

    /// Cells and pixels show the same picture.
    @Test(arguments: PixelProtocol.allCases) func cellsShowTheSamePicture(language: PixelProtocol) throws {
        let picture = try draw(scene, language, size: Size(columns: 40, rows: 40))
        let alone = SymbolDrawing.draw(
            PixelCanvas(scene, PixelCapabilities(.kitty, cellWidth: 16, cellHeight: 32), background: .black)
                .reduced(to: (2, 3)),
            DrawingStyle(symbols: .sextant, colours: .full, cellAspect: 0.5))
        #expect(picture.cells.size.columns == 40 && alone.size.columns == 40)
        // In the middle of the disc, of the bar, and of nothing.
        for (u, v) in [(0.3, 0.4), (0.85, 0.28), (0.5, 0.8)] {
            let (one, two) = (
                background(picture.cells, u, v), background(alone, u, v)
            )
            #expect(zip(one, two).allSatisfy { abs($0 - $1) < 25 }, "\(one) \(two)")
        }
    }

    private func background(_ block: CellBlock, _ u: Double, _ v: Double) -> [Int] {
        let cell = block[Int(u * Double(block.size.columns)), Int(v * Double(block.size.rows))]
        guard case .rgb(let red, let green, let blue) = cell.style.background else { return [] }
        return [Int(red), Int(green), Int(blue)]
    }

    @Test func itermGetsAFile() throws {
        let picture = try draw(scene, .iterm, size: Size(columns: 30, rows: 20))
        let pixels = try #require(picture.pixels)
        // 202.5 pixels are ten cells and two thirds.
        #expect(pixels.size == Size(columns: 30, rows: 11) && pixels.size == picture.cells.size)
        let file = [UInt8](try #require(Data(base64Encoded: Data(pixels.payload))))
        #expect(file.starts(with: [0xFF, 0xD8, 0xFF]))
        var request = DecodeRequest(box: PixelSize(width: 270, height: 203))
        request.pixelAspect = 1
        let reply = try DecoderClient(path: DecoderProcess.path).decode(.bytes(file), request)
        let small = try DecoderClient(path: DecoderProcess.path).decode(.bytes(PNGFile(scene).bytes), request)
        #expect(reply.sourceSize.width == 270)
        #expect(try #require(reply.pixels).psnr(try #require(small.pixels)) > 30)
    }

    /// A file has a size limit, and so has its request.
    @Test func limitsTheSizeOfFiles() throws {
        let drawing = PictureDrawing(style(.iterm).request(Size(columns: 800, rows: 300)), style(.iterm))
        let box = drawing.request.box
        #expect(box.width * box.height <= 3 << 20 && drawing.request.product == .thumbnail)
        let picture = try draw(.noise(width: 500, height: 400), .iterm, size: Size(columns: 800, rows: 300))
        #expect(picture.pixels?.size == Size(columns: 56, rows: 21))
    }

    @Test func memoryUseIncludesPixels() throws {
        let picture = try draw(scene, .kitty, size: Size(columns: 30, rows: 20))
        let pixels = whole(try #require(picture.pixels))
        #expect(!pixels.isEmpty && picture.byteCount > pixels.count)
    }

    @Test("A small picture counts the memory of its entry in a cache") func memoryUseIncludesEntry() {
        let picture = DrawnPicture(cells: CellBlock(size: Size(columns: 1, rows: 1), cells: [.blank]))
        #expect(picture.byteCount > 500)
    }
}
