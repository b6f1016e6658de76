import Model
import TestSupport
import Testing

@testable import Traffic

@Suite(.ownThread) struct TransferQueueTests {
    private let gallery: GalleryID
    private static let yes = Admission.now(.any)

    init() throws { gallery = GalleryID(try Address("http://example.org/")) }

    private func candidate(_ host: String = "a") -> TransferCandidate {
        TransferCandidate(host: host, importance: .rest, kind: .thumbnail)
    }

    private func subject(_ number: Int) -> Wish.Subject { .picture(gallery, PhotoKey(Int64(number)), .thumbnail) }

    @Test func importanceThenPlace() {
        var queue = TransferQueue()
        queue.put(Wish(subject(1), importance: .near), place: 0, as: candidate())
        queue.put(Wish(subject(2), importance: .visible), place: 2, as: candidate())
        queue.put(Wish(subject(3), importance: .visible), place: 1, as: candidate())
        queue.put(Wish(subject(4), importance: .lookedAt), place: 9, as: candidate())
        var order: [Wish.Subject] = []
        while let wish = queue.popFirst({ _ in Self.yes }) { order.append(wish.entry.subject) }
        #expect(order == [4, 3, 2, 1].map(subject))
    }

    @Test func whatIsNotAdmittedStays() {
        var queue = TransferQueue()
        queue.put(Wish(subject(1), importance: .near), place: 0, as: candidate())
        #expect(queue.popFirst { $0.importance >= .visible ? Self.yes : .linkIsBusy } == nil)
        #expect(queue.contains(subject(1)))
        queue.put(Wish(subject(1), importance: .visible), place: 0, as: candidate())
        #expect(queue.popFirst { $0.importance >= .visible ? Self.yes : .linkIsBusy }?.entry.subject == subject(1))
        #expect(queue.isEmpty && queue.popFirst { _ in Self.yes } == nil)
    }

    @Test func aBusyHostHoldsUpNobodyElse() {
        var queue = TransferQueue()
        queue.put(Wish(subject(1), importance: .visible), place: 0, as: candidate("slow"))
        queue.put(Wish(subject(2), importance: .near), place: 1, as: candidate("fast"))
        let first = queue.popFirst { $0.host == "slow" ? .hostIsBusy : Self.yes }
        #expect(first?.entry.subject == subject(2))
        #expect(queue.popFirst { $0.host == "slow" ? .hostIsBusy : Self.yes } == nil)
        #expect(queue.count(of: "slow") == 1 && queue.count(of: "fast") == 0)
    }

    /// A list may name a host for each of its pictures, and each may be gone.
    @Test func busyHostsAreAskedAboutOnceEachTheMostImportantFirst() {
        var queue = TransferQueue()
        for number in 0..<500 {
            queue.put(Wish(subject(number), importance: .rest), place: number, as: candidate("\(number)"))
        }
        queue.put(Wish(subject(499), importance: .visible), place: 499, as: candidate())
        var asked: [String] = []
        let first = queue.popFirst {
            asked.append($0.host)
            return $0.host == "498" ? Self.yes : .hostIsBusy
        }
        #expect(first?.entry.subject == subject(498) && queue.count == 499)
        #expect(asked == ["499"] + (0..<499).map { "\($0)" })
    }

    @Test func theHostIsKeptWhenTheImportanceChanges() {
        var queue = TransferQueue()
        queue.put(Wish(subject(1), importance: .near), place: 0, as: candidate("a"))
        queue.put(Wish(subject(1), importance: .visible), place: 0, as: candidate("b"))
        #expect(queue.first(5).map(\.candidate.host) == ["a"])
        #expect(queue.first(5).map(\.candidate.importance) == [.visible])
    }

    @Test func whatHasGoneToAnotherPlaceAndBackIsThereOnce() {
        var queue = TransferQueue()
        for place in [0, 5, 0, 5, 0] {
            queue.put(Wish(subject(1), importance: .visible), place: place, as: candidate())
        }
        queue.put(Wish(subject(2), importance: .visible), place: 1, as: candidate())
        queue.remove(subject(2))
        queue.put(Wish(subject(2), importance: .visible), place: 1, as: candidate())
        #expect(queue.first(9).map(\.subject) == [subject(1), subject(2)] && queue.count == 2)
        #expect(queue.popFirst { _ in Self.yes }?.entry.subject == subject(1))
        #expect(queue.first(9).map(\.subject) == [subject(2)])
    }

    /// Against a list that is sorted each time.
    @Test func agreesWithASortedList() {
        var queue = TransferQueue()
        var model: [Wish.Subject: (importance: Importance, place: Int)] = [:]
        var state: UInt64 = 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<20_000 {
            let subject = subject(random(200))
            switch random(4) {
            case 0, 1:
                let importance = Importance.allCases[random(5)]
                // Places are distinct, as they are in a snapshot.
                let place = random(1_000_000)
                queue.put(Wish(subject, importance: importance), place: place, as: candidate())
                model[subject] = (importance, place)
            case 2:
                queue.remove(subject)
                model[subject] = nil
            default:
                let first = model.max {
                    ($0.value.importance, $1.value.place) < ($1.value.importance, $0.value.place)
                }
                #expect(queue.popFirst { _ in Self.yes }?.entry.subject == first?.key)
                if let first { model[first.key] = nil }
            }
            #expect(queue.count == model.count)
        }
    }

    /// And each is put in anew, at another place.
    @Test func aHundredThousandInOrder() {
        var queue = TransferQueue()
        for round in 0..<2 {
            for number in 0..<100_000 {
                queue.put(Wish(subject(number), importance: .rest), place: number + round, as: candidate())
            }
        }
        #expect(queue.count == 100_000)
        #expect(queue.popFirst { _ in Self.yes }?.entry.subject == subject(0))
    }
}
