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
            case "$*" in *haste=whole*) read -r go < '\(gate)' ;; esac
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
