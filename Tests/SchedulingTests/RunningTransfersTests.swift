import Model
import TestSupport
import Testing

@testable import Scheduling

@Suite(.ownThread) struct RunningTransfersTests {
    private func transfer(_ sign: Double) -> RunningTransfer {
        RunningTransfer(
            candidate: TransferCandidate(host: "h", importance: .rest, kind: .thumbnail), isRepeated: false, sign: sign,
            sampleTime: 0, deliveredAtSample: 0)
    }

    @Test func agreesWithASortedDictionary() {
        var running = RunningTransfers()
        var model: [Int: Double] = [:]
        var chance = SeededNumbers(seed: 1)
        for round in 0..<5_000 {
            // What is asked for once more has numbers of the other sign in a simulation.
            let number = Int.random(in: -20..<100, using: &chance)
            model[number] = Bool.random(using: &chance) ? Double(round) : nil
            running[number] = model[number].map(transfer)
            #expect(running[number]?.sign == model[number] && running.count == model.count)
            #expect(running.isEmpty == model.isEmpty)
        }
        #expect(running.map(\.number) == model.keys.sorted())
        for (number, transfer) in running { #expect(transfer.sign == model[number]) }
    }
}
