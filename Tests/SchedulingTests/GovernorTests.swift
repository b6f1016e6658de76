import LinkSimulation
import Model
import TestSupport
import Testing

@testable import Scheduling

/// The governor on simulated networks, against fixed numbers of transfers and the link's limit.
///
/// Seconds are those of a virtual clock, so the figures are the same on every machine.
@Suite("BEHAVIOURS 5.6: the number of transfers adapts to every network", .ownThread)
struct GovernorTests {
    @Test("No fixed number of transfers is much faster on any network")
    func fixedNumbers() {
        var ratios: [Double] = []
        for network in Network.all + [.d] {
            let fixed = [4, 16, 64].map { network.total(FixedGovernor(width: $0)) }
            let total = network.total(AdaptiveGovernor())
            let (four, best) = (fixed[0], fixed.min() ?? 0)
            ratios.append(total / best)
            #expect(total <= 1.15 * best, "\(network)")
            #expect(total <= 1.05 * four, "\(network)")
            if network.isFilledByFew { #expect(total <= 1.2 * network.least(), "\(network)") }
        }
        #expect(ratios.sorted()[ratios.count / 2] <= 1.05)
    }

    @Test("A fixed number of transfers runs, and not one more")
    func fixedNumber() {
        var governor = FixedGovernor(width: 2)
        let candidate = TransferCandidate(host: "h", importance: .rest, kind: .thumbnail)
        for number in 1...2 {
            #expect(governor.admit(candidate, at: 0) == .now(.any))
            governor.recordStart(of: number, candidate, over: .any, at: 0)
        }
        #expect(governor.admit(candidate, at: 1) == .linkIsBusy)
        governor.record(.ended(.failed), of: 1, at: 2)
        #expect(governor.admit(candidate, at: 2) == .now(.any))
    }

    @Test("On a fast link with a long round trip, four transfers take nine times as long")
    func fourTransfers() {
        #expect(Network.b.total(AdaptiveGovernor()) <= 0.11 * Network.b.total(FixedGovernor(width: 4)))
    }

    /// Where more fits into the link than one connection sends at once, pieces make it faster than alone.
    @Test("An opened photo arrives as if it were alone")
    func openedPhoto() {
        for network in Network.all {
            let alone = network.photo(FixedGovernor(width: 4), crowd: 0)
            let among = network.photo(AdaptiveGovernor(), crowd: network.crowd)
            #expect(among <= (network.isLong ? 0.9 : 1.15) * alone, "\(network)")
        }
    }

    /// On the slowest link with the shortest round trip, half a thumbnail of 12 KB delays the photo of 400 KB by more
    /// than the saved handshake.
    @Test("Over a shared connection, an opened photo arrives sooner than alone")
    func openedPhotoOverSharedConnection() {
        for network in Network.all + [.d] {
            let alone = network.photo(FixedGovernor(width: 4), isShared: true, crowd: 0)
            let among = network.photo(AdaptiveGovernor(), isShared: true, crowd: network.crowd)
            // With random losses, a mean of twenty runs varies a little.
            let isSlowest = network.bits < 1e6 && network.roundTrip < 0.1
            let limit = isSlowest ? 1.01 : network.loss > 0 ? 1.004 : 1
            #expect(among <= limit * alone, "\(network): \(among / alone)")
        }
    }

    @Test("Interruptions for a photo waste at most 3 % of the bytes")
    func wasteForPhoto() {
        for network in Network.all + [.d] {
            for isShared in [false, true] {
                let simulation = Simulation(network.link, AdaptiveGovernor(), isShared: isShared)
                simulation.want(network.thumbnails, .thumbnail, sizes: Network.thumbnailSizes)
                simulation.want(.photo, bytes: 400_000, importance: .lookedAt, at: min(network.thumbnailTime / 2, 6))
                simulation.run()
                let share = Double(simulation.wasted) / simulation.link.carried
                #expect(share <= 0.03, "\(network), \(isShared ? "shared" : "own") connections: \(share)")
            }
        }
    }

    /// Records of TLS are seen late, and a queue's drops must not end the sharing.
    @Test("A shared connection also fills a link with a short round trip")
    func sharedConnectionOnShortPath() {
        for network in Network.all where !network.isLong && network.loss == 0 {
            let best = [4, 16, 64].map { network.total(FixedGovernor(width: $0)) }.min() ?? 0
            #expect(network.total(AdaptiveGovernor(), isShared: true) <= 1.05 * best, "\(network)")
        }
    }

    @Test("An opened photo arrives much sooner than with four transfers, while others are prefetched")
    func amongPhotos() {
        for (network, bytes, others, limit) in [
            (Network.b, 3_000_000, 3_000_000, 0.5), (.c, 400_000, 3_000_000, 0.08), (.d, 400_000, 400_000, 0.28),
        ] {
            let fixed = network.photo(FixedGovernor(width: 4), bytes: bytes, amongPhotosOf: others)
            let ours = network.photo(AdaptiveGovernor(), bytes: bytes, amongPhotosOf: others)
            #expect(ours <= limit * fixed, "\(network)")
        }
    }

    /// The link falls from 50 Mbit/s to 256 kbit/s, and then the user opens a photo.
    @Test("After a collapse, an opened photo arrives sooner than alone on the new link")
    func collapse() {
        let fixed = Network.photoAfterCollapse(FixedGovernor(width: 4))
        let ours = Network.photoAfterCollapse(AdaptiveGovernor())
        // Alone it takes 14 s, since it has to connect first.
        let alone = Network(name: "256 kbit/s", bits: 256e3, roundTrip: 0.6, thumbnails: 0)
            .photo(FixedGovernor(width: 4), crowd: 0)
        #expect(ours.seconds <= alone && ours.seconds <= 0.7 * fixed.seconds)
        #expect(ours.waste <= 0.03)
    }

    @Test("With packet loss, the governor leaves a shared connection soon and permanently")
    func sharedConnectionWithLosses() {
        let network = Network(name: "10 Mbit/s", bits: 10e6, roundTrip: 0.04, loss: 0.01, thumbnails: 1_600)
        let fixed = network.total(FixedGovernor(width: 64), isShared: true)
        #expect(network.total(AdaptiveGovernor(), isShared: true) <= 0.7 * fixed)
        let best = [4, 16, 64].map { network.total(FixedGovernor(width: $0)) }.min() ?? 0
        #expect(network.total(AdaptiveGovernor(), isShared: true) <= 1.03 * best)
    }

    @Test("Thumbnails alone waste at most 3 % of the bytes")
    func waste() {
        for network in Network.all {
            let simulation = Simulation(network.link, AdaptiveGovernor())
            simulation.want(network.thumbnails, .thumbnail, sizes: Network.thumbnailSizes)
            simulation.run()
            #expect(Double(simulation.wasted) <= 0.03 * simulation.link.carried, "\(network)")
        }
    }

    /// As in a tunnel, almost nothing arrives for ten seconds.
    @Test("A link that stalls causes few interruptions")
    func stall() {
        for roundTrip in [0.02, 0.1, 0.6] {
            let link = SimulatedLink([
                SimulatedLink.Stage(bits: 2e6, roundTrip: roundTrip),
                SimulatedLink.Stage(from: 4, bits: 64_000, roundTrip: roundTrip),
                SimulatedLink.Stage(from: 14, bits: 2e6, roundTrip: roundTrip),
            ])
            let simulation = Simulation(link, AdaptiveGovernor())
            simulation.want(300, .thumbnail, sizes: Network.thumbnailSizes)
            simulation.run(atMost: 200)
            #expect(simulation.interruptions <= 64 && simulation.time < 60, "\(roundTrip)")
            #expect(simulation.transfers.allSatisfy { $0.duration != nil })
        }
    }
}
