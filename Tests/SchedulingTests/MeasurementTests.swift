import Model
import Testing

@testable import Scheduling

/// The measured bandwidth, while photos arrive over a link of two megabytes a second.
struct MeasurementTests {
    private var governor = AdaptiveGovernor()
    private var received = [1: 0.0, 2: 0.0]
    private let step = 0.025

    init() {
        let photo = TransferCandidate(host: "h", importance: .rest, kind: .photo)
        for number in 1...2 {
            governor.recordStart(of: number, photo, over: .any, at: 0)
            governor.record(.connected(0.1), of: number, at: 0.1)
            governor.record(.answered(wait: 0.1, length: 9_000_000, isShared: false), of: number, at: 0.2)
        }
    }

    private var bandwidth: Double { governor.report.bandwidth ?? 0 }

    private mutating func receive(_ bytes: Double, of number: Int, at now: Double) {
        received[number, default: 0] += bytes
        governor.record(.received(received[number, default: 0]), of: number, at: now)
    }

    /// Receives both photos side by side, for so many steps.
    private mutating func receiveBoth(_ steps: ClosedRange<Int>, from start: Double) {
        for number in steps {
            for transfer in 1...2 { receive(1e6 * step, of: transfer, at: start + Double(number) * step) }
        }
    }

    @Test("The bandwidth is the rate of both photos")
    mutating func rate() {
        receiveBoth(1...40, from: 0.2)
        #expect(bandwidth > 1.9e6 && bandwidth < 2.1e6, "\(bandwidth)")
    }

    /// The system delivers the bytes behind a lost packet all at once, when it arrives.
    @Test("Bytes that a lost packet held back count over the silence before them")
    mutating func burst() {
        receiveBoth(1...40, from: 0.2)
        for number in 1...16 { receive(1e6 * step, of: 1, at: 1.2 + Double(number) * step) }
        receive(1e6 * 0.4, of: 2, at: 1.6)
        receiveBoth(1...40, from: 1.6)
        #expect(bandwidth > 1.7e6 && bandwidth < 2.15e6, "\(bandwidth)")
    }

    @Test("The last packets of a photo are no sample")
    mutating func endOfPhoto() {
        var now = 0.2
        for _ in 1...200 {
            now += step
            receive(1e6 * step, of: 1, at: now)
            let before = bandwidth
            receive(1e6 * step, of: 2, at: now)
            // The second photo has just been sampled.
            if bandwidth != before { break }
        }
        receive(50_000, of: 2, at: now + 0.004)
        governor.record(.ended(.completed), of: 2, at: now + 0.005)
        #expect(bandwidth < 2.2e6, "\(bandwidth)")
    }
}

/// The shortest recent round trip.
struct RoundTripFilterTests {
    private var filter = RoundTripFilter()

    @Test("After half a minute, the shortest of the later samples counts, but at most a quarter more than before")
    mutating func rise() {
        filter.add(0.1, at: 0)
        for (seconds, time) in [(0.2, 1.0), (0.11, 2), (0.3, 30)] { filter.add(seconds, at: time) }
        #expect(filter.least == 0.1)
        filter.add(0.4, at: 30.1)
        #expect(filter.least == 0.11)
        filter.add(0.4, at: 60.2)
        #expect(filter.least == 1.25 * 0.11)
    }

    @Test("A shorter sample counts at once")
    mutating func fall() {
        filter.add(0.2, at: 0)
        filter.add(0.1, at: 1)
        #expect(filter.least == 0.1)
        #expect(abs(RoundTripFilter.lateness(of: 0.1) - 0.13) < 1e-9)
    }
}

/// The time over which bytes are spread that a lost packet held back.
struct BurstArrivalsTests {
    private var bursts = BurstArrivals()

    @Test("Bytes count from the beginning of the silence that they end")
    mutating func silence() {
        bursts.add(from: 1, to: 1.4)
        #expect(bursts.beginning(of: 1.25) == 1)
        #expect(bursts.beginning(of: 0.5) == 0.5)
        #expect(bursts.beginning(of: 1.4) == 1.4)
    }

    @Test("The earliest of several silences counts")
    mutating func severalSilences() {
        bursts.add(from: 1, to: 1.4)
        bursts.add(from: 1.2, to: 1.6)
        #expect(bursts.beginning(of: 1.3) == 1)
        #expect(bursts.beginning(of: 1.5) == 1.2)
    }

    @Test("Old silences are dropped")
    mutating func most() {
        for number in 0..<1_000 { bursts.add(from: Double(number), to: Double(number) + 0.5) }
        #expect(bursts.beginning(of: 0.25) == 0.25)
    }
}
