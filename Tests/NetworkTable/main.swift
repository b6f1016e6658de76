import Glibc
if CommandLine.arguments.count > 2 {
 for network in Network.all where "\(network)" == CommandLine.arguments[1] {
  let simulation = try Simulation(network.link, AdaptiveGovernor(), isShared: CommandLine.arguments[2] == "h2", seed: 1)
  simulation.debug = true
  simulation.want(network.crowd, .thumbnail, sizes: Network.thumbnailSizes)
  let photo = simulation.want(.photo, bytes: 400_000, importance: .lookedAt, at: network.bits > 3e6 ? 3.0 : 6.0)
  simulation.run(until: photo)
  print(simulation.transfers[photo].duration ?? 0, "alone", try network.photo(FixedGovernor(width: 4), isShared: CommandLine.arguments[2] == "h2", crowd: 0))
 }
 exit(0)
}
import LinkSimulation
import Traffic

/// Prints what the governor makes of simulated networks, as the table in docs/benchmarks.md:
///
///     swift run -c release network-table
///
/// Seconds are those of a virtual clock: the figures are the same on every machine.
func text(_ number: Double) -> String {
    let hundredths = Int((number * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
}

func row(_ cells: [String]) { print("| " + cells.joined(separator: " | ") + " |") }

row(["network", "ours", "best of 4, 16, 64", "against it", "against 4", "against the line", "photo, h1", "photo, h2"])
row([String](repeating: "---", count: 8))
for network in Network.all + [.d] {
    let fixed = try [4, 16, 64].map { try network.total(FixedGovernor(width: $0)) }
    let best = fixed.min() ?? 0
    let ours = try network.total(AdaptiveGovernor())
    let photos = try [false, true].map { isShared in
        let alone = try network.photo(FixedGovernor(width: 4), isShared: isShared, crowd: 0)
        return try network.photo(AdaptiveGovernor(), isShared: isShared, crowd: network.crowd) / alone
    }
    row(
        ["\(network)", text(ours), text(best), text(ours / best), text(ours / fixed[0])]
            + [text(try ours / network.least())] + photos.map(text))
}

for (network, bytes, others) in [
    (Network.b, 3_000_000, 3_000_000), (.c, 400_000, 3_000_000), (.d, 400_000, 400_000),
] {
    let fixed = try network.photo(FixedGovernor(width: 4), bytes: bytes, amongPhotosOf: others)
    let ours = try network.photo(AdaptiveGovernor(), bytes: bytes, amongPhotosOf: others)
    print(network, text(ours), text(fixed), text(ours / fixed))
}
        func photo(_ governor: some Governor, at time: Double) throws -> (seconds: Double, wasted: Double) {
            let link = SimulatedLink([
                SimulatedLink.Stage(bits: 50e6, roundTrip: 0.1),
                SimulatedLink.Stage(from: 5, bits: 256e3, roundTrip: 0.6),
            ])
            let simulation = try Simulation(link, governor)
            simulation.want(4_000, .thumbnail, sizes: Network.thumbnailSizes)
            let photo = simulation.want(.photo, bytes: 400_000, importance: .lookedAt, at: time)
            simulation.run(until: photo)
            let wasted = Double(simulation.wasted) / simulation.link.carried
            return (simulation.transfers[photo].duration ?? .infinity, wasted)
        }
        let times = [7.5, 8, 8.5, 9]
        for t in times {
        let fixed = try photo(FixedGovernor(width: 4), at: t).seconds
        let ours = try photo(AdaptiveGovernor(), at: t)
        print("collapse", text(ours.seconds), text(fixed), text(ours.seconds / fixed), ours.wasted)
        }
        let network = Network(name: "10 Mbit/s", bits: 10e6, roundTrip: 0.04, loss: 0.01, thumbnails: 800)
        let fixed2 = try network.total(FixedGovernor(width: 64), isShared: false)
        let ours2 = try network.total(AdaptiveGovernor(), isShared: true)
        print("e h2", text(ours2), "against h1 64", text(fixed2), text(try network.least()), "h1", text(try network.total(AdaptiveGovernor())))
if getenv("AMONG") != nil {
  for delay in [0.1, 0.2, 0.3, 0.4, 0.6, 0.8] {
            let simulation = try Simulation(Network.b.link, AdaptiveGovernor())
            simulation.want(60, .thumbnail, sizes: Network.thumbnailSizes)
            simulation.debug = getenv("DBG") != nil && delay == 0.4
            for _ in 0..<12 { simulation.want(.photo, bytes: 3_000_000, importance: .near, at: 30) }
            let photo = simulation.want(.photo, bytes: 3_000_001, importance: .lookedAt, at: 30 + delay)
            simulation.run(until: photo)
    print(delay, simulation.transfers[photo].duration ?? 0, simulation.wasted, simulation.interruptions)
  }
}
