import Cache
import Session
import Foundation
import HTTP
import Logging
import Model
import Synchronization
import TestSupport
import Testing

@testable import Networking

/// Two servers that ask for credentials: the gallery's, and one with some of its pictures.
@Suite(.unlessItHangs) struct SignInTests {
    private let folder = TestFolder()
    private let log = Log(level: .debug)
    private let activity = Activity()
    private let wishes = Wishes()
    private let server: ScriptedServer
    private let other: ScriptedServer
    private let client: HTTPClient

    private static func closed(
        _ user: String, _ steps: @escaping @Sendable (ScriptedServer.Request) -> [ScriptedServer.Step]
    ) throws -> ScriptedServer {
        let expected = "Basic " + Data(user.utf8).base64EncodedString()
        return try ScriptedServer { request in
            request.headers["authorization"] == expected
                ? steps(request) : .answer(401, headers: ["WWW-Authenticate: Basic realm=\"photos\""])
        }
    }

    init() throws {
        let other = try Self.closed("you:0ther") { _ in .answer(200, NetworkTest.picture("elsewhere")) }
        let photos = (1...20).map { number in
            """
            <photo id="\(number)" name="P" date="2006-07-30T07:47:17Z"><image kind="image" srcURL="p/\(number)"/>
            <image kind="thumbnail" srcURL="\(other.url("/t/\(number)"))"/></photo>
            """
        }
        server = try Self.closed("me:s3cret") { request in
            request.path == "/index.xml"
                ? .answer(200, "<album>\(photos.joined())</album>") : .answer(200, NetworkTest.picture("photo"))
        }
        self.other = other
        client = HTTPClient(log: log)
    }

    private func open(_ credentials: CredentialStore) throws -> (CacheFolder, GalleryCache) {
        let caches = try CacheFolder(
            path: folder.path("cache"), log: log, activity: activity, credentials: credentials)
        return (caches, try caches.open(Address(server.url("/index.xml"))))
    }

    /// Runs a controller meanwhile.
    private func working(
        _ caches: CacheFolder, over client: HTTPClient? = nil, _ body: () async throws -> Void
    ) async throws {
        let controller = NetworkController(
            wishes: wishes, context: RequestContext(caches: caches, activity: activity, log: log),
            client: client ?? self.client, schedule: .inQuickSuccession)
        let running = Task { await controller.run() }
        try await body()
        running.cancel()
        await running.value
    }

    /// Asks for a subject and waits until nothing is left to do.
    private func fetch(_ subject: Wish.Subject) async {
        wishes.ask(for: subject)
        for await snapshot in wishes.snapshots() where snapshot.wishes.isEmpty { return }
    }

    @Test("BEHAVIOURS 5.10: Vitrine asks once per origin, and sends the answer nowhere else")
    func oneQuestionAnOrigin() async throws {
        let credentials = CredentialStore()
        let (caches, cache) = try open(credentials)
        let own = try #require(cache.address.origin)
        let foreign = try #require(try Address(other.url("/")).origin)
        try await working(caches) { () async throws in
            await fetch(.list(cache.id))
            #expect(
                activity.questions == [
                    SignInQuestion(origin: own, schemes: ["basic"], realm: "photos", galleries: [cache.id])
                ])
            activity.withdrawQuestion(.origin(own))
            credentials.take(.password(user: "me", password: "s3cret"), for: .origin(own), by: [cache.id])
            await fetch(.list(cache.id))
            #expect(try cache.read { try $0.gallery() }.photoCount == 20)
            // The user is not asked about pictures on other servers, and they do not get the gallery's password.
            await fetch(.everyPicture(cache.id, .thumbnail))
            #expect(activity.questions.isEmpty)
            #expect(other.requests.count == 20 && other.requests.allSatisfy { $0.headers["authorization"] == nil })
            let key = try #require(try cache.read { try $0.photo(galleryID: "7") }).key
            let trouble = try cache.read { try $0.photo(key) }?.thumbnail.trouble
            #expect(
                trouble
                    == .bad(
                        Failure(
                            "a password is needed for 127.0.0.1:\(other.port); open the photo to enter it",
                            remedy: .none)))
            // The user opens one of them.
            try await cache.writer.retry([key])
            wishes.ask(for: .picture(cache.id, key, .thumbnail), importance: .lookedAt)
            for await snapshot in wishes.snapshots() where snapshot.wishes.isEmpty { break }
            #expect(activity.questions.map(\.origin) == [foreign])
            #expect(activity.questions.map(\.galleries) == [[cache.id]])
            #expect(try cache.read { try $0.photo(key) }?.thumbnail.trouble?.failure.isAskedOnOpening == false)
            // The answer is for the refused server.
            credentials.take(.password(user: "you", password: "0ther"), for: .origin(foreign), by: [cache.id])
            try await cache.writer.retry()
            await fetch(.everyPicture(cache.id, .thumbnail))
            var lacking: [Photo] = []
            try cache.read { try $0.forEachPhoto { if !$0.thumbnail.isCurrent { lacking.append($0) } } }
            #expect(lacking.isEmpty, "\(other.requests.count) requests; \(log.entries.suffix(80).map(\.message))")
        }
        let words = log.entries.map(\.message).joined()
        #expect(!words.contains("s3cret") && !words.contains("0ther") && words.contains("a password is needed for"))
    }

    /// A proxy to a gallery on one host with pictures on another. It needs a password.
    private static func proxy(_ password: String) throws -> ScriptedServer {
        let expected = "Basic " + Data("me:\(password)".utf8).base64EncodedString()
        let photos = (1...20).map { number in
            """
            <photo id="\(number)" name="P" date="2006-07-30T07:47:17Z"><image kind="image" srcURL="p/\(number)"/>
            <image kind="thumbnail" srcURL="http://pictures.test/t/\(number)"/></photo>
            """
        }
        return try ScriptedServer { request in
            guard request.headers["proxy-authorization"] == expected else {
                return .answer(407, headers: ["Proxy-Authenticate: Basic realm=\"way out\""])
            }
            return request.path.hasSuffix("/index.xml")
                ? .answer(200, "<album>\(photos.joined())</album>") : .answer(200, NetworkTest.picture("photo"))
        }
    }

    @Test("BEHAVIOURS 5.10: a proxy asks one question for everything that goes through it")
    func aProxyAsks() async throws {
        let proxy = try Self.proxy("0ut")
        let place = "http://127.0.0.1:\(proxy.port)"
        let credentials = CredentialStore()
        let configuration = HTTPConfiguration(
            proxies: ProxyChoice { $0 == "http_proxy" ? "me:of-last-year@127.0.0.1:\(proxy.port)" : nil },
            proxyCredentials: ProxyCredentials(credentials), connectTimeout: 600, stallTimeout: 600)
        let caches = try CacheFolder(
            path: folder.path("cache"), log: log, activity: activity, credentials: credentials)
        let cache = try caches.open(Address("http://photos.test/index.xml"))
        let own = try #require(cache.address.origin)
        func say(_ password: String) {
            credentials.take(.password(user: "me", password: password), for: .proxy(place), by: [cache.id])
            activity.withdrawQuestion(.proxy(place))
        }
        try await working(caches, over: HTTPClient(configuration, log: log)) { () async throws in
            // The password in its address and then an answer are refused.
            for password in ["wrong", "0ut"] {
                await fetch(.list(cache.id))
                #expect(
                    activity.questions == [
                        SignInQuestion(
                            origin: own, proxy: place, schemes: ["basic"], realm: "way out", wasRefused: true,
                            galleries: [cache.id])
                    ])
                #expect(credentials.signIn(forProxy: place) == nil)
                let state = try cache.read { try $0.gallery() }.status.state
                #expect(state == .failed(Failure("the proxy \(place) refuses the password", remedy: .none)))
                say(password)
            }
            await fetch(.list(cache.id))
            await fetch(.everyPicture(cache.id, .thumbnail))
            #expect(try cache.read { try $0.counts() }.thumbnails == 20)
            // Twenty refused pictures are one question.
            say("of yesterday")
            await fetch(.everyPicture(cache.id, .original))
            #expect(activity.questions.map(\.place) == [.proxy(place)])
            say("0ut")
            try await cache.writer.retry()
            await fetch(.everyPicture(cache.id, .original))
            #expect(try cache.read { try $0.counts() }.photos == 20)
        }
        #expect(activity.questions.isEmpty && proxy.requests.allSatisfy { $0.headers["authorization"] == nil })
        #expect(cache.signIn(for: cache.address) == nil)
        let words = log.entries.map(\.message).joined()
        for secret in ["0ut", "of-last-year", "of yesterday", "wrong"] { #expect(!words.contains(secret)) }
    }

    @Test("BEHAVIOURS 5.10: a stored proxy password is looked up when the proxy asks")
    func keptForAProxy() async throws {
        let proxy = try Self.proxy("s3cret")
        let kept = Kept(.password(user: "me", password: "s3cret"))
        let credentials = CredentialStore(keeping: kept.keeping)
        let configuration = HTTPConfiguration(
            proxies: ProxyChoice { $0 == "http_proxy" ? "127.0.0.1:\(proxy.port)" : nil },
            proxyCredentials: ProxyCredentials(credentials), connectTimeout: 600, stallTimeout: 600)
        let caches = try CacheFolder(
            path: folder.path("cache"), log: log, activity: activity, credentials: credentials)
        let cache = try caches.open(Address("http://photos.test/index.xml"))
        try await working(caches, over: HTTPClient(configuration, log: log)) { () async throws in
            await fetch(.list(cache.id))
            #expect(activity.questions.isEmpty && activity.takeAnswered() == [cache.id])
            await fetch(.list(cache.id))
            #expect(try cache.read { try $0.gallery() }.photoCount == 20)
        }
        #expect(kept.looked.withLock { $0 } == [.proxy("http://127.0.0.1:\(proxy.port)")])
    }

    @Test("BEHAVIOURS 5.10: after a refused password Vitrine asks again and does not retry it")
    func refused() async throws {
        let credentials = CredentialStore()
        let (caches, cache) = try open(credentials)
        let own = try #require(cache.address.origin)
        credentials.take(.password(user: "me", password: "wrong"), for: .origin(own))
        try await working(caches) { () async throws in
            await fetch(.list(cache.id))
            #expect(activity.questions.map(\.wasRefused) == [true])
            #expect(cache.signIn(for: cache.address) == nil && activity.takeAnswered().isEmpty)
            let state = try cache.read { try $0.gallery() }.status.state
            #expect(
                state == .failed(Failure("127.0.0.1:\(server.port) refuses the password", remedy: .none)))
        }
    }

    private final class Kept: Sendable {
        let looked = Mutex<[SignInPlace]>([])
        let signIn: SignIn?
        init(_ signIn: SignIn?) { self.signIn = signIn }
        var keeping: CredentialKeeping {
            CredentialKeeping(
                lookUp: { place in
                    self.looked.withLock { $0.append(place) }
                    return self.signIn
                }, keep: { _, _, _ in nil })
        }
    }

    @Test("BEHAVIOURS 5.10: stored passwords are looked up once, when a server asks")
    func keptOnes() async throws {
        let kept = Kept(.password(user: "me", password: "s3cret"))
        let (caches, cache) = try open(CredentialStore(keeping: kept.keeping))
        let own = try #require(cache.address.origin)
        #expect(cache.signIn(for: cache.address) == nil && kept.looked.withLock { $0.isEmpty })
        try await working(caches) { () async throws in
            await fetch(.list(cache.id))
            #expect(activity.questions.isEmpty && activity.takeAnswered() == [cache.id])
            await fetch(.list(cache.id))
            #expect(try cache.read { try $0.gallery() }.photoCount == 20)
            #expect(activity.takeAnswered().isEmpty)
            // Stored passwords for the other origin are neither looked up nor sent because a list names it.
            await fetch(.everyPicture(cache.id, .thumbnail))
            #expect(activity.questions.isEmpty)
        }
        #expect(kept.looked.withLock { $0 } == [.origin(own)])
    }

    /// A caller that waits for a picture must not see its failure before the answer is known.
    @Test func anAnswerReachesAFailedPicture() async throws {
        // Streams, since a gate would block one of the few shared threads.
        let (looking, found) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let keeping = CredentialKeeping(
            lookUp: { _ in
                looking.continuation.finish()
                for await _ in found.stream {}
                return .password(user: "me", password: "s3cret")
            }, keep: { _, _, _ in nil })
        let credentials = CredentialStore(keeping: keeping)
        let (caches, cache) = try open(credentials)
        let draft = try cache.beginSync()
        try draft.add([
            GalleryEntry(
                id: "1", name: "P", date: Timestamp(milliseconds: 1), photo: try Address(server.url("/p/1")),
                thumbnail: nil)
        ])
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
        let photo = try #require(try cache.read { try $0.photo(galleryID: "1") })
        let subject = Wish.Subject.picture(cache.id, photo.key, .original)
        try await working(caches) { () async throws in
            let changes = cache.changes()
            wishes.ask(for: subject)
            _ = await changes.next()
            for await _ in looking.stream {}
            let noted = try cache.read { try $0.photo(photo.key) }
            #expect(noted?.original.isWanting == false)
            // The commit was announced, but the request has not ended.
            wishes.ask(for: .everyPicture(cache.id, .thumbnail))
            for await snapshot in wishes.snapshots() where snapshot.wishes.count == 1 { break }
            #expect(wishes.isStanding(subject) && activity.takeAnswered().isEmpty)
            found.continuation.finish()
            for await snapshot in wishes.snapshots() where snapshot.wishes.isEmpty { break }
            #expect(activity.takeAnswered() == [cache.id])
        }
    }

    @Test func aRefusedStoredPasswordLeadsToAQuestion() async throws {
        let kept = Kept(.password(user: "me", password: "of last year"))
        let (caches, cache) = try open(CredentialStore(keeping: kept.keeping))
        try await working(caches) { () async throws in
            await fetch(.list(cache.id))
            #expect(activity.takeAnswered() == [cache.id])
            await fetch(.list(cache.id))
            #expect(activity.takeAnswered().isEmpty && activity.questions.map(\.wasRefused) == [true])
        }
    }
}
