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

    @Test("A transfer is looked at if the viewer shows its photo, and the photo comes over a network")
    func lookedAt() {
        func transfer(_ host: String, _ importance: Importance) -> RunningTransfer {
            RunningTransfer(
                candidate: TransferCandidate(host: host, importance: importance, kind: .photo), isRepeated: false,
                sign: 0, sampleTime: 0, deliveredAtSample: 0)
        }
        #expect(transfer("h", .lookedAt).isLookedAt && transfer("h", .lookedAt).isUrgent)
        #expect(!transfer("", .lookedAt).isLookedAt && !transfer("", .lookedAt).isUrgent)
        #expect(!transfer("h", .list).isLookedAt && transfer("h", .list).isUrgent)
        #expect(!transfer("h", .rest).isLookedAt && !transfer("h", .rest).isUrgent)
    }

    @Test("It agrees with a sorted dictionary")
    func agreesWithDictionary() {
        var running = RunningTransfers()
        var model: [Int: Double] = [:]
        var random = SeededNumbers(seed: 1)
        for round in 0..<5_000 {
            // In a simulation, second requests have negative numbers.
            let number = Int.random(in: -20..<100, using: &random)
            model[number] = Bool.random(using: &random) ? Double(round) : nil
            running[number] = model[number].map(transfer)
            #expect(running[number]?.sign == model[number] && running.count == model.count)
            #expect(running.isEmpty == model.isEmpty)
        }
        #expect(running.map(\.number) == model.keys.sorted())
        for (number, transfer) in running { #expect(transfer.sign == model[number]) }
    }
}
