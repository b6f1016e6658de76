import Logging
import PictureTestSupport
import TestSupport
import Testing

@testable import Cache
@testable import Pictures

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
