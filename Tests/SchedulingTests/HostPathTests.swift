import Model
import TestSupport
import Testing

@testable import Scheduling

/// The window of a path, step by step.
@Suite(.ownThread) struct HostPathTests {
    private let thumbnail = TransferKind.thumbnail.usualSize

    @Test("An earlier run's capacity widens the first window, up to 64 thumbnails")
    func earlierCapacity() {
        for (capacity, window) in [(1, 5 * thumbnail), (300_000, 300_000), (1e9, 64 * thumbnail)] {
            var path = HostPath(isSecure: false)
            path.begin(with: capacity)
            #expect(path.window(cap: 64) == window)
        }
    }

    @Test("While a path gains speed, its window grows to four times the known capacity")
    func slowStart() throws {
        var path = HostPath(isSecure: false)
        path.recordConnect(0.3, at: 0.3)
        path.recordAnswer(0.3, of: .thumbnail, isShared: false, at: 0.6)
        path.recordDelivered(60_000, at: 0.8)
        path.sample(since: 0, delivered: 0, isSaturated: true, at: 0.8)
        let capacity = try #require(path.capacity)
        path.advance(to: 0.8, isSaturated: true, overdue: { 0 }, cap: 64)
        #expect(path.window(cap: 64) == 4 * capacity && 4 * capacity > 6 * thumbnail)
    }

    @Test("Uploads widen their window by a tenth, and shrink it by a tenth when a queue builds up")
    func uploads() {
        var path = HostPath(isSecure: true, isForUploads: true)
        for step in 1...3 {
            let now = Double(step)
            path.recordPackets(areOrdered: true, roundTrip: 0.1, at: now)
            path.recordDelivered(50_000, at: now)
            path.sample(since: now - 1, delivered: path.delivered - 50_000, isSaturated: true, at: now)
            let before = path.window(cap: 64)
            path.advance(to: now, isSaturated: true, overdue: { 0 }, cap: 64)
            #expect(abs(path.window(cap: 64) - 1.1 * before) < 1)
        }
        let before = path.window(cap: 64)
        path.advance(to: 4, isSaturated: true, overdue: { 3 }, cap: 64)
        #expect(abs(path.window(cap: 64) - 0.9 * before) < 1)
        for step in 5...60 {
            path.recordPackets(areOrdered: true, roundTrip: 0.1, at: Double(step))
            path.advance(to: Double(step), isSaturated: true, overdue: { 0 }, cap: 64)
        }
        #expect(path.window(cap: 64) == 64 * TransferKind.upload.usualSize)
    }

    @Test("After a collapse, the rate is that of the bytes after it")
    func rateAfterCollapse() throws {
        var (log, detector, delivered) = (DeliveryLog(), CollapseDetector(), 0.0)
        for step in 0...100 {
            let now = 0.05 * Double(step)
            delivered += now < 2.4 ? 50_000 : 1_000
            log.record(delivered, at: now, span: 1)
            detector.recordLoad(true, delivered: delivered, at: now)
        }
        let collapse = detector.detect(log, delivered, 1e6, isLossy: false, over: 2, at: 5)
        let found = try #require(collapse)
        #expect(found.isSevere && abs(found.rate - 20_000) < 1_000 && detector.time == 5)
    }

    @Test("Eight files of this machine are read at once")
    func localFiles() {
        var governor = AdaptiveGovernor()
        let candidate = TransferCandidate(host: "", importance: .visible, kind: .photo)
        for number in 1...8 {
            #expect(governor.admit(candidate, at: 0) == .now(.any))
            governor.recordStart(of: number, candidate, over: .any, at: 0)
        }
        #expect(governor.admit(candidate, at: 0) == .hostIsBusy)
    }
}
