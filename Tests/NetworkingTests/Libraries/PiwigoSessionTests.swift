import Foundation
import HTTP
import Model
import Session
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Galleries of users who sign in to a stand-in for Piwigo with a name and a password.
@Suite(.ownThread, .unlessItHangs) struct PiwigoSessionTests {
    private let galleries: ServedGalleries
    private static let signIn = SignIn.password(user: "me & you", password: "s3cret+pass=%")
    private static let users = ["me & you": "s3cret+pass=%"]

    private static let login = "POST /ws.php pwg.session.login 200"
    private static let status = "GET /ws.php pwg.session.getStatus 200"
    private static let albums = "POST /ws.php pwg.categories.getList 200"
    private static let page = "POST /ws.php pwg.categories.getImages 0 200"

    init() throws { galleries = try ServedGalleries() }

    /// Starts a server with two public photos and two private ones.
    private func start(_ settings: [String: any Sendable] = [:]) async throws -> PiwigoServer {
        var all: [String: any Sendable] = [
            "users": Self.users, "albums": ["2": ["photos": [Int](), "private": true] as [String: any Sendable]],
        ]
        all.merge(settings) { $1 }
        let server = try await PiwigoServer.start(photos: 2, settings: all)
        try server.order(["add": 2, "name": "c.jpg"])
        try server.order(["add": 2, "name": "d.jpg"])
        return server
    }

    /// Updates the list. Returns the requests of the update.
    @discardableResult
    private func update(_ cache: GalleryCache, _ server: PiwigoServer) async -> [String] {
        await galleries.update(cache, server)
    }

    private func ids(_ cache: GalleryCache) throws -> [String] { try galleries.photos(cache).map(\.galleryID).sorted() }

    /// Forgets the user's answer, as if Vitrine had been started again.
    private func forget(_ signIn: SignIn, _ cache: GalleryCache) async throws {
        let question = PiwigoRules.question(at: try #require(cache.address.origin), wasRefused: false)
        _ = await galleries.credentials.hasOther(than: signIn, for: question, in: cache.address)
    }

    @Test("The question accepts a name and a password, and the private photos appear")
    func password() async throws {
        let server = try await start(["private": true])
        try await galleries.opening(server.url("/")) { cache throws in
            await update(cache, server)
            let question = try #require(galleries.activity.questions.first)
            #expect(!question.wantsToken && question.secretName == "password or API key")
            galleries.enter(question.signIn(name: "me & you", secret: "s3cret+pass=%"), cache)
            let requests = await update(cache, server)
            #expect(requests.filter { $0.hasPrefix("POST") } == [Self.login, Self.albums, Self.page])
            #expect(try ids(cache) == ["1", "2", "3", "4"] && galleries.failure(cache) == nil)
            // One request shows that the session has not ended.
            #expect(await update(cache, server) == [Self.status, Self.albums])
        }
    }

    @Test(
        "The same question accepts an API key, in two fields or in one",
        arguments: [(PiwigoServer.keyID, PiwigoServer.keySecret), (PiwigoServer.key, "")])
    func key(name: String, secret: String) async throws {
        let server = try await start()
        try await galleries.opening(server.url("/"), signedInAs: .password(user: name, password: secret)) {
            cache throws in
            let requests = await update(cache, server)
            #expect(try ids(cache) == ["1", "2", "3", "4"] && !requests.contains(Self.login))
        }
    }

    @Test("After the server has ended the session, Vitrine signs in once more")
    func ended() async throws {
        let server = try await start()
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache throws in
            await update(cache, server)
            try server.order(["endSessions": true])
            #expect(await update(cache, server) == [Self.status, Self.login, Self.albums])
            #expect(try ids(cache) == ["1", "2", "3", "4"])
        }
    }

    @Test("If the session ends during an update, no photo is removed, and the next update reads all pages")
    func endedMeanwhile() async throws {
        let server = try await start()
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache throws in
            await update(cache, server)
            try server.order(["add": 1, "name": "new.jpg"])
            try server.order(["endSessions": "pwg.categories.getList"])
            await update(cache, server)
            #expect(try Set(ids(cache)).isSuperset(of: ["1", "2", "3", "4"]))
            let requests = await update(cache, server)
            #expect(requests.contains(Self.login) && requests.contains(Self.page))
            #expect(try ids(cache) == ["1", "2", "3", "4", "5"])
        }
    }

    @Test("A refused password is asked for again, and removes nothing")
    func refused() async throws {
        let server = try await start()
        let wrong = SignIn.password(user: "me & you", password: "wrong")
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache throws in
            await update(cache, server)
            galleries.enter(wrong, cache)
            let requests = await update(cache, server)
            #expect(requests == [Self.login, Self.status])
            #expect(
                galleries.activity.questions.map(\.wasRefused) == [true]
                    && galleries.activity.questions.map(\.secretName) == ["password or API key"])
            #expect(try galleries.failure(cache)?.reason.hasSuffix("refuses the password or API key") == true)
            #expect(try ids(cache) == ["1", "2", "3", "4"])
        }
    }

    @Test("Without the password, as after a restart, Vitrine asks for it instead of showing a guest's photos")
    func restarted() async throws {
        let server = try await start()
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache throws in
            await update(cache, server)
            try await forget(Self.signIn, cache)
            #expect(await update(cache, server) == [])
            #expect(galleries.activity.questions.count == 1)
            #expect(try ids(cache) == ["1", "2", "3", "4"])
        }
    }

    @Test("After a first update that failed midway, a guest's view does not remove the private photos")
    func restartedAfterFailure() async throws {
        let settings: [String: any Sendable] = [
            "users": Self.users, "private": true,
            "albums": ["2": ["photos": [Int](), "private": false] as [String: any Sendable]],
        ]
        let server = try await PiwigoServer.start(photos: 700, settings: settings)
        try server.order(["add": 2, "name": "public.jpg"])
        try server.order(["fault": "repeat", "page": 1])
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache throws in
            await update(cache, server)
            let before = try ids(cache)
            #expect(try before.count == 500 && galleries.failure(cache) != nil)
            try await forget(Self.signIn, cache)
            try server.order(["fault": "none", "page": 0])
            #expect(await update(cache, server) == [])
            #expect(galleries.activity.questions.count == 1)
            #expect(try ids(cache) == before)
        }
    }

    /// Returns the first page of a tag. It is full if it has 200 photos.
    private static func tagged(_ count: Int) -> String {
        let images = (1...count).map { #"{"id":\#($0),"file":"\#($0).jpg","element_url":"upload/\#($0).jpg"}"# }
        let list = images.joined(separator: ",")
        return #"{"stat":"ok","result":{"paging":{"page":0,"per_page":200},"images":[\#(list)]}}"#
    }

    @Test("After the user stopped the first update of a tag, a guest's view does not remove the private photos")
    func restartedAfterStop() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { request in
            guard !request.path.hasSuffix("pwg.session.login") else {
                return .answer(200, #"{"stat":"ok","result":true}"#, headers: ["Set-Cookie: pwg_id=a1; path=/"])
            }
            // A guest sees two of the photos.
            guard request.headers["cookie"] != nil else { return .answer(200, Self.tagged(2)) }
            let isFirst = String(decoding: request.body, as: UTF8.self).hasSuffix("&page=0")
            return isFirst ? .answer(200, Self.tagged(200)) : [.hold(gate)]
        }
        let cache = try galleries.context.caches.open(Address(server.url("/index.php?/tags/7-sea")))
        _ = try await cache.writer.commit(
            try cache.beginSync().finish(), skipped: 0, validators: Validators(),
            source: ListSource(kind: .piwigo, root: Address(server.url("/"))), at: Timestamp(milliseconds: 1))
        galleries.enter(Self.signIn, cache)
        let changes = cache.changes()
        let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: galleries.context))
        let update = Task { [client = galleries.client] in try await request.perform(over: client) }
        // The second page does not come.
        while try ids(cache).isEmpty { _ = await changes.next() }
        update.cancel()
        await #expect(throws: CancellationError.self) { try await update.value }
        #expect(try ids(cache).count == 200)
        try await forget(Self.signIn, cache)
        let later = try #require(try GalleryListRequest.make(for: .list(cache.id), in: galleries.context))
        let question = PiwigoRules.question(at: try #require(cache.address.origin), wasRefused: false)
        await #expect(throws: RequestError.signIn(question)) { try await later.perform(over: galleries.client) }
        #expect(try ids(cache).count == 200)
    }

    @Test("Protected originals of private albums come with the session, which begins again if it has ended")
    func originals() async throws {
        let server = try await start(["isProtected": true])
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache throws in
            await update(cache, server)
            try server.order(["endSessions": true])
            await galleries.fetch(.everyPicture(cache.id, .original))
            let counts = try cache.read { try $0.counts() }
            #expect(counts.photos == 4 && counts.failed == 0)
            #expect(server.requests.count { $0 == Self.login } == 2)
        }
    }

    @Test("The albums of a user who has signed in include private ones")
    func albumList() async throws {
        let server = try await start()
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache throws in
            await update(cache, server)
            await galleries.fetch(.albums(cache.id))
            #expect(
                try cache.albums().albums.map(\.name) == [
                    "Favorites", "Album 1", "Album 2",
                ])
        }
    }

    @Test("A password for the web server in front of Piwigo opens the public photos")
    func proxied() async throws {
        let list = #"{"stat":"ok","result":{"categories":[{"id":1,"nb_images":1}]}}"#
        let page = #"""
            {"stat":"ok","result":{"paging":{"page":0,"per_page":500,"count":1,"total_count":1},
            "images":[{"id":1,"file":"a.jpg","element_url":"upload/a.jpg"}]}}
            """#
        let server = try ScriptedServer { request in
            guard request.headers["authorization"] != nil else {
                return .answer(401, "", headers: [#"WWW-Authenticate: Basic realm="photos""#])
            }
            let isStatus = request.path.contains("getStatus")
            return switch request.path.split(separator: "=").last {
            case "pwg.session.login": .answer(200, #"{"stat":"fail","err":999,"message":"no"}"#)
            case "pwg.categories.getList": .answer(200, list)
            case "pwg.categories.getImages": .answer(200, page)
            default: .answer(isStatus ? 200 : 404, #"{"stat":"ok","result":{"status":"guest"}}"#)
            }
        }
        let cache = try galleries.context.caches.open(Address(server.url("/")))
        _ = try await cache.writer.commit(
            try cache.beginSync().finish(), skipped: 0, validators: Validators(),
            source: ListSource(kind: .piwigo, root: cache.address), at: Timestamp(milliseconds: 1))
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache throws in
            await galleries.fetch(.list(cache.id))
            #expect(try ids(cache) == ["1"] && galleries.failure(cache) == nil)
            #expect(server.requests.allSatisfy { $0.headers["cookie"] == nil })
            // If Piwigo itself knew the user before, a guest's list must not replace the photos.
            let folder = ListSource.Folder(path: [], validators: Validators(lastModified: "signed in"))
            _ = try await cache.writer.commit(
                try cache.beginSync().finish(onlyWithin: [], keepsOthers: true), skipped: 0, validators: Validators(),
                source: ListSource(kind: .piwigo, root: cache.address, folders: [folder]),
                at: Timestamp(milliseconds: 2))
            await galleries.fetch(.list(cache.id))
            #expect(try ids(cache) == ["1"] && galleries.failure(cache) != nil)
            #expect(galleries.activity.questions.map(\.secretName) == ["password or API key"])
        }
    }

    @Test("An update can be stopped while the server is slow to sign in")
    func stopped() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { request in
            request.path.hasSuffix("pwg.session.login") ? [.hold(gate)] : .answer(404, "")
        }
        let cache = try galleries.context.caches.open(Address(server.url("/")))
        _ = try await cache.writer.commit(
            try cache.beginSync().finish(), skipped: 0, validators: Validators(),
            source: ListSource(kind: .piwigo, root: cache.address), at: Timestamp(milliseconds: 1))
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache throws in
            let (log, activity) = (galleries.log.changes, galleries.activity.changes())
            galleries.wishes.ask(for: .list(cache.id))
            for await _ in log where galleries.log.entries.contains(where: { $0.message.contains("session.login") }) {
                break
            }
            galleries.wishes.stop(.list(cache.id))
            for await _ in activity {
                let recorded = try cache.read { try $0.gallery() }.status
                if galleries.activity.status(of: cache.id, recorded: recorded).state == .cancelled { break }
            }
            #expect(!gate.isOpen)
        }
    }

    @Test("The failure of a sign-in that no request awaits does not reach the next request")
    func abandoned() async throws {
        let gate = Gate()
        defer { gate.open() }
        let logins = Mutex(0)
        let server = try ScriptedServer { request in
            guard request.path.hasSuffix("pwg.session.login") else { return .answer(200, "picture") }
            let isFirst = logins.withLock { count in
                count += 1
                return count == 1
            }
            guard !isFirst else { return [.hold(gate)] + .answer(503) }
            return .answer(200, #"{"stat":"ok","result":true}"#, headers: ["Set-Cookie: pwg_id=a1; path=/"])
        }
        let sessions = PiwigoSessions()
        var picture = FetchPlan(
            address: try Address(server.url("/action.php?id=1&part=e")), signIn: Self.signIn, limit: 1_000)
        picture.sessions = sessions
        let fetch = Task { [client = galleries.client, picture] in
            _ = try await picture.answer(over: client, with: TransferPermit())
        }
        fetch.cancel()
        await #expect(throws: CancellationError.self) { try await fetch.value }
        gate.open()
        while await !sessions.isEmpty { await Task.yield() }
        _ = try await picture.answer(over: galleries.client, with: TransferPermit())
        #expect(logins.withLock { $0 } == 2)
        #expect(server.requests.last?.headers["cookie"] == "pwg_id=a1")
    }

    @Test("The password goes only to the sign-in of its server, and no secret is written")
    func secrecy() async throws {
        let other = try ScriptedServer { _ in .answer(200, "[]") }
        let server = try ScriptedServer { request in
            switch request.path {
            case "/ws.php?format=json&method=pwg.session.login":
                .answer(200, #"{"stat":"ok","result":true}"#, headers: ["Set-Cookie: pwg_id=se55ioncookie; path=/"])
            case "/ws.php?format=json&method=pwg.categories.getList":
                .answer(307, "", headers: ["Location: http://127.0.0.1:\(other.port)/stolen"])
            default: .answer(404, "")
            }
        }
        let cache = try galleries.context.caches.open(Address(server.url("/")))
        _ = try await cache.writer.commit(
            try cache.beginSync().finish(), skipped: 0, validators: Validators(),
            source: ListSource(kind: .piwigo, root: cache.address), at: Timestamp(milliseconds: 1))
        try await galleries.opening(server.url("/"), signedInAs: Self.signIn) { cache throws in
            await galleries.fetch(.list(cache.id))
            #expect(try galleries.failure(cache) != nil)
        }
        #expect(server.requests.contains { $0.headers["cookie"] == "pwg_id=se55ioncookie" })
        #expect(other.requests.allSatisfy { $0.headers["cookie"] == nil })
        #expect(galleries.traces(of: ["se55ioncookie", "s3cret+pass=%"]) == [])
    }

    @Test(
        "A session's cookie is taken from the answer to the sign-in",
        arguments: [
            ("pwg_id=a1; path=/; HttpOnly", "pwg_id=a1"),
            ("pwg_remember=deleted; path=/\npwg_id=a1; path=/\npwg_id=b2", "pwg_id=b2"),
            ("lang=de\nsession=x%20y; Secure", "lang=de; session=x%20y"), ("", nil), ("deleted", nil),
            ("a b=c\npwg_id=; path=/", nil),
        ])
    func cookies(header: String, cookie: String?) { #expect(PiwigoRules.cookie(header) == cookie) }
}
