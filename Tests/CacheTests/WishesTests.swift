import Model
import Streams
import Testing

@testable import Cache

@Suite struct WishesTests {
    private let gallery: GalleryID
    private let wishes = Wishes()

    init() throws { gallery = GalleryID(try Address("http://example.org/")) }

    private func thumbnail(_ key: Int64) -> Wish.Subject { .picture(gallery, PhotoKey(key), .thumbnail) }

    private func heard(_ snapshots: CoalescingStream<Wishes.Snapshot>) async -> [Wish]? {
        await snapshots.next()?.wishes
    }

    @Test func mostImportantWisherCounts() async {
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

    @Test func askingAnewIsAnotherWish() async throws {
        let snapshots = wishes.snapshots()
        wishes.ask(for: .list(gallery))
        let first = try #require(await snapshots.next())
        wishes.ask(for: .list(gallery))
        let second = try #require(await snapshots.next())
        #expect(second.asked == first.asked && second.renewed == [.list(gallery)])
        wishes.fulfil(.list(gallery))
        wishes.ask(for: .list(gallery))
        let third = try #require(await snapshots.next())
        #expect(third.wishes == first.wishes && third.asked != first.asked && third.renewed == [])
        #expect(Set(third.asked.keys) == [.list(gallery)])
    }

    @Test func restatingTheSameTellsNobody() async {
        let wisher = wishes.makeWisher()
        wishes.state([Wish(thumbnail(1), importance: .visible)], by: wisher)
        let snapshots = wishes.snapshots()
        _ = await snapshots.next()
        wishes.state([Wish(thumbnail(1), importance: .visible)], by: wisher)
        wishes.ask(for: .list(gallery))
        // The next thing heard is the asking, not the restating: it holds both.
        #expect(await heard(snapshots)?.count == 2)
    }

    @Test func activityIsData() async throws {
        let activity = Activity()
        let changes = activity.changes()
        activity.note(.getting(Progress(done: 10, total: 100)), of: gallery)
        activity.note(.parsing(entries: 3), of: gallery)
        activity.note(Progress(done: 1), of: thumbnail(1))
        let change = await changes.next()
        #expect(change?.galleries == [gallery] && change?.pictures == [thumbnail(1)])
        let record = GalleryRecord(
            address: try Address("http://example.org/"), photoCount: 0, skipped: 0,
            lastSuccess: Timestamp(milliseconds: 5), failure: nil, lastOpened: nil, validators: Validators(),
            listVersion: 0, isKept: false)
        #expect(activity.status(of: gallery, record: record).state == .updating(.parsing(entries: 3)))
        #expect(activity.status(of: gallery, record: record).lastSuccess == Timestamp(milliseconds: 5))
        activity.noteEnd(of: gallery, cancelled: true)
        activity.note(nil, of: thumbnail(1))
        #expect(activity.status(of: gallery, record: record).state == .cancelled)
        #expect(!activity.isBusy)
        activity.note(.committing, of: gallery)
        activity.noteEnd(of: gallery)
        #expect(activity.status(of: gallery, record: record).state == .updated)
    }

    @Test func noticesAreReadOnce() {
        let activity = Activity()
        for number in 0..<100 { activity.note(notice: "\(number)") }
        #expect(activity.takeNotices().count == 20)
        #expect(activity.takeNotices().isEmpty)
    }
}
