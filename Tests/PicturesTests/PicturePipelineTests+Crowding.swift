import Cells
import Logging
import PictureTestSupport
import TestSupport
import Testing

@testable import Cache
@testable import Pictures

/// Orders for more than the cache can hold.
extension PicturePipelineTests {
    /// Four pictures of 10 MB for a cache of 32 MiB, and then a small one, whose turn comes when the large ones are
    /// done.
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
            limit: cost * 16 / 5, width: 1)
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
