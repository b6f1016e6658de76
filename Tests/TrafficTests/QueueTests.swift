import TestSupport
import Testing

@testable import Traffic

/// How soon less is asked for, where answers stand in a queue.
@Suite(.ownThread) struct QueueTests {
    private var link = HostLink(isSecure: false)

    /// Eight thumbnails come one behind the other, and others behind them, each as late. Returns what the window is by and by,
    /// in round trips.
    private mutating func windows(rate: Double, roundTrip: Double, rounds: Int) -> [Double] {
        link.noteConnect(roundTrip, at: 0)
        let step = 12_000 / rate
        var (now, thumbnails, windows) = (roundTrip, 0.0, [Double]())
        while windows.count < rounds {
            now += step
            thumbnails += 1
            link.noteDelivered(12_000, at: now)
            link.sample(since: now - step, delivered: link.delivered - 12_000, isSaturated: true, at: now)
            link.noteAnswer(roundTrip + min(thumbnails, 8) * step, of: .thumbnail, isShared: false, at: now)
            link.advance(to: now, isSaturated: true, overdue: { 8 }, cap: 64)
            if now > roundTrip * Double(windows.count + 2) { windows.append(link.window(cap: 64)) }
        }
        return windows
    }

    /// Whatever is opened waits for what is asked for already.
    @Test mutating func oneThatTakesSecondsIsSoonShort() {
        let windows = windows(rate: 30_000, roundTrip: 0.6, rounds: 8)
        #expect(windows[0] > 60_000 && windows[2] < 40_000, "\(windows)")
    }

    /// On a faster link nobody waits for long, and too little would be asked for while it is found out what fits.
    @Test mutating func aShortOneIsLeftForAWhile() {
        let windows = windows(rate: 120_000, roundTrip: 0.3, rounds: 8)
        #expect(windows[0] > 50_000 && windows[2] > 50_000, "\(windows)")
    }
}
