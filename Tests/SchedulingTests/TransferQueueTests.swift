import Model
import TestSupport
import Testing

@testable import Scheduling

@Suite(.ownThread) struct TransferQueueTests {
    private static let now = Admission.now(.any)

    private func candidate(_ host: String = "a") -> TransferCandidate {
        TransferCandidate(host: host, importance: .rest, kind: .thumbnail)
    }

    @Test("Transfers come by importance, then by rank")
    func order() {
        var queue = TransferQueue()
        queue.put(1, .near, rank: 0, as: candidate())
        queue.put(2, .visible, rank: 2, as: candidate())
        queue.put(3, .visible, rank: 1, as: candidate())
        queue.put(4, .lookedAt, rank: 9, as: candidate())
        var order: [Int] = []
        while let next = queue.popFirst({ _ in Self.now }) { order.append(next.entry.number) }
        #expect(order == [4, 3, 2, 1])
    }

    @Test("A transfer that is not admitted stays")
    func refusal() {
        var queue = TransferQueue()
        queue.put(1, .near, rank: 0, as: candidate())
        #expect(queue.popFirst { $0.importance >= .visible ? Self.now : .linkIsBusy } == nil)
        #expect(queue.contains(1))
        queue.put(1, .visible, rank: 0, as: candidate())
        #expect(queue.popFirst { $0.importance >= .visible ? Self.now : .linkIsBusy }?.entry.number == 1)
        #expect(queue.isEmpty && queue.popFirst { _ in Self.now } == nil)
    }

    @Test("A busy host delays no other")
    func busyHost() {
        var queue = TransferQueue()
        queue.put(1, .visible, rank: 0, as: candidate("slow"))
        queue.put(2, .near, rank: 1, as: candidate("fast"))
        let first = queue.popFirst { $0.host == "slow" ? .hostIsBusy : Self.now }
        #expect(first?.entry.number == 2)
        #expect(queue.popFirst { $0.host == "slow" ? .hostIsBusy : Self.now } == nil)
        #expect(queue.count(of: "slow") == 1 && queue.count(of: "fast") == 0)
    }

    /// A list may name a host for each of its pictures.
    @Test("Each busy host costs one admission, the most important first")
    func manyBusyHosts() {
        var queue = TransferQueue()
        for number in 0..<500 {
            queue.put(number, .rest, rank: number, as: candidate("\(number)"))
        }
        queue.put(499, .visible, rank: 499, as: candidate())
        var asked: [String] = []
        let first = queue.popFirst {
            asked.append($0.host)
            return $0.host == "498" ? Self.now : .hostIsBusy
        }
        #expect(first?.entry.number == 498 && queue.count == 499)
        #expect(asked == ["499"] + (0..<499).map { "\($0)" })
    }

    @Test("A later candidate does not replace the first")
    func changedImportance() {
        var queue = TransferQueue()
        queue.put(1, .near, rank: 0, as: candidate("a"))
        queue.put(1, .visible, rank: 0, as: candidate("b"))
        #expect(queue.first(5).map(\.candidate.host) == ["a"])
        #expect(queue.first(5).map(\.candidate.importance) == [.visible])
    }

    @Test("A transfer whose rank changes back and forth is there once")
    func changedRank() {
        var queue = TransferQueue()
        for rank in [0, 5, 0, 5, 0] {
            queue.put(1, .visible, rank: rank, as: candidate())
        }
        queue.put(2, .visible, rank: 1, as: candidate())
        queue.remove(2)
        queue.put(2, .visible, rank: 1, as: candidate())
        #expect(queue.first(9).map(\.number) == [1, 2] && queue.count == 2)
        #expect(queue.popFirst { _ in Self.now }?.entry.number == 1)
        #expect(queue.first(9).map(\.number) == [2])
    }

    @Test("It agrees with a list that is sorted each time")
    func agreesWithSortedList() {
        var queue = TransferQueue()
        var model: [Int: (importance: Importance, rank: Int)] = [:]
        var numbers = SeededNumbers(seed: 1)
        for _ in 0..<20_000 {
            let number = Int.random(in: 0..<200, using: &numbers)
            let order = model.sorted {
                ($0.value.importance, $1.value.rank) > ($1.value.importance, $0.value.rank)
            }
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0, 1:
                let importance = Importance.allCases.randomElement(using: &numbers) ?? .rest
                // Ranks are distinct, as in a snapshot.
                let rank = Int.random(in: 0..<1_000_000, using: &numbers)
                queue.put(number, importance, rank: rank, as: candidate("\(number % 3)"))
                model[number] = (importance, rank)
            case 2:
                queue.remove(number)
                model[number] = nil
            default:
                #expect(queue.first(7).map(\.number) == order.prefix(7).map(\.key))
                #expect(queue.popFirst { _ in Self.now }?.entry.number == order.first?.key)
                if let first = order.first { model[first.key] = nil }
            }
            #expect(queue.count == model.count)
            #expect(queue.count(of: "1") == model.keys.count { $0 % 3 == 1 })
        }
    }

    @Test("A hundred thousand transfers change their ranks")
    func manyTransfers() {
        var queue = TransferQueue()
        for round in 0..<2 {
            for number in 0..<100_000 {
                queue.put(number, .rest, rank: number + round, as: candidate())
            }
        }
        #expect(queue.count == 100_000)
        #expect(queue.popFirst { _ in Self.now }?.entry.number == 0)
    }
}
