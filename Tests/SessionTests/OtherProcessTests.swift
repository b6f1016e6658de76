import Concurrency
import Model
import Synchronization
import Testing

@testable import Session

/// Wishes, activity and credentials that another process shares.
@Suite struct OtherProcessTests {
    private let gallery: GalleryID
    private let origin: SignInPlace

    init() throws {
        gallery = GalleryID(try Address("http://example.org/"))
        origin = .origin(try #require(Origin("http://example.org")))
    }

    private func thumbnail(_ key: Int64) -> Wish.Subject { .picture(gallery, PhotoKey(key), .thumbnail) }

    /// The wishes of a screen's process, their copy in a fetcher, and the messages of the fetcher.
    private struct Pair {
        let screens = Wishes()
        let copy: Wishes
        let fulfilled = Box<[(Wish.Subject, Int)]>([])
        let asked = Box<[Wish.Subject]>([])
        /// The states on their way to the copy.
        let sent = Box<WishState?>(nil)
        let relay: Relay<WishState>

        init() {
            copy = Wishes(
                of: WishOwner(
                    ask: { [asked] subject in asked.value.withLock { $0.append(subject) } },
                    fulfil: { [fulfilled] subject, number in fulfilled.value.withLock { $0.append((subject, number)) } }
                ))
            relay = screens.relay { [sent] state in
                sent.value.withLock { if $0 == nil { $0 = state } else { $0?.merge(state) } }
            }
        }

        func deliver() {
            let state = sent.value.withLock { state in
                defer { state = nil }
                return state
            }
            if let state { copy.adopt(state) }
        }
    }

    private final class Box<Value: Sendable>: Sendable {
        let value: Mutex<Value>

        init(_ first: sending Value) { value = Mutex(first) }
    }

    @Test func aCopyHasTheSameWishes() async throws {
        let pair = Pair()
        let wisher = pair.screens.makeWisher()
        pair.screens.state(
            [Wish(thumbnail(1), importance: .near), Wish(thumbnail(2), importance: .visible)], by: wisher)
        pair.screens.ask(for: .list(gallery))
        pair.screens.decline(thumbnail(2))
        pair.screens.pause()
        pair.deliver()
        let snapshot = try #require(await pair.copy.snapshots().next())
        let original = try #require(await pair.screens.snapshots().next())
        #expect(snapshot == original)
        #expect(snapshot.isPaused && snapshot.declined == [thumbnail(2)] && snapshot.wishes.count == 2)
    }

    @Test func retriesReachTheCopyOnce() async throws {
        let pair = Pair()
        pair.deliver()
        let snapshots = pair.copy.snapshots()
        _ = await snapshots.next()
        pair.screens.retry([thumbnail(1)])
        pair.screens.retry([thumbnail(2)])
        pair.deliver()
        #expect(await snapshots.next()?.retried == [thumbnail(1), thumbnail(2)])
        pair.screens.retryAll()
        pair.deliver()
        let all = try #require(await snapshots.next())
        #expect(all.areAllRetried && all.retried.isEmpty)
    }

    /// The other process states its wishes again before it hears that one is fulfilled.
    @Test func aFulfilledRequestDoesNotReturn() async throws {
        let pair = Pair()
        pair.screens.ask(for: .list(gallery))
        pair.deliver()
        pair.copy.fulfil(.list(gallery))
        pair.screens.ask(for: thumbnail(1))
        pair.deliver()
        #expect(await pair.copy.snapshots().next()?.wishes.map(\.subject) == [thumbnail(1)])
        let (subject, number) = try #require(pair.fulfilled.value.withLock { $0.first })
        pair.screens.fulfil(subject, number: number)
        #expect(!pair.screens.isStanding(.list(gallery)))
        // A new request is another one. The thumbnail's request took the number between.
        pair.screens.ask(for: .list(gallery))
        pair.deliver()
        #expect(await pair.copy.snapshots().next()?.asked[.list(gallery)] == number + 2)
    }

    @Test func aLateAnswerLeavesANewRequest() throws {
        let pair = Pair()
        pair.screens.ask(for: .list(gallery))
        pair.deliver()
        pair.copy.fulfil(.list(gallery))
        pair.screens.stop(.list(gallery))
        pair.screens.ask(for: .list(gallery))
        let (subject, number) = try #require(pair.fulfilled.value.withLock { $0.first })
        pair.screens.fulfil(subject, number: number)
        #expect(pair.screens.isStanding(.list(gallery)))
    }

    @Test func aCopyAsksItsOwner() {
        let pair = Pair()
        pair.copy.ask(for: .list(gallery))
        #expect(pair.asked.value.withLock { $0 } == [.list(gallery)] && !pair.copy.isStanding(.list(gallery)))
    }

    @Test("An update that waits for a retry is not cancelled if the user leaves the gallery, but the next one may be")
    func updateOfALeftGallery() {
        let (fetcher, screens) = (Activity(), Activity())
        let failure = Failure("the server cannot be reached", remedy: .time)
        let recorded = SyncStatus(state: .failed(failure))
        func follow(_ phase: SyncPhase) {
            fetcher.setPhase(phase, of: gallery)
            screens.adopt(fetcher.part(of: gallery), of: gallery)
            screens.leave(gallery)
            fetcher.endUpdate(of: gallery, cancelled: true)
            screens.adopt(fetcher.part(of: gallery), of: gallery)
        }
        follow(.waiting(failure, until: nil))
        #expect(screens.status(of: gallery, recorded: recorded).state == .failed(failure))
        follow(.committing)
        #expect(screens.status(of: gallery, recorded: recorded).state == .cancelled)
    }

    @Test func workReachesTheOtherActivityAndEndsThere() {
        let (fetcher, screens) = (Activity(), Activity())
        fetcher.setPhase(.parsing(entries: 5), of: gallery)
        fetcher.setReadingAlbums(true, of: gallery)
        screens.adopt(fetcher.part(of: gallery), of: gallery)
        let progress = Progress(done: 1, total: 2)
        screens.adopt(progress, nil, of: thumbnail(1))
        let status = SyncStatus(state: .notUpdated)
        #expect(screens.status(of: gallery, recorded: status).state == .updating(.parsing(entries: 5)))
        #expect(screens.isReadingAlbums(of: gallery) && screens.progress(of: thumbnail(1)) == progress)
        let changes = screens.changes()
        screens.endAllWork()
        #expect(!screens.isBusy && !screens.isReadingAlbums(of: gallery))
        #expect(changes.unfinished?.galleries == [gallery] && changes.unfinished?.pictures == [thumbnail(1)])
    }

    @Test func aFailureAndItsEndAreNamedInChanges() {
        let activity = Activity()
        let heard = Box<[Set<Wish.Subject>]>([])
        let relay = activity.relayChanges { change in heard.value.withLock { $0.append(change.failures) } }
        let time = Timestamp(milliseconds: 1)
        let failure = Failure("the disk is full", remedy: .none)
        activity.recordFailure(FailureReport(thumbnail(1), failure, attempts: 1, first: time, last: time))
        activity.removeFailure(of: thumbnail(2))
        activity.removeFailure(of: thumbnail(1))
        #expect(heard.value.withLock { $0 } == [[thumbnail(1)], [thumbnail(1)]])
        #expect(activity.failureReport(of: thumbnail(1)) == nil)
        withExtendedLifetime(relay) {}
    }

    @Test func enteredCredentialsAndRefusalsCross() async throws {
        let (screens, fetcher) = (CredentialStore(), CredentialStore())
        let password = SignIn.password(user: "me", password: "secret")
        screens.take(password, for: origin, by: [gallery])
        let taken = Box<EnteredCredentials?>(nil)
        let relay = screens.relayEntered { entered in taken.value.withLock { $0 = entered } }
        let entered = try #require(taken.value.withLock { $0 })
        for (place, entry) in entered.entries {
            fetcher.take(entry.signIn, for: place, by: entry.galleries)
        }
        let address = try Address("http://example.org/photo.jpg")
        #expect(fetcher.signIn(for: address, in: address) == password)
        let refusals = fetcher.relayRefusals { refused in screens.adopt(refused) }
        #expect(await !fetcher.hasOther(than: password, for: origin, in: address))
        #expect(screens.refusedUser(at: origin) == "me" && screens.signIn(for: address, in: address) == nil)
        withExtendedLifetime((relay, refusals)) {}
    }

    @Test("The screens forget each refused password, token and key, and no other")
    func eachRefusalCrosses() async throws {
        let (screens, fetcher) = (CredentialStore(), CredentialStore())
        let address = try Address("http://example.org/photo.jpg")
        let refusals = fetcher.relayRefusals { refused in screens.adopt(refused) }
        let (first, second) = (SignIn.password(user: "me", password: "a"), SignIn.password(user: "me", password: "b"))
        for signIn in [first, second, first, .token("t"), .header(name: "x-api-key", value: "k")] {
            for store in [screens, fetcher] { store.take(signIn, for: origin) }
            #expect(await !fetcher.hasOther(than: signIn, for: origin, in: address))
            #expect(screens.signIn(for: address, in: address) == nil)
        }
        // The user has entered another password when the refusal of the first one arrives.
        fetcher.take(first, for: origin)
        screens.take(second, for: origin)
        #expect(await !fetcher.hasOther(than: first, for: origin, in: address))
        #expect(screens.signIn(for: address, in: address) == second)
        // The fetcher makes access keys from the passwords of buckets.
        let key = AccessKey(id: "me", secret: "b", region: "eu-west-1")
        #expect(await !fetcher.hasOther(than: .accessKey(key), for: origin, in: address))
        #expect(screens.signIn(for: address, in: address) == nil && screens.refusedUser(at: origin) == "me")
        withExtendedLifetime(refusals) {}
    }

    @Test func aReleasedRelayHearsNothing() {
        let wishes = Wishes()
        let heard = Box(0)
        var relay: Relay<WishState>? = wishes.relay { _ in heard.value.withLock { $0 += 1 } }
        wishes.ask(for: .list(gallery))
        #expect(heard.value.withLock { $0 } == 2)
        relay = nil
        wishes.stop(.list(gallery))
        #expect(heard.value.withLock { $0 } == 2 && relay == nil)
    }
}
