import Cells
import Foundation
import Logging
import Model
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Cache
@testable import Pictures

/// Panning does not decode a zoomed photo at each step.
extension PicturePipelineTests {
    /// A pipeline whose decoder adds a line to a file at each start.
    func countingPipeline() throws -> PicturePipeline {
        let script =
            "#!/bin/sh\necho x >> '\(folder.path("decoded"))'\nexec '\(try DecoderProcess.path)' \"$@\"\n"
        let path = try folder.writeProgram("counting-decoder", script)
        return PicturePipeline(
            renderer: PictureRenderer(caches: caches, decoder: DecoderClient(path: path), log: Log()), width: 1)
    }

    var decoded: Int {
        (try? String(contentsOfFile: folder.path("decoded"), encoding: .utf8))?.count { $0 == "\n" } ?? 0
    }

    @Test("BEHAVIOURS 3.5: panning and zooming decode a photo again only for parts that were not shown")
    func movingAbout() async throws {
        try await sync(["a"])
        try await store(photo: PNGFile(.noise(width: 400, height: 300)).bytes, of: "a")
        let counting = try countingPipeline()
        let changes = counting.changes()
        let client = counting.makeClient()
        let subject = Wish.Subject.picture(cache.id, try photo("a").key, .original)
        func draw(_ view: Viewport) async throws -> DrawnPicture {
            let order = view.order(subject, edition: 1)
            counting.want([order], by: client)
            while counting.picture(order) == nil, counting.failure(order) == nil { _ = await changes.next() }
            return try #require(counting.picture(order))
        }
        var view = Viewport(size: size, style: style)
        let whole = try await draw(view)
        view.setPhotoSize(width: whole.width, height: whole.height)
        #expect(decoded == 1)
        view.zoomToActualSize()
        _ = try await draw(view)
        #expect(decoded == 2)
        // Cells contain whole pixels here, so the pixels equal those of a decoder.
        let direct = try await decode(view, subject)
        #expect(try await draw(view) == direct)
        for (columns, rows) in [(3, 0), (4, 1), (-9, -2), (0, 3)] {
            view.pan(columns: columns, rows: rows)
            let moved = try await draw(view)
            #expect(moved.width == 400 && moved.cells.size == size)
        }
        view.zoomIn()
        _ = try await draw(view)
        #expect(decoded == 2)
        view.pan(columns: 80, rows: 0)
        _ = try await draw(view)
        #expect(decoded == 3)
        // After a rotation it is another picture, and so is the next edition.
        view.turn(by: 1)
        _ = try await draw(view)
        #expect(decoded == 4)
        // The earlier view is still cached.
        view.turn(by: -1)
        _ = try await draw(view)
        #expect(decoded == 4)
    }

    /// The same view, decoded from the file.
    private func decode(_ view: Viewport, _ subject: Wish.Subject) async throws -> DrawnPicture {
        let stored = try #require(try cache.read { try $0.photoFile(of: try photo("a").key) })
        let reply = try DecoderClient(path: try DecoderProcess.path)
            .decode(.file(cache.files.path(stored)), view.order(subject, edition: 1).request)
        return DrawnPicture(reply, cells: SymbolDrawing.draw(try #require(reply.pixels), style))
    }

    @Test("The chequerboard behind a zoomed picture keeps its place and the size of its squares")
    func chequerboard() async throws {
        try await sync(["a"])
        let side = PixelSize(width: 400, height: 300)
        let clear = PNGFile(.rgbAlpha, depth: 8, size: side) { _, _ in [0, 0, 0, 0] }
        try await store(photo: clear.bytes, of: "a")
        let subject = Wish.Subject.picture(cache.id, try photo("a").key, .original)
        func board(_ view: Viewport) async throws -> CellBlock {
            let order = view.order(subject, edition: 1)
            await finish(order)
            return try #require(pipeline.picture(order)).cells
        }
        var chequered = style
        chequered.isChequered = true
        var view = Viewport(size: Size(columns: 20, rows: 10), style: chequered)
        view.setPhotoSize(width: side.width, height: side.height)
        view.zoomToActualSize()
        let expected = try await board(view)
        #expect(Set(expected.cells.map(\.style.background)).count == 2)
        view.pan(columns: 3, rows: 1)
        #expect(try await board(view) == expected)
        view.zoomIn()
        #expect(try await board(view) == expected)
    }

    @Test func cutPartsEqualDecodedOnes() throws {
        let picture = PixelBuffer.scene(width: 600, height: 450)
        let file = PNGFile(picture).bytes
        let decoder = DecoderClient(path: try DecoderProcess.path)
        let parts = DecodedParts(limit: 1 << 20)
        let id = DecodedParts.Photo(
            gallery: cache.id, key: PhotoKey(1), edition: 1)
        for turns in 0..<4 {
            for side in [0.02, 0.2, 0.5] {
                var request = DecodeRequest(box: PixelSize(width: 40, height: 30))
                request.enlarges = true
                request.turns = turns
                request.region = try #require(UnitRect(x: 0.3, y: 0.31, width: side, height: side))
                let wider = try #require(DecodedParts.wider(than: request, of: picture.size))
                parts.keep(try decoder.decode(.bytes(file), wider), to: wider, of: id)
                for shift in [-side * 0.6, 0, side * 0.37] where side < 0.5 || shift == 0 {
                    request.region = try #require(UnitRect(x: 0.3 + shift, y: 0.31, width: side, height: side))
                    let cut = try #require(parts.reply(to: request, for: id)?.pixels)
                    let direct = try #require(try decoder.decode(.bytes(file), request).pixels)
                    #expect(cut.psnr(direct) > 30, "\(turns) \(side) \(shift) \(cut.psnr(direct))")
                }
                // Nothing can be cut out beyond the part, of another edition, or with another rotation.
                request.region = .whole
                if side < 0.3 { #expect(parts.reply(to: request, for: id) == nil) }
                #expect(DecodedParts.wider(than: request, of: picture.size) == nil)
                request.region = try #require(UnitRect(x: 0.3, y: 0.31, width: side, height: side))
                let other = DecodedParts.Photo(gallery: cache.id, key: PhotoKey(1), edition: 2)
                #expect(parts.reply(to: request, for: other) == nil)
                request.turns = turns + 1
                #expect(parts.reply(to: request, for: id) == nil)
            }
        }
    }

    @Test("In a large window, too, more than the visible part of a photo is decoded")
    func largeWindow() throws {
        let size = PixelSize(width: 6_000, height: 4_000)
        var request = DecodeRequest(box: PixelSize(width: 1_920, height: 1_080))
        request.enlarges = true
        // A window's pixel shows one pixel of the photo, and then two by two.
        for scale in [1, 2] {
            let (width, height) = (0.32 * Double(scale), 0.27 * Double(scale))
            request.region = try #require(UnitRect(x: 0.1, y: 0.2, width: width, height: height))
            let wider = try #require(DecodedParts.wider(than: request, of: size))
            #expect(wider.region.width > 1.2 * width && wider.region.height > 1.2 * height)
            let output = PictureLayout(of: size, for: wider).output
            #expect(output.width * output.height < 4_100_000)
        }
    }
}
