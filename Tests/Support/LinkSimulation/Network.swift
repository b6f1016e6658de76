import Model
import Scheduling

/// A simulated network, and the times that governors need on it.
public struct Network: CustomStringConvertible, Sendable {
    /// Its rate as text.
    public let name: String
    /// Bits a second.
    public let bits: Double
    /// Seconds.
    public let roundTrip: Double
    /// The share of packets that are lost.
    public var loss = 0.0
    /// The thumbnails to transfer: about ten seconds' worth, at most 2,000.
    public let thumbnails: Int

    /// Creates a network of one rate and one round trip.
    public init(name: String, bits: Double, roundTrip: Double, loss: Double = 0, thumbnails: Int) {
        (self.name, self.bits, self.roundTrip, self.loss, self.thumbnails) = (name, bits, roundTrip, loss, thumbnails)
    }

    /// Its figures as text.
    public var description: String {
        "\(name), \(Int(roundTrip * 1000)) ms\(loss > 0 ? ", \(Int(loss * 100)) % loss" : "")"
    }

    /// Networks from 256 kbit/s to 300 Mbit/s, from 20 to 300 ms, with and without loss.
    public static let all: [Network] = {
        let rates: [(String, Double, Int)] = [
            ("256 kbit/s", 256e3, 60), ("2 Mbit/s", 2e6, 300), ("10 Mbit/s", 10e6, 800), ("50 Mbit/s", 50e6, 2_000),
            ("300 Mbit/s", 300e6, 2_000),
        ]
        return rates.flatMap { name, bits, count in
            [0.02, 0.1, 0.3].flatMap { roundTrip in
                [0, 0.01].map {
                    Network(name: name, bits: bits, roundTrip: roundTrip, loss: $0, thumbnails: count)
                }
            }
        }
    }()

    /// A fast link with a long round trip. The benchmarks measure b, c and d on real links too.
    public static let b = Network(name: "50 Mbit/s", bits: 50e6, roundTrip: 0.1, thumbnails: 2_000)
    /// A slow link with a long round trip.
    public static let c = Network(name: "2 Mbit/s", bits: 2e6, roundTrip: 0.3, thumbnails: 200)
    /// A very slow link with a very long round trip.
    public static let d = Network(name: "256 kbit/s", bits: 256e3, roundTrip: 0.6, thumbnails: 60)

    /// Enough thumbnails to outlast a photo.
    public var crowd: Int { min(8_000, 400 + Int(bits / 8 * 8 / Self.meanThumbnail)) }

    /// The link.
    public var link: SimulatedLink {
        SimulatedLink([SimulatedLink.Stage(bits: bits, roundTrip: roundTrip)], loss: loss)
    }

    /// The sizes of thumbnails, in bytes.
    public static let thumbnailSizes = 6_000...18_000
    /// Their average size, in bytes.
    public static let meanThumbnail = 12_000.0

    /// The seconds that the link needs for the thumbnails, about.
    public var thumbnailTime: Double { Double(thumbnails) * Self.meanThumbnail * 8 / bits }

    /// Whether 48 thumbnails fill the link, fewer than may run at once.
    public var isFilledByFew: Bool { bits / 8 * roundTrip <= 48 * Self.meanThumbnail }

    /// Whether more fits into the link than a few new connections send at once.
    public var isLong: Bool { bits / 8 * roundTrip > 49_152 }

    /// The seeds to run: several with losses, otherwise one.
    public func seeds(_ count: UInt64) -> ClosedRange<UInt64> { 1...(loss > 0 ? count : 1) }

    /// Returns the seconds for all thumbnails, the mean of all seeds.
    public func total(_ governor: some Governor, isShared: Bool = false) -> Double {
        let seeds = seeds(3)
        return seeds.reduce(0) { sum, seed in
            let simulation = Simulation(link, governor, isShared: isShared, seed: seed)
            simulation.want(thumbnails, .thumbnail, sizes: Self.thumbnailSizes)
            simulation.run()
            return sum + simulation.time
        } / Double(seeds.count)
    }

    /// Returns the least seconds: all bytes with their headers, and two round trips before the first.
    public func least() -> Double {
        let simulation = Simulation(link, FixedGovernor(width: 1))
        simulation.want(thumbnails, .thumbnail, sizes: Self.thumbnailSizes)
        let bytes = simulation.transfers.reduce(0) { $0 + $1.size + 250 }
        return Double(bytes) * 1_500 / 1_448 * 8 / bits + 2 * roundTrip
    }

    /// Returns the seconds from opening a photo of 400 kB to its last byte.
    ///
    /// - Parameter crowd: thumbnails that are transferred too, from some seconds before.
    public func photo(_ governor: some Governor, isShared: Bool = false, crowd: Int) -> Double {
        let seeds: ClosedRange<UInt64> = 1...(crowd == 0 && loss == 0 ? 1 : 20)
        return seeds.reduce(0) { sum, seed in
            let simulation = Simulation(link, governor, isShared: isShared, seed: seed)
            simulation.want(crowd, .thumbnail, sizes: Self.thumbnailSizes)
            let time = crowd == 0 ? 0 : openTime(seed)
            let photo = simulation.want(.photo, bytes: 400_000, importance: .lookedAt, at: time)
            simulation.run(until: photo)
            return sum + (simulation.transfers[photo].duration ?? .infinity)
        } / Double(seeds.count)
    }

    /// Returns when the photo is opened. The moments differ, since the transfers under way matter; on a slow link those
    /// change less often.
    private func openTime(_ number: UInt64) -> Double {
        let (from, apart): (Double, Double) = bits > 3e6 ? (3, 0.1) : (6, 0.3)
        return from + apart * Double(number - 1)
    }

    /// Returns the seconds from opening a photo to its last byte, while others are prefetched.
    public func photo(_ governor: some Governor, bytes: Int, amongPhotosOf others: Int) -> Double {
        let delays = [0.1, 0.2, 0.3, 0.4, 0.6, 0.8]
        return delays.reduce(0) { sum, delay in
            let simulation = Simulation(link, governor)
            simulation.want(60, .thumbnail, sizes: Self.thumbnailSizes)
            for _ in 0..<12 { simulation.want(.photo, bytes: others, importance: .near, at: 30) }
            let photo = simulation.want(.photo, bytes: bytes, importance: .lookedAt, at: 30 + delay)
            simulation.run(until: photo)
            return sum + (simulation.transfers[photo].duration ?? .infinity)
        } / Double(delays.count)
    }

    /// Returns the mean seconds from opening a photo to its last byte after a collapse, and the greatest share of
    /// waste.
    ///
    /// After five seconds the link falls from 50 Mbit/s and 100 ms to 256 kbit/s and 600 ms. The photo is opened two to
    /// four seconds later.
    public static func photoAfterCollapse(
        _ governor: some Governor, isShared: Bool = false
    ) -> (seconds: Double, waste: Double) {
        let link = SimulatedLink([
            SimulatedLink.Stage(bits: 50e6, roundTrip: 0.1),
            SimulatedLink.Stage(from: 5, bits: 256e3, roundTrip: 0.6),
        ])
        let runs = [7.5, 8, 8.5, 9].map { time in
            let simulation = Simulation(link, governor, isShared: isShared)
            simulation.want(4_000, .thumbnail, sizes: thumbnailSizes)
            let photo = simulation.want(.photo, bytes: 400_000, importance: .lookedAt, at: time)
            simulation.run(until: photo)
            let waste = Double(simulation.wasted) / simulation.link.carried
            return (seconds: simulation.transfers[photo].duration ?? .infinity, waste: waste)
        }
        return (runs.reduce(0) { $0 + $1.seconds } / Double(runs.count), runs.map(\.waste).max() ?? 0)
    }
}
