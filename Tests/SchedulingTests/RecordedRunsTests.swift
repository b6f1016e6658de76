import Foundation
import LinkSimulation
import Model
import Synchronization
import TestSupport
import Testing

@testable import Scheduling

/// The governor's decisions on simulated networks, compared with recordings in `Recorded`.
///
/// The runs repeat exactly, so a change of the governor shows in the recordings, even if its effect is small.
/// `VITRINE_RECORD=1 swift test --filter RecordedRunsTests` records the current decisions.
@Suite(.ownThread) struct RecordedRunsTests {
    @Test("The governor decides as recorded", arguments: Scenario.all)
    func decisions(_ scenario: Scenario) throws {
        let seen = scenario.run()
        if ProcessInfo.processInfo.environment["VITRINE_RECORD"] != nil {
            try seen.write(toFile: scenario.path, atomically: true, encoding: .utf8)
            return
        }
        let expected = try String(contentsOfFile: scenario.path, encoding: .utf8)
        let pairs = zip(expected.split(separator: "\n"), seen.split(separator: "\n"))
        let difference = pairs.first { $0 != $1 }.map { "recorded: \($0)\nnow:      \($1)" }
        #expect(seen == expected, "\(difference ?? "one is longer")\nVITRINE_RECORD=1 records the decisions anew.")
    }
}

/// Transfers over a simulated link, and what else happens meanwhile.
struct Scenario: Sendable, CustomTestStringConvertible {
    /// The name of its recording.
    private let name: String
    private let network: Network
    private var link: SimulatedLink
    /// Whether the link changes during the run.
    private var isChanging = false
    private var isShared = false
    private var thumbnails: Int
    /// Photos that are fetched in advance.
    private var near = 0
    /// The time at which the user opens a photo, and the photo's size in bytes.
    private var photo: (time: Double, bytes: Int)?
    private var incidents: [RecordedGovernor.Incident] = []

    private init(_ name: String, _ network: Network, thumbnails: Int) {
        (self.name, self.network, link, self.thumbnails) = (name, network, network.link, thumbnails)
    }

    var testDescription: String { name }

    /// The file with the recorded decisions.
    var path: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Recorded/\(name).txt").path
    }

    /// Returns the governor's decisions as a table.
    func run() -> String {
        let record = RunRecord()
        let governor = RecordedGovernor(record, incidents)
        let simulation = Simulation(link, governor, isShared: isShared)
        simulation.want(thumbnails, .thumbnail, sizes: Network.thumbnailSizes)
        for _ in 0..<near { simulation.want(.photo, bytes: 2_000_000, importance: .near, at: 1) }
        if let photo { simulation.want(.photo, bytes: photo.bytes, importance: .lookedAt, at: photo.time) }
        simulation.run(atMost: 300)
        let complete = simulation.transfers.count { $0.duration != nil }
        return """
            # \(isChanging ? "a changing link" : "\(network)"), \(isShared ? "one shared connection" : "own connections")
            \(record.text)
            \(seconds(simulation.time)): \(complete) of \(simulation.transfers.count) complete, \
            \(simulation.interruptions) interruptions, \(simulation.wasted) bytes wasted, \
            at most \(simulation.mostAtOnce) at once
            history: \(simulation.history.text)
            """
    }

    static let all: [Scenario] = [
        Scenario("fast-and-far", .b, thumbnails: 1_200).opening(400_000, at: 1.5),
        Scenario("fast-and-far-shared", .b, thumbnails: 1_200).sharing().opening(400_000, at: 1.5),
        Scenario("slow", .c, thumbnails: 120).fetching(4).opening(400_000, at: 8),
        Scenario("slow-shared", .c, thumbnails: 120).sharing().fetching(4).opening(400_000, at: 8),
        Scenario("very-slow", .d, thumbnails: 40).opening(60_000, at: 5),
        Scenario("very-slow-shared", .d, thumbnails: 40).sharing().opening(60_000, at: 5),
        Scenario("near", Network(name: "300 Mbit/s", bits: 300e6, roundTrip: 0.004, thumbnails: 0), thumbnails: 800)
            .fetching(6),
        Scenario("lossy", lossy, thumbnails: 500).fetching(4).opening(1_500_000, at: 4),
        Scenario("lossy-shared", lossy, thumbnails: 1_200).sharing().fetching(4).opening(1_500_000, at: 4),
        Scenario("lossy-shared-early", lossy, thumbnails: 300).sharing().opening(600_000, at: 1),
        Scenario("very-lossy-shared", veryLossy, thumbnails: 300).sharing().opening(400_000, at: 3),
        Scenario("collapse", .b, thumbnails: 900).over(collapsing).opening(60_000, at: 4),
        Scenario("collapse-shared", .b, thumbnails: 900).over(collapsing).sharing().opening(60_000, at: 4),
        Scenario("refusals", lossy, thumbnails: 600).sharing().having { governor, time, _ in
            governor.recordComplaint(of: "example.org", silence: time < 4 ? 0 : 2, at: time)
        },
        Scenario("very-slow-refusals", .d, thumbnails: 180).having { governor, time, _ in
            governor.recordComplaint(of: "example.org", silence: 0, at: time)
        },
        Scenario("other-network", .c, thumbnails: 120).sharing().having { governor, time, _ in
            governor.recordNetworkChange(at: time)
        },
        Scenario("unreachable", .c, thumbnails: 60).having { governor, time, number in
            // The numbers of the simulation's own transfers are smaller.
            for transfer in 0..<3 {
                let candidate = TransferCandidate(host: "example.org", importance: .visible, kind: .thumbnail)
                governor.recordStart(of: 1_000 * number + transfer, candidate, over: .any, at: time)
                governor.record(.ended(.unreachable), of: 1_000 * number + transfer, at: time)
            }
        },
    ]

    private static let lossy = Network(name: "10 Mbit/s", bits: 10e6, roundTrip: 0.08, loss: 0.01, thumbnails: 0)
    private static let veryLossy = Network(name: "4 Mbit/s", bits: 4e6, roundTrip: 0.15, loss: 0.05, thumbnails: 0)
    private static let collapsing = SimulatedLink([
        SimulatedLink.Stage(bits: 50e6, roundTrip: 0.1), SimulatedLink.Stage(from: 2, bits: 512e3, roundTrip: 0.3),
        SimulatedLink.Stage(from: 10, bits: 20e6, roundTrip: 0.05),
    ])

    private func changed(_ change: (inout Scenario) -> Void) -> Scenario {
        var scenario = self
        change(&scenario)
        return scenario
    }

    private func sharing() -> Scenario { changed { $0.isShared = true } }
    private func fetching(_ photos: Int) -> Scenario { changed { $0.near = photos } }
    private func opening(_ bytes: Int, at time: Double) -> Scenario { changed { $0.photo = (time, bytes) } }
    private func over(_ link: SimulatedLink) -> Scenario { changed { ($0.link, $0.isChanging) = (link, true) } }

    /// Lets something happen after one, two, three, four and eight seconds.
    private func having(
        _ action: @escaping @Sendable (inout any Governor, _ time: Double, _ number: Int) -> Void
    ) -> Scenario {
        changed { scenario in
            scenario.incidents = [1, 2, 3, 4, 8].enumerated().map { number, time in
                RecordedGovernor.Incident(time: time) { action(&$0, $1, number + 1) }
            }
        }
    }
}

/// Returns a time with at most four digits after the point.
private func seconds(_ time: Double) -> String { "\((time * 10_000).rounded() / 10_000) s" }

/// The lines of a recording.
private final class RunRecord: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// A governor whose decisions are recorded.
private struct RecordedGovernor: GovernorWrapper {
    /// An event that the simulation cannot produce.
    struct Incident: Sendable {
        let time: Double
        let action: @Sendable (inout any Governor, Double) -> Void
    }

    var inner: any Governor = AdaptiveGovernor()
    private let record: RunRecord
    private var incidents: [Incident]
    private var starts: [Admission.Way: Int] = [:]
    private var rowTime = 0.0

    init(_ record: RunRecord, _ incidents: [Incident]) {
        (self.record, self.incidents) = (record, incidents)
    }

    mutating func recordStart(
        of transfer: Int, _ candidate: TransferCandidate, over way: Admission.Way, at now: Double
    ) {
        starts[way, default: 0] += 1
        inner.recordStart(of: transfer, candidate, over: way, at: now)
    }

    mutating func advance(to now: Double, waiting: (String) -> Int) -> [Int] {
        while let incident = incidents.first, incident.time <= now {
            incident.action(&inner, incident.time)
            incidents.removeFirst()
        }
        let interrupted = inner.advance(to: now, waiting: waiting)
        if !interrupted.isEmpty { record.add("\(seconds(now)): interrupts \(interrupted)") }
        if now >= rowTime {
            record.add(row(at: now, waiting: waiting("example.org")))
            rowTime = now + 0.5
        }
        return interrupted
    }

    mutating func takeHanging(at now: Double) -> [Int: Admission.Way] {
        let hanging = inner.takeHanging(at: now)
        if !hanging.isEmpty { record.add("\(seconds(now)): requests \(hanging.keys.sorted()) again") }
        return hanging
    }

    private func row(at now: Double, waiting: Int) -> String {
        let report = inner.report
        let ways: [(Admission.Way, String)] = [
            (.any, "any"), (.few, "few"), (.init(.unshared), "unshared"),
            (.init(.any, inPieces: true), "any in pieces"),
            (.init(.few, inPieces: true), "few in pieces"), (.init(.unshared, inPieces: true), "unshared in pieces"),
        ]
        let started = ways.compactMap { way, name in starts[way].map { "\($0) \(name)" } }.joined(separator: ", ")
        return "\(seconds(now)): \(waiting) wait, started \(started.isEmpty ? "none" : started); "
            + "window \(Int(report.window)), width \(report.width) of \(report.limit), "
            + "rate \(Int(report.bandwidth ?? 0)), round trip \(seconds(report.roundTrip ?? 0)), "
            + "quality \(report.quality.map { "\($0)" } ?? "unknown")"
            + (report.missed.isEmpty ? "" : ", missed") + (report.unreachable.isEmpty ? "" : ", unreachable")
    }
}
