import Model
import Scheduling

/// A network to try governors on, and what they make of it.
public struct Network: CustomStringConvertible, Sendable {
    /// Its rate, in words.
    public let name: String
    /// Bits a second.
    public let bits: Double
    /// Seconds.
    public let roundTrip: Double
    /// Share of packets that are lost.
    public var loss = 0.0
    /// Thumbnails to fetch: about ten seconds' worth, and no more than 2,000.
    public let thumbnails: Int

    /// A network of one rate and one length.
    public init(name: String, bits: Double, roundTrip: Double, loss: Double = 0, thumbnails: Int) {
        (self.name, self.bits, self.roundTrip, self.loss, self.thumbnails) = (name, bits, roundTrip, loss, thumbnails)
    }

    /// Its figures, in words.
    public var description: String {
        "\(name), \(Int(roundTrip * 1000)) ms\(loss > 0 ? ", \(Int(loss * 100)) % loss" : "")"
    }

    /// From a modem's rate to that of a good line, from the next town to the other end of the world, with and without loss.
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

    /// Long and fat. It and the next two are those that the governor is measured on for real, too.
    public static let b = Network(name: "50 Mbit/s", bits: 50e6, roundTrip: 0.1, thumbnails: 2_000)
    /// Long and thin.
    public static let c = Network(name: "2 Mbit/s", bits: 2e6, roundTrip: 0.3, thumbnails: 200)
    /// Very long and very thin.
    public static let d = Network(name: "256 kbit/s", bits: 256e3, roundTrip: 0.6, thumbnails: 60)

    /// So many thumbnails that they are not through before a photo is.
    public var crowd: Int { min(8_000, 400 + Int(bits / 8 * 8 / Self.meanThumbnail)) }

    /// The link itself.
    public var link: SimulatedLink {
        SimulatedLink([SimulatedLink.Stage(bits: bits, roundTrip: roundTrip)], loss: loss)
    }

    /// What thumbnails weigh.
    public static let thumbnailSizes = 6_000...18_000
    /// What they weigh on average.
    public static let meanThumbnail = 12_000.0

    /// Seconds that the line takes for the thumbnails, about.
    public var thumbnailTime: Double { Double(thumbnails) * Self.meanThumbnail * 8 / bits }

    /// Whether as many thumbnails as a server may be asked for at once fill the link, and some more.
    public var isFilledByFew: Bool { bits / 8 * roundTrip <= 48 * Self.meanThumbnail }

    /// Whether it holds more than a few connections send at once when they begin.
    public var isLong: Bool { bits / 8 * roundTrip > 49_152 }

    /// Where chance plays a part one run says little.
    public func seeds(_ count: UInt64) -> ClosedRange<UInt64> { 1...(loss > 0 ? count : 1) }

    /// Seconds for all thumbnails, the mean of some runs.
    public func total(_ governor: some Governor, isShared: Bool = false) -> Double {
        let seeds = seeds(3)
        return seeds.reduce(0) { sum, seed in
            let simulation = Simulation(link, governor, isShared: isShared, seed: seed)
            simulation.want(thumbnails, .thumbnail, sizes: Self.thumbnailSizes)
            simulation.run()
            return sum + simulation.time
        } / Double(seeds.count)
    }

    /// Seconds that the line takes at least: the bytes with their headers, and two round trips before the first of them.
    public func least() -> Double {
        let simulation = Simulation(link, FixedGovernor(width: 1))
        simulation.want(thumbnails, .thumbnail, sizes: Self.thumbnailSizes)
        let bytes = simulation.transfers.reduce(0) { $0 + $1.size + 250 }
        return Double(bytes) * 1_500 / 1_448 * 8 / bits + 2 * roundTrip
    }

    /// Seconds from the wish for a photo of 400 kB to its last byte.
    ///
    /// - Parameter crowd: thumbnails that are wanted too, from some seconds before.
    public func photo(_ governor: some Governor, isShared: Bool = false, crowd: Int) -> Double {
        let seeds: ClosedRange<UInt64> = 1...(crowd == 0 && loss == 0 ? 1 : 20)
        return seeds.reduce(0) { sum, seed in
            let simulation = Simulation(link, governor, isShared: isShared, seed: seed)
            simulation.want(crowd, .thumbnail, sizes: Self.thumbnailSizes)
            let time = crowd == 0 ? 0 : moment(seed)
            let photo = simulation.want(.photo, bytes: 400_000, importance: .lookedAt, at: time)
            simulation.run(until: photo)
            return sum + (simulation.transfers[photo].duration ?? .infinity)
        } / Double(seeds.count)
    }

    /// When it is wanted. Something is always half through, and it matters what: on a slow link that is longer the same thing.
    private func moment(_ number: UInt64) -> Double {
        let (from, apart): (Double, Double) = bits > 3e6 ? (3, 0.1) : (6, 0.3)
        return from + apart * Double(number - 1)
    }

    /// Seconds from the wish for a photo to its last byte, while others are fetched beforehand.
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
}
