import LinkSimulation
import Scheduling

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
    let fixed = [4, 16, 64].map { network.total(FixedGovernor(width: $0)) }
    let best = fixed.min() ?? 0
    let ours = network.total(AdaptiveGovernor())
    let photos = [false, true].map { isShared in
        let alone = network.photo(FixedGovernor(width: 4), isShared: isShared, crowd: 0)
        return network.photo(AdaptiveGovernor(), isShared: isShared, crowd: network.crowd) / alone
    }
    row(
        ["\(network)", text(ours), text(best), text(ours / best), text(ours / fixed[0])]
            + [text(ours / network.least())] + photos.map(text))
}

print("")
row(["a photo that is looked at, among photos that are fetched beforehand", "ours", "four at once", "ratio"])
row([String](repeating: "---", count: 4))
for (network, bytes, others) in [
    (Network.b, 3_000_000, 3_000_000), (.c, 400_000, 3_000_000), (.d, 400_000, 400_000),
] {
    let four = network.photo(FixedGovernor(width: 4), bytes: bytes, amongPhotosOf: others)
    let ours = network.photo(AdaptiveGovernor(), bytes: bytes, amongPhotosOf: others)
    row(["\(network)", text(ours), text(four), text(ours / four)])
}
