import LinkSimulation
import Scheduling

/// Prints the governor's times on simulated networks, as the tables in docs/benchmarks.md:
///
///     swift run -c release network-table
///
/// Seconds are those of a virtual clock: the figures are the same on every machine.
func text(_ number: Double) -> String {
    let hundredths = Int((number * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
}

func printRow(_ cells: [String]) { print("| " + cells.joined(separator: " | ") + " |") }

printRow([
    "network", "ours", "HTTP/2", "best of 4, 16, 64", "ratio", "ratio to 4", "ratio to limit", "photo", "photo, HTTP/2",
])
printRow([String](repeating: "---", count: 9))
for network in Network.all + [.d] {
    let fixed = [4, 16, 64].map { network.total(FixedGovernor(width: $0)) }
    let best = fixed.min() ?? 0
    let ours = network.total(AdaptiveGovernor())
    let shared = network.total(AdaptiveGovernor(), isShared: true)
    let photos = [false, true].map { isShared in
        let alone = network.photo(FixedGovernor(width: 4), isShared: isShared, crowd: 0)
        return network.photo(AdaptiveGovernor(), isShared: isShared, crowd: network.crowd) / alone
    }
    printRow(
        ["\(network)", text(ours), text(shared), text(best), text(ours / best), text(ours / fixed[0])]
            + [text(ours / network.least())] + photos.map(text))
}

print("")
printRow(["opened photo among prefetched photos", "ours", "four at once", "ratio"])
printRow([String](repeating: "---", count: 4))
for (network, bytes, others) in [
    (Network.b, 3_000_000, 3_000_000), (.c, 400_000, 3_000_000), (.d, 400_000, 400_000),
] {
    let four = network.photo(FixedGovernor(width: 4), bytes: bytes, amongPhotosOf: others)
    let ours = network.photo(AdaptiveGovernor(), bytes: bytes, amongPhotosOf: others)
    printRow(["\(network)", text(ours), text(four), text(ours / four)])
}

print("")
printRow(["opened photo after a collapse from 50 Mbit/s to 256 kbit/s", "ours", "four at once", "ratio"])
printRow([String](repeating: "---", count: 4))
for isShared in [false, true] {
    let four = Network.photoAfterCollapse(FixedGovernor(width: 4), isShared: isShared)
    let ours = Network.photoAfterCollapse(AdaptiveGovernor(), isShared: isShared)
    printRow([
        isShared ? "HTTP/2" : "HTTP/1.1", text(ours.seconds), text(four.seconds), text(ours.seconds / four.seconds),
    ])
}
