import Model
import Concurrency
import Synchronization
import Testing

@testable import Session

@Suite struct WishesTests {
    private let gallery: GalleryID
    private let wishes = Wishes()

    init() throws { gallery = GalleryID(try Address("http://example.org/")) }

    private func thumbnail(_ key: Int64) -> Wish.Subject { .picture(gallery, PhotoKey(key), .thumbnail) }

    private func heard(_ snapshots: CoalescingStream<Wishes.Snapshot>) async -> [Wish]? {
        await snapshots.next()?.wishes
    }

    @Test func theHighestImportanceCounts() async {
        let (list, photo) = (wishes.makeWisher(), wishes.makeWisher())
        wishes.state([Wish(thumbnail(1), importance: .near), Wish(thumbnail(2), importance: .visible)], by: list)
        wishes.state([Wish(thumbnail(1), importance: .lookedAt)], by: photo)
        let snapshots = wishes.snapshots()
        #expect(
            await heard(snapshots) == [
                Wish(thumbnail(1), importance: .lookedAt), Wish(thumbnail(2), importance: .visible),
            ])
        wishes.withdraw(photo)
        #expect(
            await heard(snapshots) == [Wish(thumbnail(1), importance: .near), Wish(thumbnail(2), importance: .visible)])
        wishes.state([Wish(thumbnail(3), importance: .rest)], by: list)
        #expect(await heard(snapshots) == [Wish(thumbnail(3), importance: .rest)])
    }

    @Test("BEHAVIOURS 2.1: a held r is one wish")
    func askedTwentyTimes() async {
        let snapshots = wishes.snapshots()
        _ = await snapshots.next()
        for _ in 0..<20 { wishes.ask(for: .list(gallery)) }
        #expect(await heard(snapshots) == [Wish(.list(gallery), importance: .list)])
        #expect(wishes.isStanding(.list(gallery)))
        wishes.fulfil(.list(gallery))
        #expect(await heard(snapshots) == [])
        #expect(!wishes.isStanding(.list(gallery)))
    }

    @Test func askingAgainAfterTheEndIsANewWish() async throws {
        let snapshots = wishes.snapshots()
        wishes.ask(for: .list(gallery))
        let first = try #require(await snapshots.next())
        wishes.ask(for: .list(gallery))
        let second = try #require(await snapshots.next())
        #expect(second.asked == first.asked && second.retried == [.list(gallery)])
        wishes.fulfil(.list(gallery))
        wishes.ask(for: .list(gallery))
        let third = try #require(await snapshots.next())
        #expect(third.wishes == first.wishes && third.asked != first.asked && third.retried == [])
        #expect(Set(third.asked.keys) == [.list(gallery)])
    }

    @Test func restatingTheSameWishesSendsNothing() async {
        let wisher = wishes.makeWisher()
        wishes.state([Wish(thumbnail(1), importance: .visible)], by: wisher)
        let snapshots = wishes.snapshots()
        _ = await snapshots.next()
        wishes.state([Wish(thumbnail(1), importance: .visible)], by: wisher)
        wishes.ask(for: .list(gallery))
        // The next snapshot comes from the request, not from the unchanged wishes, and holds both.
        #expect(await heard(snapshots)?.count == 2)
    }

    @Test("Requests for many subjects are one step, and only those that stand are retried")
    func asksForManyInOneStep() async throws {
        let calls = Mutex(0)
        let relay = wishes.relay { _ in calls.withLock { $0 += 1 } }
        let (subjects, other) = ((1...20_000).map { thumbnail($0) }, thumbnail(20_001))
        wishes.ask(for: subjects, importance: .visible)
        // The first call has told the wishes before the requests.
        #expect(calls.withLock { $0 } == 2)
        let first = try #require(await wishes.snapshots().next())
        #expect(
            first.wishes == subjects.map { Wish($0, importance: .visible) } && Set(first.asked.values).count == 20_000)
        let snapshots = wishes.snapshots()
        _ = await snapshots.next()
        wishes.ask(for: [subjects[5], other], importance: .visible)
        wishes.ask(for: [], importance: .visible)
        let second = try #require(await snapshots.next())
        #expect(second.retried == [subjects[5]] && second.asked.count == 20_001)
        #expect(first.asked.allSatisfy { second.asked[$0.key] == $0.value })
        #expect(calls.withLock { $0 } == 3)
        withExtendedLifetime(relay) {}
    }

    // MARK: - User decisions

    @Test func aPauseKeepsTheWishes() async throws {
        let snapshots = wishes.snapshots()
        #expect(await snapshots.next()?.isPaused == false)
        wishes.ask(for: .list(gallery))
        wishes.pause()
        let paused = try #require(await snapshots.next())
        #expect(paused.isPaused && paused.wishes == [Wish(.list(gallery), importance: .list)] && wishes.isPaused)
        // Pausing twice changes nothing.
        wishes.pause()
        wishes.resume()
        #expect(await snapshots.next()?.isPaused == false)
        #expect(!wishes.isPaused)
    }

    @Test func aDeclinedSubjectIsInNoSnapshot() async throws {
        let (list, photo) = (wishes.makeWisher(), wishes.makeWisher())
        wishes.state([Wish(thumbnail(1), importance: .near), Wish(thumbnail(2), importance: .visible)], by: list)
        wishes.state([Wish(thumbnail(1), importance: .visible)], by: photo)
        wishes.decline(thumbnail(1))
        let snapshots = wishes.snapshots()
        let snapshot = try #require(await snapshots.next())
        #expect(snapshot.wishes == [Wish(thumbnail(2), importance: .visible)] && snapshot.declined == [thumbnail(1)])
        // The decline lasts while lists scroll and while one of the two still states the subject.
        wishes.state([Wish(thumbnail(1), importance: .visible), Wish(thumbnail(3), importance: .near)], by: list)
        wishes.withdraw(photo)
        let later = try #require(await snapshots.next())
        #expect(later.wishes == [Wish(thumbnail(3), importance: .near)] && later.declined == [thumbnail(1)])
        // The decline ends when no one states the subject any more.
        wishes.withdraw(list)
        wishes.state([Wish(thumbnail(1), importance: .near)], by: list)
        #expect(await heard(snapshots) == [Wish(thumbnail(1), importance: .near)])
    }

    @Test func higherImportanceEndsADecline() async {
        let list = wishes.makeWisher()
        wishes.state([Wish(thumbnail(1), importance: .near)], by: list)
        wishes.decline(thumbnail(1))
        #expect(await wishes.snapshots().next()?.wishes == [])
        wishes.state([Wish(thumbnail(1), importance: .visible)], by: list)
        #expect(await wishes.snapshots().next()?.wishes == [Wish(thumbnail(1), importance: .visible)])
    }

    @Test func aPictureOfABulkFetchCanBeDeclined() async {
        wishes.ask(for: .everyPicture(gallery, .thumbnail), importance: .rest)
        wishes.decline(thumbnail(7))
        let snapshot = await wishes.snapshots().next()
        #expect(snapshot?.declined == [thumbnail(7)] && snapshot?.wishes.count == 1)
    }

    @Test("BEHAVIOURS 2.3: a declined update is stopped until the next request for it")
    func whatWasAskedForAndDeclined() async throws {
        wishes.ask(for: .list(gallery))
        wishes.decline(.list(gallery))
        #expect(!wishes.isStanding(.list(gallery)))
        let snapshots = wishes.snapshots()
        #expect(await heard(snapshots) == [])
        wishes.ask(for: .list(gallery))
        let anew = try #require(await snapshots.next())
        #expect(anew.wishes.count == 1 && anew.declined.isEmpty && anew.retried.isEmpty)
    }

    @Test func askingAndRefreshingEndADecline() async {
        let list = wishes.makeWisher()
        let both = [Wish(thumbnail(1), importance: .visible), Wish(thumbnail(2), importance: .visible)]
        wishes.state(both, by: list)
        wishes.decline(thumbnail(1))
        wishes.ask(for: thumbnail(1), importance: .rest)
        #expect(await wishes.snapshots().next()?.declined == [])
        wishes.fulfil(thumbnail(1))
        wishes.decline(thumbnail(2))
        wishes.retry(GalleryID(Address(filePath: "/another")))
        #expect(await wishes.snapshots().next()?.wishes == [both[0]])
        wishes.retry(gallery)
        #expect(await wishes.snapshots().next()?.wishes == both)
    }

    @Test func aRetryIsSentOnce() async throws {
        let list = wishes.makeWisher()
        wishes.state([Wish(thumbnail(1), importance: .visible), Wish(thumbnail(2), importance: .visible)], by: list)
        wishes.decline(thumbnail(2))
        let snapshots = wishes.snapshots()
        _ = await snapshots.next()
        wishes.retry([thumbnail(1), thumbnail(2)])
        wishes.state([Wish(thumbnail(1), importance: .visible), Wish(thumbnail(2), importance: .near)], by: list)
        let hurried = try #require(await snapshots.next())
        #expect(hurried.retried == [thumbnail(1), thumbnail(2)] && !hurried.areAllRetried)
        #expect(hurried.declined.isEmpty && hurried.wishes.count == 2)
        wishes.retryAll()
        wishes.pause()
        #expect(await snapshots.next()?.areAllRetried == true)
        wishes.resume()
        let later = await snapshots.next()
        #expect(later?.areAllRetried == false && later?.retried.isEmpty == true)
    }

    @Test func theActivityHoldsPhasesAndProgress() async throws {
        let activity = Activity()
        let changes = activity.changes()
        activity.setPhase(.getting(Progress(done: 10, total: 100)), of: gallery)
        activity.setPhase(.parsing(entries: 3), of: gallery)
        activity.setProgress(Progress(done: 1), of: thumbnail(1))
        let change = await changes.next()
        #expect(change?.galleries == [gallery] && change?.pictures == [thumbnail(1)])
        let recorded = SyncStatus(state: .updated, lastSuccess: Timestamp(milliseconds: 5))
        #expect(activity.status(of: gallery, recorded: recorded).state == .updating(.parsing(entries: 3)))
        #expect(activity.status(of: gallery, recorded: recorded).lastSuccess == Timestamp(milliseconds: 5))
        activity.endUpdate(of: gallery, cancelled: true)
        activity.setProgress(nil, of: thumbnail(1))
        #expect(activity.status(of: gallery, recorded: recorded).state == .cancelled)
        #expect(!activity.isBusy)
        activity.setPhase(.committing, of: gallery)
        activity.endUpdate(of: gallery)
        #expect(activity.status(of: gallery, recorded: recorded).state == .updated)
    }

    @Test func noticesAreReturnedOnce() {
        let activity = Activity()
        for number in 0..<100 { activity.postNotice("\(number)") }
        #expect(activity.takeNotices().count == 20)
        #expect(activity.takeNotices().isEmpty)
    }

    /// Listeners see both go at once. Otherwise the first to go would make room for the rest.
    @Test func withdrawingAndStoppingIsOneStep() throws {
        let wishes = Wishes()
        let gallery = GalleryID(try Address("http://example.org/"))
        let (wisher, other) = (wishes.makeWisher(), wishes.makeWisher())
        let picture = Wish(.picture(gallery, PhotoKey(1), .thumbnail), importance: .visible)
        wishes.state([picture], by: wisher)
        wishes.ask(for: .list(gallery))
        wishes.ask(for: .everyPicture(gallery, .original))
        wishes.withdraw(wisher, stopping: [.list(gallery), .everyPicture(gallery, .thumbnail)])
        #expect(wishes.snapshots().unfinished?.wishes.map(\.subject) == [.everyPicture(gallery, .original)])
        wishes.withdraw(other, stopping: [.everyPicture(gallery, .original)])
        #expect(wishes.snapshots().unfinished?.wishes.isEmpty == true)
    }
}
