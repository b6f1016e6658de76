import TestSupport
import Testing

@testable import Scheduling

/// When a link has become much worse, and when it only seems so.
@Suite(.ownThread) struct FallTests {
    private var link = HostPath(isSecure: false)
    private var now = 0.0
    /// When something was found to be of another world.
    private var falls: [Double] = []

    init() { link.noteConnect(0.3, at: 0) }

    /// So many bytes a second come until then, and there is enough to do, or there is not.
    private mutating func deliver(
        _ rate: Double, until end: Double, isSaturated: Bool = true, isJudged: Bool = true
    ) {
        let step = 0.05
        while now < end - step / 2 {
            now += step
            link.noteDelivered(rate * step, at: now)
            if rate > 0 {
                link.sample(
                    since: now - step, delivered: link.delivered - rate * step, isSaturated: isSaturated, at: now)
            }
            link.advance(to: now, isSaturated: isSaturated, overdue: { 0 }, cap: 64)
            if isSaturated, isJudged, link.noteFall(at: now) { falls.append(now) }
        }
    }

    private var rate: Double { link.bandwidth.greatest ?? 0 }

    @Test mutating func connectingIsNone() {
        deliver(0, until: 0.9)
        deliver(1e6, until: 4)
        #expect(falls.isEmpty && rate > 0.99e6)
    }

    @Test mutating func norIsAPause() {
        deliver(1e6, until: 4)
        deliver(0, until: 6, isSaturated: false)
        deliver(0, until: 6.3)
        deliver(1e6, until: 9)
        #expect(falls.isEmpty && rate > 0.99e6)
    }

    @Test mutating func aLinkThatCollapsesIsSeenWithinTwoSeconds() {
        deliver(1e6, until: 5)
        let before = link.delivered - 1e6
        deliver(20_000, until: 7)
        #expect(falls.count == 1 && rate < 60_000, "\(falls) \(rate)")
        // It had begun in better times.
        link.sample(since: 4, delivered: before, isSaturated: true, at: now)
        #expect(rate < 60_000)
    }

    /// What has come before it fell is no measure of what it carries since.
    @Test mutating func whatIsSeenLateIsSeenAsItIs() {
        deliver(1e6, until: 5)
        deliver(20_000, until: 6.1, isJudged: false)
        deliver(20_000, until: 6.15)
        #expect(falls.count == 1 && rate < 25_000, "\(falls) \(rate)")
    }
}
