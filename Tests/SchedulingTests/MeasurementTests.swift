import Model
import Testing

@testable import Scheduling

/// What the governor takes for the bandwidth, while photos come over a line that carries two megabytes a second.
struct MeasurementTests {
    private var governor = AdaptiveGovernor()
    private var received = [1: 0.0, 2: 0.0]
    private let step = 0.025

    init() {
        let photo = TransferCandidate(host: "h", importance: .rest, kind: .photo)
        for number in 1...2 {
            governor.noteStart(of: number, photo, over: .any, at: 0)
            governor.note(.connected(0.1), of: number, at: 0.1)
            governor.note(.answered(wait: 0.1, length: 9_000_000, isShared: false), of: number, at: 0.2)
        }
    }

    private var bandwidth: Double { governor.report.bandwidth ?? 0 }

    private mutating func receive(_ bytes: Double, of number: Int, at now: Double) {
        received[number, default: 0] += bytes
        governor.note(.received(received[number, default: 0]), of: number, at: now)
    }

    /// Both come side by side, for so many steps from a moment on.
    private mutating func receiveBoth(_ steps: ClosedRange<Int>, from start: Double) {
        for number in steps {
            for transfer in 1...2 { receive(1e6 * step, of: transfer, at: start + Double(number) * step) }
        }
    }

    @Test mutating func itIsWhatComes() {
        receiveBoth(1...40, from: 0.2)
        #expect(bandwidth > 1.9e6 && bandwidth < 2.1e6, "\(bandwidth)")
    }

    /// The system hands over what came behind a lost packet when that is there: all at once.
    @Test mutating func whatWaitedForALostPacketCameMeanwhile() {
        receiveBoth(1...40, from: 0.2)
        for number in 1...16 { receive(1e6 * step, of: 1, at: 1.2 + Double(number) * step) }
        receive(1e6 * 0.4, of: 2, at: 1.6)
        receiveBoth(1...40, from: 1.6)
        #expect(bandwidth > 1.7e6 && bandwidth < 2.15e6, "\(bandwidth)")
    }

    /// A few packets that come one right after the other say nothing of what comes in a second.
    @Test mutating func theEndOfAPhotoIsNoMeasure() {
        var now = 0.2
        for _ in 1...200 {
            now += step
            receive(1e6 * step, of: 1, at: now)
            let before = bandwidth
            receive(1e6 * step, of: 2, at: now)
            // It has just been measured by the second one.
            if bandwidth != before { break }
        }
        receive(50_000, of: 2, at: now + 0.004)
        governor.note(.ended(.completed), of: 2, at: now + 0.005)
        #expect(bandwidth < 2.2e6, "\(bandwidth)")
    }
}
