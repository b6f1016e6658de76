import Model
import TestSupport
import Testing

@testable import Scheduling

@Suite(.ownThread) struct TransferQueueTests {
    private static let yes = Admission.now(.any)

    private func candidate(_ host: String = "a") -> TransferCandidate {
        TransferCandidate(host: host, importance: .rest, kind: .thumbnail)
    }

    @Test func importanceThenPlace() {
        var queue = TransferQueue()
        queue.put(1, .near, rank: 0, as: candidate())
        queue.put(2, .visible, rank: 2, as: candidate())
        queue.put(3, .visible, rank: 1, as: candidate())
        queue.put(4, .lookedAt, rank: 9, as: candidate())
        var order: [Int] = []
        while let wish = queue.popFirst({ _ in Self.yes }) { order.append(wish.entry.number) }
        #expect(order == [4, 3, 2, 1])
    }

    @Test func whatIsNotAdmittedStays() {
        var queue = TransferQueue()
        queue.put(1, .near, rank: 0, as: candidate())
        #expect(queue.popFirst { $0.importance >= .visible ? Self.yes : .linkIsBusy } == nil)
        #expect(queue.contains(1))
        queue.put(1, .visible, rank: 0, as: candidate())
        #expect(queue.popFirst { $0.importance >= .visible ? Self.yes : .linkIsBusy }?.entry.number == 1)
        #expect(queue.isEmpty && queue.popFirst { _ in Self.yes } == nil)
    }

    @Test func aBusyHostHoldsUpNobodyElse() {
        var queue = TransferQueue()
        queue.put(1, .visible, rank: 0, as: candidate("slow"))
        queue.put(2, .near, rank: 1, as: candidate("fast"))
        let first = queue.popFirst { $0.host == "slow" ? .hostIsBusy : Self.yes }
        #expect(first?.entry.number == 2)
        #expect(queue.popFirst { $0.host == "slow" ? .hostIsBusy : Self.yes } == nil)
        #expect(queue.count(of: "slow") == 1 && queue.count(of: "fast") == 0)
    }

    /// A list may name a host for each of its pictures, and each may be gone.
    @Test func busyHostsAreAskedAboutOnceEachTheMostImportantFirst() {
        var queue = TransferQueue()
        for number in 0..<500 {
            queue.put(number, .rest, rank: number, as: candidate("\(number)"))
        }
        queue.put(499, .visible, rank: 499, as: candidate())
        var asked: [String] = []
        let first = queue.popFirst {
            asked.append($0.host)
            return $0.host == "498" ? Self.yes : .hostIsBusy
        }
        #expect(first?.entry.number == 498 && queue.count == 499)
        #expect(asked == ["499"] + (0..<499).map { "\($0)" })
    }

    @Test func theHostIsKeptWhenTheImportanceChanges() {
        var queue = TransferQueue()
        queue.put(1, .near, rank: 0, as: candidate("a"))
        queue.put(1, .visible, rank: 0, as: candidate("b"))
        #expect(queue.first(5).map(\.candidate.host) == ["a"])
        #expect(queue.first(5).map(\.candidate.importance) == [.visible])
    }

    @Test func whatHasGoneToAnotherPlaceAndBackIsThereOnce() {
        var queue = TransferQueue()
        for place in [0, 5, 0, 5, 0] {
            queue.put(1, .visible, rank: place, as: candidate())
        }
        queue.put(2, .visible, rank: 1, as: candidate())
        queue.remove(2)
        queue.put(2, .visible, rank: 1, as: candidate())
        #expect(queue.first(9).map(\.number) == [1, 2] && queue.count == 2)
        #expect(queue.popFirst { _ in Self.yes }?.entry.number == 1)
        #expect(queue.first(9).map(\.number) == [2])
    }

    /// Against a list that is sorted each time.
    @Test func agreesWithASortedList() {
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
                // Ranks are distinct, as they are in a snapshot.
                let rank = Int.random(in: 0..<1_000_000, using: &numbers)
                queue.put(number, importance, rank: rank, as: candidate("\(number % 3)"))
                model[number] = (importance, rank)
            case 2:
                queue.remove(number)
                model[number] = nil
            default:
                #expect(queue.first(7).map(\.number) == order.prefix(7).map(\.key))
                #expect(queue.popFirst { _ in Self.yes }?.entry.number == order.first?.key)
                if let first = order.first { model[first.key] = nil }
            }
            #expect(queue.count == model.count)
            #expect(queue.count(of: "1") == model.keys.count { $0 % 3 == 1 })
        }
    }

    /// And each is put in anew, at another place.
    @Test func aHundredThousandInOrder() {
        var queue = TransferQueue()
        for round in 0..<2 {
            for number in 0..<100_000 {
                queue.put(number, .rest, rank: number + round, as: candidate())
            }
        }
        #expect(queue.count == 100_000)
        #expect(queue.popFirst { _ in Self.yes }?.entry.number == 0)
    }
}
