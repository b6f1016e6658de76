import LinkSimulation
import TestSupport
import Testing

@testable import Scheduling

@Suite(.ownThread) struct HostHistoryTests {
    /// Returns what a governor has learned from one run.
    private func learned(_ network: Network) -> HostHistory {
        let simulation = Simulation(network.link, AdaptiveGovernor())
        simulation.want(network.thumbnails, .thumbnail, sizes: Network.thumbnailSizes)
        simulation.run()
        return simulation.history
    }

    @Test("A second run with the history is faster")
    func secondRun() {
        let network = Network.b
        let first = network.total(AdaptiveGovernor())
        #expect(network.total(AdaptiveGovernor(history: learned(network))) < first)
    }

    @Test("A history of a network a hundred times faster costs little")
    func wrongHistory() {
        let history = learned(Network(name: "300 Mbit/s", bits: 300e6, roundTrip: 0.1, thumbnails: 2_000))
        for network in Network.all where network.bits <= 10e6 {
            let first = network.total(AdaptiveGovernor())
            #expect(network.total(AdaptiveGovernor(history: history)) <= 1.15 * first, "\(network)")
        }
    }

    @Test("The text parses to the same history, and invalid lines are skipped")
    func text() throws {
        let history = learned(.c)
        #expect(HostHistory(text: history.text) == history && !history.text.isEmpty)
        #expect(
            HostHistory(text: "nonsense\nhost\t-3\nhost\t0\nhost\tinf\nhost\t1e300\n\t\nhost\t\t5\nhost\t5\t5\n\t5\n")
                == HostHistory())
        var many = HostHistory()
        for number in 0..<200 { many["\(number)"] = 1 }
        #expect(many["0"] == nil && many["199"] != nil && many.text.split(separator: "\n").count == 64)
    }

    @Test("A host that is measured again has one line, the last")
    func again() {
        var history = HostHistory()
        for (host, capacity) in [("a", 5.0), ("b", 1), ("a", 7)] { history[host] = capacity }
        #expect(history.text == "b\t1\na\t7\n")
    }

    @Test("The history keeps the capacity of a host that the governor forgets")
    func forgotten() throws {
        var governor = AdaptiveGovernor()
        func start(_ number: Int, _ host: String, at now: Double) {
            let candidate = TransferCandidate(host: host, importance: .visible, kind: .thumbnail)
            governor.recordStart(of: number, candidate, over: .any, at: now)
        }
        start(0, "first", at: 0)
        governor.record(.connected(0.1), of: 0, at: 0.1)
        governor.record(.received(40_000), of: 0, at: 0.3)
        governor.record(.ended(.completed), of: 0, at: 0.3)
        _ = governor.advance(to: 0.4) { _ in 0 }
        let capacity = try #require(governor.history["first"])
        // The governor keeps 256 hosts. These others have no capacity, so they displace nothing in the history.
        for number in 1...300 {
            start(number, "\(number)", at: Double(number))
            governor.record(.ended(.completed), of: number, at: Double(number))
        }
        #expect(governor.hosts["first"] == nil)
        #expect(governor.history["first"] == capacity && governor.history["300"] == nil)
    }

    @Test("A capacity that differs by more than a quarter is worth saving")
    func differs() {
        var (kept, found) = (HostHistory(), HostHistory())
        kept["a"] = 1_000
        found["a"] = 1_200
        #expect(!found.differs(from: kept) && found.differs(from: HostHistory()))
        found["a"] = 700
        #expect(found.differs(from: kept))
        found["a"] = 1_000
        found["b"] = 5
        #expect(found.differs(from: kept))
    }
}
