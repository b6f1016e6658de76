import TestSupport
import Testing

@testable import Scheduling

/// When a link has collapsed, and when it only seems to have.
@Suite(.ownThread) struct CollapseDetectorTests {
    private var path = HostPath(isSecure: false)
    private var now = 0.0
    /// When a severe collapse was found.
    private var collapses: [Double] = []

    init() { path.recordConnect(0.3, at: 0) }

    /// Delivers so many bytes a second until a time.
    private mutating func deliver(
        _ rate: Double, until end: Double, isSaturated: Bool = true, isJudged: Bool = true
    ) {
        let step = 0.05
        while now < end - step / 2 {
            now += step
            path.recordDelivered(rate * step, at: now)
            if rate > 0 {
                path.sample(
                    since: now - step, delivered: path.delivered - rate * step, isSaturated: isSaturated, at: now)
            }
            path.advance(to: now, isSaturated: isSaturated, overdue: { 0 }, cap: 64)
            if isSaturated, isJudged, path.detectCollapse(at: now) { collapses.append(now) }
        }
    }

    private var rate: Double { path.bandwidth.greatest ?? 0 }

    @Test("Connecting is no collapse")
    mutating func connecting() {
        deliver(0, until: 0.9)
        deliver(1e6, until: 4)
        #expect(collapses.isEmpty && rate > 0.99e6)
    }

    @Test("A pause is no collapse")
    mutating func pause() {
        deliver(1e6, until: 4)
        deliver(0, until: 6, isSaturated: false)
        deliver(0, until: 6.3)
        deliver(1e6, until: 9)
        #expect(collapses.isEmpty && rate > 0.99e6)
    }

    @Test("A collapse is found within two seconds, and earlier samples no longer count")
    mutating func collapse() {
        deliver(1e6, until: 5)
        let before = path.delivered - 1e6
        deliver(20_000, until: 7)
        #expect(collapses.count == 1 && rate < 60_000, "\(collapses) \(rate)")
        path.sample(since: 4, delivered: before, isSaturated: true, at: now)
        #expect(rate < 60_000)
    }

    @Test("A collapse that is found late is judged by the bytes after it")
    mutating func late() {
        deliver(1e6, until: 5)
        deliver(20_000, until: 6.1, isJudged: false)
        deliver(20_000, until: 6.15)
        #expect(collapses.count == 1 && rate < 25_000, "\(collapses) \(rate)")
    }
}
