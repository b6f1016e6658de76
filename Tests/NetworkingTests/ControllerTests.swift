import Model
import Scheduling
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

extension NetworkController {
    /// Returns when the controller has finished its current turn.
    func finishTurn() {}

    /// Whether no request is under way.
    var isIdle: Bool { operations.isEmpty }

    /// The number of the last attempt.
    var lastNumber: Int { operations.lastNumber }

    /// The waits for retries.
    var waiting: [Wish.Subject: RequestTable.Wait] {
        Dictionary(uniqueKeysWithValues: table.waiting.map { ($0.subject, $0.wait) })
    }

    /// The importance of each running request.
    var importances: [Importance] { operations.all.map(\.importance) }

    func isQueued(_ subject: Wish.Subject) -> Bool { table.state(of: subject) == .queued }
}

@Suite struct ControllerTests {
    private let test: NetworkTest

    init() throws { test = try NetworkTest() }

    /// Returns a function for a turn of a controller. Changes between two turns reach the controller as one snapshot.
    private func turns(of controller: NetworkController) -> () async throws -> Void {
        let snapshots = test.wishes.snapshots()
        return { await controller.take(try #require(await snapshots.next())) }
    }

    @Test("BEHAVIOURS 2.1: twenty quick refreshes are one request")
    func refreshes() async throws {
        let gate = Gate()
        test.put("/index.xml", [.hold(gate)] + .answer(200, "<album/>"))
        test.start()
        for _ in 0..<20 { test.wishes.ask(for: test.list) }
        try await test.until { try self.test.status.isRunning }
        for _ in 0..<20 { test.wishes.ask(for: test.list) }
        gate.open()
        try await test.until { !self.test.wishes.isStanding(self.test.list) }
        #expect(test.paths == ["/index.xml"])
        #expect(try test.status == SyncStatus(state: .updated, lastSuccess: Timestamp(milliseconds: 42_000)))
        #expect(!test.activity.isBusy)
    }

    @Test("BEHAVIOURS 2.3: stopping changes no row and shows the stop")
    func stops() async throws {
        test.putGallery(["a", "b"])
        test.start()
        try await test.refresh()
        let gate = Gate()
        defer { gate.open() }
        test.put("/index.xml", [.send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n<album>"), .hold(gate)])
        test.wishes.ask(for: test.list)
        try await test.until { try self.test.status.isRunning }
        test.wishes.stop(test.list)
        try await test.until { try !self.test.status.isRunning }
        #expect(try test.status.state == .cancelled)
        #expect(try test.status.lastSuccess != nil)
        #expect(try test.cache.read { try $0.gallery().photoCount } == 2)
        #expect(!test.activity.isBusy)
    }

    @Test("BEHAVIOURS 2.7: 304 is one request")
    func unchanged() async throws {
        test.putGallery(["a"], headers: ["ETag: \"1\"", "Last-Modified: Sun, 30 Jul 2006 07:47:17 GMT"])
        test.start()
        try await test.refresh()
        test.put("/index.xml", .answer(304, headers: ["ETag: \"1\""]))
        try await test.refresh()
        #expect(test.server.requests[1].headers["if-none-match"] == "\"1\"")
        #expect(test.server.requests[1].headers["if-modified-since"] == "Sun, 30 Jul 2006 07:47:17 GMT")
        #expect(try test.status.state == .updated && test.cache.read { try $0.gallery().photoCount } == 1)
        #expect(test.paths.count == 2)
    }

    @Test("BEHAVIOURS 3.1: a thumbnail is fetched once, when it is wished for")
    func thumbnailOnce() async throws {
        test.putGallery(["a", "b"])
        test.start()
        try await test.refresh()
        #expect(test.paths == ["/index.xml"])
        let wisher = test.wishes.makeWisher()
        let wish = Wish(try test.thumbnail("a"), importance: .visible)
        test.wishes.state([wish], by: wisher)
        try await test.until { try self.test.photo("a").thumbnail.isCurrent }
        test.wishes.withdraw(wisher)
        test.wishes.state([wish], by: wisher)
        try await test.refresh()
        #expect(test.paths == ["/index.xml", "/t/a", "/index.xml"])
    }

    @Test("BEHAVIOURS 6.6: another number of transfers applies to the waiting ones")
    func anotherGovernor() async throws {
        test.putGallery(["a", "b", "c"])
        let controller = test.start(width: 1)
        try await test.refresh()
        let gate = Gate()
        defer { gate.open() }
        for id in ["a", "b", "c"] { test.put("/t/\(id)", [.hold(gate)] + .answer(200, NetworkTest.picture(id))) }
        let wishes = try ["a", "b", "c"].map { Wish(try test.thumbnail($0), importance: .visible) }
        test.wishes.state(wishes, by: test.wishes.makeWisher())
        try await test.until { self.test.hasBegun("/t/a") }
        await controller.finishTurn()
        #expect(!test.hasBegun("/t/b"))
        await controller.use(FixedGovernor(width: 1), Disturbance())
        try await test.until { self.test.hasBegun("/t/b") }
        await controller.finishTurn()
        #expect(!test.hasBegun("/t/c"))
    }

    @Test("BEHAVIOURS 6.6: a controller ends its requests before it ends, and another controller repeats them")
    func successor() async throws {
        let gate = Gate()
        defer { gate.open() }
        test.put("/index.xml", [.hold(gate)] + .answer(200, "<album/>"))
        let controller = test.start()
        test.wishes.ask(for: test.list)
        try await test.until { self.test.hasBegun("/index.xml") }
        await test.stop()
        #expect(await controller.isIdle && test.wishes.isStanding(test.list))
        test.putGallery(["a"])
        test.start()
        try await test.until { !self.test.wishes.isStanding(self.test.list) }
        #expect(try test.status.state == .updated && test.cache.read { try $0.gallery().photoCount } == 1)
    }

    @Test("BEHAVIOURS 5.2: the most important is fetched first")
    func order() async throws {
        test.putGallery(["a", "b", "c", "d", "e"])
        test.start(width: 1)
        try await test.refresh()
        let gate = Gate()
        test.put("/t/a", [.hold(gate)] + .answer(200, NetworkTest.picture("a")))
        let wisher = test.wishes.makeWisher()
        test.wishes.state([Wish(try test.thumbnail("a"), importance: .rest)], by: wisher)
        try await test.until { self.test.hasBegun("/t/a") }
        let wishes: [Wish] = try [
            Wish(test.thumbnail("a"), importance: .rest), Wish(test.thumbnail("b"), importance: .near),
            Wish(test.thumbnail("c"), importance: .visible), Wish(test.thumbnail("d"), importance: .rest),
            Wish(test.thumbnail("e"), importance: .visible),
        ]
        test.wishes.state(wishes, by: wisher)
        gate.open()
        try await test.until { try "abcde".allSatisfy { try self.test.photo(String($0)).thumbnail.isCurrent } }
        #expect(test.paths == ["/index.xml", "/t/a", "/t/c", "/t/e", "/t/b", "/t/d"])
    }

    @Test("BEHAVIOURS 5.2: a thumbnail that comes into view is fetched before the next photo of an export")
    func orderBesideAnExport() async throws {
        test.putGallery(["a", "b", "c", "d"])
        let controller = test.start(width: 1)
        try await test.refresh()
        let gate = Gate()
        test.put("/p/a", [.hold(gate)] + .answer(200, NetworkTest.picture("photo a")))
        let photos = try ["a", "b", "c"].map { try test.full($0) }
        test.wishes.ask(for: photos, importance: .near)
        try await test.until { self.test.hasBegun("/p/a") }
        let thumbnail = try test.thumbnail("d")
        test.wishes.state([Wish(thumbnail, importance: .visible)], by: test.wishes.makeWisher())
        while await !controller.isQueued(thumbnail) { await Task.yield() }
        gate.open()
        try await test.until { !photos.contains { self.test.wishes.isStanding($0) } }
        #expect(test.paths == ["/index.xml", "/p/a", "/t/d", "/p/b", "/p/c"])
    }

    @Test func wishesForTheSameSubjectJoin() async throws {
        test.putGallery(["a"], thumbnails: false)
        test.start()
        try await test.refresh()
        // The photo, and a thumbnail to be made from it: one request.
        let (one, other) = (test.wishes.makeWisher(), test.wishes.makeWisher())
        test.wishes.state([Wish(try test.full("a"), importance: .lookedAt)], by: one)
        test.wishes.state([Wish(try test.thumbnail("a"), importance: .visible)], by: other)
        try await test.until { try self.test.photo("a").original.isCurrent }
        try await test.refresh()
        #expect(test.paths.filter { $0 == "/p/a" }.count == 1)
    }

    /// Fetches a list with a photo that has no thumbnail. Returns a function for further turns of the controller.
    private func turnsAfterList(
        of controller: NetworkController, photoWaitsFor gate: Gate
    ) async throws -> () async throws -> Void {
        test.putGallery(["a"], thumbnails: false)
        test.put("/p/a", [.hold(gate)] + .answer(200, NetworkTest.picture("photo a")))
        let turn = turns(of: controller)
        test.wishes.ask(for: test.list)
        try await turn()
        try await test.until { !self.test.wishes.isStanding(self.test.list) }
        return turn
    }

    @Test(
        "Opening a photo continues the transfer that its missing thumbnail started, and back", arguments: [false, true])
    func photoAfterThumbnail(isPhotoFirst: Bool) async throws {
        let (gate, wisher) = (Gate(), test.wishes.makeWisher())
        let controller = test.makeController(width: 1)
        let turn = try await turnsAfterList(of: controller, photoWaitsFor: gate)
        let subjects = try [test.thumbnail("a"), test.full("a")]
        for subject in isPhotoFirst ? subjects.reversed() : subjects {
            test.wishes.state([Wish(subject, importance: .visible)], by: wisher)
            try await turn()
            try await test.until { self.test.hasBegun("/p/a") }
        }
        gate.open()
        try await test.until { try self.test.photo("a").original.isCurrent && !self.test.activity.isBusy }
        #expect(test.paths == ["/index.xml", "/p/a"] && test.cancellations == 0)
    }

    @Test("A photo that is looked at is as important at once, although it is fetched for its thumbnail")
    func importanceOfASharedTransfer() async throws {
        let (gate, wisher) = (Gate(), test.wishes.makeWisher())
        let controller = test.makeController(width: 1)
        let turn = try await turnsAfterList(of: controller, photoWaitsFor: gate)
        let thumbnail = Wish(try test.thumbnail("a"), importance: .visible)
        test.wishes.state([thumbnail], by: wisher)
        try await turn()
        test.wishes.state([thumbnail, Wish(try test.full("a"), importance: .lookedAt)], by: wisher)
        try await turn()
        #expect(await controller.importances == [.lookedAt])
        test.wishes.state([thumbnail], by: wisher)
        try await turn()
        #expect(await controller.importances == [.visible])
        gate.open()
        try await test.until { try self.test.photo("a").original.isCurrent && !self.test.activity.isBusy }
        #expect(test.paths == ["/index.xml", "/p/a"] && test.cancellations == 0)
    }

    @Test("BEHAVIOURS 5.7: an unwanted transfer is cancelled silently")
    func withdrawn() async throws {
        test.putGallery(["a", "b"])
        test.start(width: 1)
        try await test.refresh()
        let gate = Gate()
        defer { gate.open() }
        test.put("/t/a", [.send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"), .hold(gate)])
        let wisher = test.wishes.makeWisher()
        test.wishes.state([Wish(try test.thumbnail("a"), importance: .visible)], by: wisher)
        // The only slot is free again after the first transfer has ended.
        test.wishes.state([Wish(try test.thumbnail("b"), importance: .visible)], by: wisher)
        try await test.until { try self.test.photo("b").thumbnail.isCurrent }
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 1))
        #expect(!test.activity.isBusy)
    }

    @Test("BEHAVIOURS 2.6: a change during a transfer cancels it and fetches the new picture")
    func changedMeanwhile() async throws {
        test.putGallery(["a"])
        test.start()
        try await test.refresh()
        let gate = Gate()
        defer { gate.open() }
        test.put("/t/a", [.hold(gate)] + .answer(200, NetworkTest.picture("stale")))
        let wisher = test.wishes.makeWisher()
        test.wishes.state([Wish(try test.thumbnail("a"), importance: .visible)], by: wisher)
        try await test.until { self.test.hasBegun("/t/a") }
        test.putGallery(["a"], date: 2007)
        try await test.refresh()
        try await test.until { try self.test.photo("a").thumbnail.isCurrent }
        let bytes = try test.cache.read { try $0.thumbnail(of: test.key("a")) }?.bytes
        #expect(bytes == NetworkTest.picture("thumbnail a"))
    }

    @Test func aPhotoRemovedMeanwhileIsNotStored() async throws {
        test.putGallery(["a", "b"])
        test.start()
        try await test.refresh()
        let gate = Gate()
        defer { gate.open() }
        test.put("/p/a", [.send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"), .hold(gate)])
        let wisher = test.wishes.makeWisher()
        let subject = try test.full("a")
        test.wishes.state([Wish(subject, importance: .lookedAt)], by: wisher)
        try await test.until { self.test.activity.progress(of: subject) != nil }
        test.putGallery(["b"])
        try await test.refresh()
        try await test.until { !self.test.activity.isBusy }
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/partial").isEmpty)
    }

    @Test func progressIsShown() async throws {
        test.putGallery(["a"])
        test.start()
        try await test.refresh()
        let gate = Gate()
        test.put(
            "/p/a",
            [
                .send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"),
                .send(NetworkTest.picture("0123456")), .hold(gate), .send("890123456"),
            ])
        let wisher = test.wishes.makeWisher()
        let subject = try test.full("a")
        test.wishes.state([Wish(subject, importance: .lookedAt)], by: wisher)
        try await test.until { self.test.activity.progress(of: subject) == Progress(done: 11, total: 20) }
        gate.open()
        try await test.until { try self.test.photo("a").original.isCurrent && !self.test.activity.isBusy }
    }

    @Test func aRequestRightAfterTheEndIsFulfilled() async throws {
        test.putGallery(["a"])
        let controller = test.makeController()
        let turn = turns(of: controller)
        test.wishes.ask(for: test.list)
        try await turn()
        try await test.until { !self.test.wishes.isStanding(self.test.list) }
        test.wishes.ask(for: test.list)
        try await turn()
        try await test.until { !self.test.wishes.isStanding(self.test.list) }
        #expect(test.paths == ["/index.xml", "/index.xml"])
    }

    @Test func nothingStartsAfterTheEnd() async throws {
        test.putGallery(["a", "b"])
        let controller = test.start(width: 2)
        try await test.refresh()
        let gate = Gate()
        defer { gate.open() }
        for path in ["/t/a", "/index.xml"] { test.put(path, [.hold(gate)]) }
        let wisher = test.wishes.makeWisher()
        let thumbnails = try ["a", "b"].map { Wish(try test.thumbnail($0), importance: .visible) }
        test.wishes.state([thumbnails[0]], by: wisher)
        try await test.until { self.test.hasBegun("/t/a") }
        test.wishes.ask(for: test.list)
        try await test.until { try self.test.status.isRunning }
        // Both slots are taken.
        test.wishes.state(thumbnails, by: wisher)
        await test.stop()
        try await test.until { try self.test.status.state == .cancelled && self.test.cancellations == 2 }
        await controller.finishTurn()
        #expect(!test.activity.isBusy && !test.hasBegun("/t/b"))
        #expect(test.beginnings(of: "/index.xml") == 2)
    }

    @Test func postponedRequestsDelayNoOthers() async throws {
        let (broken, whole) = ((0..<100).map { "b\($0)" }, (100..<150).map { "w\($0)" })
        test.putGallery(broken + whole)
        for id in broken { test.put("/t/\(id)", .answer(500)) }
        test.start()
        try await test.refresh()
        let sweep = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: sweep, importance: .rest)
        let keys = try whole.map { try test.key($0) }
        try await test.until {
            try self.test.cache.read { cache in
                try keys.allSatisfy { try cache.photo($0)?.thumbnail.isCurrent == true }
            }
        }
        // The server works again, and all retries are due at once.
        test.putGallery(broken + whole)
        try await test.until { self.test.log.entries.count { $0.message.hasSuffix("will retry") } == 100 }
        await test.clock.advanceToNextAlarm()
        try await test.until { !self.test.wishes.isStanding(sweep) }
        #expect(try test.cache.read { try $0.wanting(.thumbnail, limit: 1_000, except: []) }.isEmpty)
    }

    @Test func everyPictureOfAGallery() async throws {
        let ids = (0..<200).map { "n\($0)" }
        test.putGallery(ids)
        test.put("/t/n7", .answer(404))
        test.start()
        let sweep = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        // Requested before the list has come: the bulk fetch waits for it.
        test.wishes.ask(for: test.list)
        test.wishes.ask(for: sweep, importance: .rest)
        try await test.until { !self.test.wishes.isStanding(sweep) }
        let wanting = try test.cache.read { try $0.wanting(.thumbnail, limit: 1_000, except: []) }
        #expect(wanting.isEmpty)
        #expect(try test.photo("n7").thumbnail.held == nil)
        #expect(test.paths.count == 201)
        #expect(Set(test.paths).count == 201)
    }
}
