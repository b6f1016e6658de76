import Cells
import Foundation
import Logging
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Cache
@testable import Pictures

/// The order of drawings, and their cancellation.
extension PicturePipelineTests {
    /// The decoder waits at a gate before each picture, so that all orders are known before the first is finished.
    @Test func drawsTheMostImportantFirst() async throws {
        let gate = folder.path("gate")
        mkfifo(gate, 0o600)
        let decoder = try folder.writeProgram(
            "decoder", "#!/bin/sh\nread -r go < '\(gate)'\nexec '\(try DecoderProcess.path)' \"$@\"\n")
        let opener = open(gate, O_RDWR)
        defer { close(opener) }
        try await sync((0..<6).map { "n\($0)" })
        for number in 0..<6 { try await store(thumbnail: flat(UInt8(number)), of: "n\(number)") }
        let narrow = PicturePipeline(
            renderer: PictureRenderer(caches: caches, decoder: DecoderClient(path: decoder), log: Log()), width: 1)
        let changes = narrow.changes()
        let (list, photo) = (narrow.makeClient(), narrow.makeClient())
        let orders = try (0..<6).map { try thumbnail("n\($0)") }
        narrow.want([orders[0], orders[1], orders[2]], by: list, importance: .near)
        narrow.want([orders[5]], by: photo, importance: .lookedAt)
        var order: [PictureOrder] = []
        for _ in 0..<4 {
            write(opener, "\n", 1)
            order += await changes.next()?.orders ?? []
        }
        // The first one was already running.
        #expect(order == [orders[0], orders[5], orders[1], orders[2]])
    }

    @Test("When memory is short, pictures on the screen stay, and others are drawn again when they are wanted")
    func shrinks() async throws {
        let ids = (0..<8).map { "n\($0)" }
        try await sync(ids)
        for (number, id) in ids.enumerated() { try await store(thumbnail: flat(UInt8(number)), of: id) }
        let large = Size(columns: 100, rows: 40)
        let orders = try ids.map { PictureOrder.thumbnail(of: try photo($0), in: cache.id, size: large, style: style) }
        let pipeline = PicturePipeline(renderer: renderer, limit: 8 << 20, width: 1)
        let changes = pipeline.changes()
        let client = pipeline.makeClient()
        func draw(_ orders: [PictureOrder]) async {
            pipeline.want(orders, by: client)
            while orders.contains(where: { pipeline.picture($0) == nil }) { _ = await changes.next() }
        }
        await draw(orders)
        pipeline.want([orders[0]], by: client)
        // A much smaller share than the pictures need.
        pipeline.shrink(toOneIn: 1 << 20)
        #expect(pipeline.picture(orders[0]) != nil && orders[1...].allSatisfy { pipeline.picture($0) == nil })
        await draw(orders)
    }

    @Test func cancelsUnwantedDrawings() async throws {
        let slow = PicturePipeline(
            renderer: PictureRenderer(
                caches: caches, decoder: DecoderClient(path: BrokenDecoders.path("hangs")), log: Log()),
            width: 1)
        try await sync(["a"])
        try await store(thumbnail: flat(1), of: "a")
        let changes = slow.changes()
        let client = slow.makeClient()
        let order = try thumbnail("a")
        slow.want([order], by: client)
        slow.want([], by: client)
        // It ends long before its time limit, without a picture.
        #expect(await changes.next()?.orders == [order])
        #expect(slow.picture(order) == nil && slow.failure(order) == nil)
    }

    @Test("BEHAVIOURS 3.5: a waiting user first sees a coarse preview")
    func coarseFirst() async throws {
        let gate = folder.path("gate")
        mkfifo(gate, 0o600)
        let decoder = try folder.writeProgram(
            "decoder",
            """
            #!/bin/sh
            # The first picture is the preview. All others wait at the gate.
            mkdir '\(folder.path("previewed"))' 2>/dev/null || read -r go < '\(gate)'
            exec '\(try DecoderProcess.path)' "$@"
            """)
        let opener = open(gate, O_RDWR)
        defer { close(opener) }
        try await sync(["a", "b"])
        let picture = PixelBuffer.scene(width: 1_600, height: 1_200)
        let bytes = try Tool.cjpeg(picture.ppm, "-progressive", "-quality", "90")
        for id in ["a", "b"] { try await store(photo: bytes, of: id) }
        let pipeline = PicturePipeline(
            renderer: PictureRenderer(caches: caches, decoder: DecoderClient(path: decoder), log: Log()), width: 1)
        let changes = pipeline.changes()
        let client = pipeline.makeClient()
        let order = try full("a")
        pipeline.want([order], by: client, importance: .lookedAt)
        #expect(await changes.next()?.orders == [order])
        let coarse = try #require(pipeline.picture(order))
        #expect(coarse.isCoarse && coarse.width == 1_600 && coarse.cells.size == Size(columns: 8, rows: 3))
        write(opener, "\n", 1)
        #expect(await changes.next()?.orders == [order])
        #expect(pipeline.picture(order)?.isCoarse == false)
        // The next picture is not waited for, and drawn once.
        let next = try full("b")
        pipeline.want([order, order, next], by: client, importance: .lookedAt)
        write(opener, "\n", 1)
        #expect(await changes.next()?.orders == [next])
        #expect(pipeline.picture(next)?.isCoarse == false)
    }
}

/// Clients never wait for a decoder.
extension PicturePipelineTests {
    /// Every decoder hangs, so a call that waits for one, or for a thread that does, would never return. The screen's
    /// thread makes a thousand screens' worth of calls.
    @Test(.unlessItHangs) @MainActor func screensNeverWaitForADecoder() async throws {
        let decoder = DecoderClient(path: BrokenDecoders.path("hangs"), budget: .max)
        let slow = PicturePipeline(renderer: PictureRenderer(caches: caches, decoder: decoder, log: Log()), width: 2)
        let ids = (0..<40).map { "n\($0)" }
        try await sync(ids)
        for id in ids { try await store(thumbnail: flat(1), of: id) }
        let orders = try ids.map { try thumbnail($0) }
        let (list, photo) = (slow.makeClient(), slow.makeClient())
        let changes = slow.changes()
        for round in 0..<1_000 {
            let first = round % orders.count
            slow.want(Array(orders[first...] + orders[..<first]), by: list, importance: .near)
            slow.want([orders[(first + 7) % orders.count]], by: photo, importance: .lookedAt)
            for order in orders { #expect(slow.picture(order) == nil && slow.failure(order) == nil) }
        }
        slow.want([], by: list)
        slow.want([], by: photo)
        // The running ones are ended and reported.
        #expect(await changes.next()?.orders.isEmpty == false)
    }
}

/// Orders for more than the cache can hold.
extension PicturePipelineTests {
    /// Four pictures for a cache that holds three, and then a small one, whose turn comes when the large ones are done.
    @Test func crowdedOutPicturesAreDrawnOnce() async throws {
        let ids = (0..<4).map { "n\($0)" } + ["small"]
        try await sync(ids)
        for (number, id) in ids.enumerated() { try await store(thumbnail: flat(UInt8(number)), of: id) }
        let orders = try ids.prefix(4).map { try thumbnail($0) }
        await finish(orders[0])
        let cost = try #require(pipeline.picture(orders[0])).byteCount
        let counted = try CountedDecoder()
        let narrow = PicturePipeline(
            renderer: PictureRenderer(caches: caches, decoder: DecoderClient(path: counted.decoder), log: Log()),
            limit: cost * 18 / 5, width: 1)
        let (list, behind) = (narrow.makeClient(), narrow.makeClient())
        let changes = narrow.changes()
        let small = PictureOrder.thumbnail(
            of: try photo("small"), in: cache.id, size: Size(columns: 1, rows: 1), style: style)
        narrow.want(orders, by: list)
        narrow.want([small], by: behind, importance: .rest)
        var steps = 0
        while narrow.picture(small) == nil, steps < 40 { steps += await changes.next()?.orders.count ?? 40 }
        #expect(counted.count() == 5)
        #expect(orders.map { narrow.picture($0) != nil } == [true, true, true, false])
        // Repeating the same orders changes nothing; other orders retry.
        narrow.want(orders, by: list)
        narrow.want([orders[3]], by: list)
        while narrow.picture(orders[3]) == nil { _ = await changes.next() }
        #expect(counted.count() == 1)
    }
}
