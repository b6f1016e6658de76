import Logging
import PictureTestSupport
import TestSupport
import Testing

@testable import Cache
@testable import Pictures

/// Who wants pictures waits for no decoder.
extension PicturePipelineTests {
    /// Every decoder hangs, and may hang for days: a call that waited for one, or for a thread that waits for one, would not
    /// come back. What they cost is counted in calls: a thousand screens' worth, from the thread that draws the screen.
    @Test(.unlessItHangs) @MainActor func screensWaitForNoDecoder() async throws {
        let decoder = DecoderClient(path: BrokenDecoders.path("hangs"), budget: .max)
        let slow = PicturePipeline(renderer: PictureRenderer(caches: caches, decoder: decoder, log: Log()), width: 2)
        let ids = (0..<40).map { "n\($0)" }
        try await sync(ids)
        for id in ids { try await store(thumbnail: flat(1), of: id) }
        let orders = try ids.map { try thumbnail($0) }
        let (list, photo) = (slow.makeClient(), slow.makeClient())
        let developed = slow.changes()
        for round in 0..<1_000 {
            let first = round % orders.count
            slow.want(Array(orders[first...] + orders[..<first]), by: list, importance: .near)
            slow.want([orders[(first + 7) % orders.count]], by: photo, importance: .lookedAt)
            for order in orders { #expect(slow.picture(order) == nil && slow.failure(order) == nil) }
        }
        slow.want([], by: list)
        slow.want([], by: photo)
        // Those that were under way are ended, and say so.
        #expect(await developed.next()?.orders.isEmpty == false)
    }
}
