import Foundation
import Logging
import Model
import PictureTestSupport
import TestSupport
import Pixels
import Testing

@testable import Cache
@testable import Pictures

/// Thumbnails that Vitrine makes for photos without one.
extension PicturePipelineTests {
    @Test("BEHAVIOURS 1.2: a photo without a thumbnail gets one")
    func makesThumbnails() async throws {
        try await sync(["a"], thumbnails: false)
        let large = PixelBuffer.scene(width: 1_000, height: 500)
        try await store(photo: PNGFile(large).bytes, of: "a")
        let order = try thumbnail("a")
        await finish(order)
        #expect(pipeline.picture(order)?.cells.size == size)
        try await until { try photo("a").thumbnail.isCurrent }
        let key = try photo("a").key
        let bytes = try #require(try cache.read { try $0.thumbnail(of: key) }).bytes
        #expect(bytes.starts(with: [0xFF, 0xD8, 0xFF]) && bytes.count < 40_000)
        let again = try thumbnail("a")
        await finish(again)
        #expect(pipeline.picture(again)?.width == 320)
    }

    @Test("BEHAVIOURS 2.5: a thumbnail made from the photo is replaced with it")
    func remakesThumbnails() async throws {
        try await sync(["a"], thumbnails: false)
        try await store(photo: flat(100), of: "a")
        #expect(try cache.read { try $0.thumbnailsToMake() } == [photo("a").key])
        await finish(try thumbnail("a"))
        try await until { try photo("a").thumbnail.isCurrent }
        let key = try photo("a").key
        let old = try cache.read { try $0.thumbnail(of: key) }?.bytes
        try await sync(["a"], thumbnails: false, date: 1)
        // The cached photo is not the edition in the gallery.
        #expect(try cache.read { try $0.thumbnailsToMake() }.isEmpty)
        #expect(try await !renderer.makeThumbnail(of: key, in: cache))
        await finish(try thumbnail("a"))
        #expect(try !photo("a").thumbnail.isCurrent)
        try await store(photo: flat(200), of: "a")
        #expect(try cache.read { try $0.thumbnailsToMake() } == [key])
        await finish(try thumbnail("a"))
        try await until { try photo("a").thumbnail.isCurrent }
        #expect(try cache.read { try $0.thumbnail(of: key) }?.bytes != old)
        let order = try thumbnail("a")
        await finish(order)
        #expect(pipeline.picture(order)?.cells.cells.first?.style.background != .rgb(100, 0, 0))
    }

    /// The list, the photo's screen and the background reader all notice that there is none, before one is made.
    @Test func thumbnailsAreMadeOnce() async throws {
        let (gate, made) = (folder.path("gate"), folder.path("made"))
        mkfifo(gate, 0o600)
        let decoder = try folder.writeProgram(
            "decoder",
            """
            #!/bin/sh
            echo >>'\(made)'
            read -r go < '\(gate)'
            exec '\(try DecoderProcess.path)' "$@"
            """)
        let opener = open(gate, O_RDWR)
        defer { close(opener) }
        let renderer = PictureRenderer(caches: caches, decoder: DecoderClient(path: decoder), log: Log())
        try await sync(["a"], thumbnails: false)
        try await store(photo: flat(100), of: "a")
        let key = try photo("a").key
        async let first = renderer.makeThumbnail(of: key, in: cache)
        // It is being made now.
        let deadline = ContinuousClock.now + .seconds(60)
        while !FileManager.default.fileExists(atPath: made) {
            try #require(ContinuousClock.now < deadline)
            await Task.yield()
        }
        async let second = renderer.makeThumbnail(of: key, in: cache)
        async let third = renderer.complete(key, in: cache)
        // As many as could be waiting.
        write(opener, "\n\n\n", 3)
        #expect(try await [first, second, third].contains(true))
        #expect(try photo("a").thumbnail.isCurrent)
        #expect(try String(contentsOfFile: made, encoding: .utf8) == "\n")
        #expect(try await !renderer.makeThumbnail(of: key, in: cache))
    }

    @Test("A thumbnail of black ink on a transparent background shows the ink")
    func inkStaysVisible() async throws {
        try await sync(["a"], thumbnails: false)
        let side = PixelSize(width: 64, height: 48)
        let ink = PNGFile(.rgbAlpha, depth: 8, size: side) { x, _ in [0, 0, 0, x < 32 ? 255 : 0] }
        try await store(photo: ink.bytes, of: "a")
        let key = try photo("a").key
        #expect(try await renderer.makeThumbnail(of: key, in: cache))
        let bytes = try #require(try cache.read { try $0.thumbnail(of: key) }).bytes
        let reply = try DecoderClient(path: try DecoderProcess.path).decode(.bytes(bytes), DecodeRequest(box: side))
        let pixels = try #require(reply.pixels)
        #expect(pixels.color(8, 24).red < 20 && abs(Int(pixels.color(56, 24).red) - 128) < 20)
    }

    @Test func badPhotosAreNotDecodedAtEverySync() async throws {
        try await sync(["a"], thumbnails: false)
        try await store(photo: Array(flat(200).prefix(30)), of: "a")
        let key = try photo("a").key
        #expect(try cache.read { try $0.thumbnailsToMake() } == [key])
        await #expect(throws: PictureError.self) { try await renderer.makeThumbnail(of: key, in: cache) }
        try await until { if case .bad = try photo("a").original.trouble { true } else { false } }
        #expect(try cache.read { try $0.thumbnailsToMake() }.isEmpty)
        #expect(try await !renderer.makeThumbnail(of: key, in: cache))
    }
}
