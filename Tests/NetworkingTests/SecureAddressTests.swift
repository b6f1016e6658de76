import Cache
import Foundation
import HTTP
import Logging
import Model
import Session
import Synchronization
import TestSupport
import Testing

@testable import Networking

/// Galleries of a server that redirects to its secure address.
@Suite(.ownThread, .enabled(if: OwnNetwork.isPossible), .unlessItHangs) struct SecureAddressTests {
    /// The ids of the photos in the list.
    private final class Listing: Sendable {
        let ids = Mutex(["a"])
    }

    /// A folder with one photo, as WebDAV lists it.
    private static let entries = ["", "a.jpg"].map { name in
        """
        <d:response><d:href>/closed/dav/\(name)</d:href><d:propstat><d:prop><d:resourcetype>\
        \(name.isEmpty ? "<d:collection/>" : "")</d:resourcetype></d:prop><d:status>HTTP/1.1 200 OK</d:status>\
        </d:propstat></d:response>
        """
    }

    private static let asset =
        #"{"id":"00000001-0000-4000-8000-0000000000aa","type":"IMAGE","isFavorite":true,"#
        + #""localDateTime":"2024-05-06T07:08:09.000Z","originalMimeType":"image/jpeg"}"#
    /// An Immich server's list of months, its page of photos, and its shared link.
    private static let immich = [
        "GET /api/timeline/buckets": #"[{"timeBucket":"2024-05-01","count":1}]"#,
        "POST /api/search/metadata": #"{"assets":{"items":[\#(asset)],"nextPage":null}}"#,
        "GET /api/shared-links/me": #"{"type":"INDIVIDUAL","assets":[\#(asset)],"allowDownload":true}"#,
    ]

    private let folder = TestFolder()
    private let log = Log(level: .debug)
    private let activity = Activity()
    private let network: PublicNetwork
    private let authority: TestAuthority
    private let listing: Listing
    /// The server that redirects.
    private let plain: ScriptedServer
    /// The server behind the secure address. It wants a password for everything below `/closed/`.
    private let secure: ScriptedServer
    private let relay: LoopbackServer

    init() throws {
        let (network, listing) = (try PublicNetwork(), Listing())
        let expected = "Basic " + Data("me:s3cret".utf8).base64EncodedString()
        let secure = try network.server(at: "127.0.0.1") { request in
            guard !request.path.hasPrefix("/closed/") || request.headers["authorization"] == expected else {
                return .answer(401, headers: ["WWW-Authenticate: Basic realm=\"photos\""])
            }
            guard request.path != "/closed/dav/" else {
                let list = "<d:multistatus xmlns:d=\"DAV:\">\(Self.entries.joined())</d:multistatus>"
                return request.method == "PROPFIND" ? .answer(207, list) : .answer(405)
            }
            guard !request.path.hasPrefix("/lost/") else {
                return .answer(302, headers: ["Location: https://127.0.0.1\(request.path)"])
            }
            if let answer = Self.immich["\(request.method) \(request.path.prefix { $0 != "?" })"] {
                let key = request.headers["x-api-key"] ?? request.headers["x-immich-share-key"]
                return key == "k3y" ? .answer(200, answer) : .answer(401)
            }
            let ids = listing.ids.withLock { $0 }
            let tag = "\"\(ids.count)\""
            if request.headers["if-none-match"] == tag { return .answer(304) }
            return .answer(200, NetworkTest.list(ids), headers: ["ETag: \(tag)"])
        }
        authority = try TestAuthority()
        let pair = try authority.issue(.good)
        relay = try network.inside {
            Swift.Result { try LoopbackServer.nginx(passingTo: secure, pair, port: 443) }
        }.get()
        plain = try network.server(at: "127.0.0.1", port: 80) { request in
            guard !request.path.hasPrefix("/ticket/") else {
                return .answer(401, headers: ["WWW-Authenticate: Hawk"])
            }
            let path = request.path.hasPrefix("/lost/") ? "/closed/" : request.path
            return .answer(301, headers: ["Location: https://127.0.0.1\(path)"])
        }
        (self.network, self.listing, self.secure) = (network, listing, secure)
    }

    private func open(
        _ address: String, _ credentials: CredentialStore = CredentialStore()
    ) throws -> (RequestContext, GalleryCache) {
        let caches = try CacheFolder(
            path: folder.path("cache"), log: log, activity: activity, credentials: credentials)
        return (RequestContext(caches: caches, activity: activity, log: log), try caches.open(Address(address)))
    }

    /// Makes a client in that network.
    private func makeClient() async -> HTTPClient {
        let configuration = HTTPConfiguration(
            certificates: authority.certificate, connectTimeout: 60, stallTimeout: 60)
        let client = HTTPClient(configuration, log: log)
        // The client's thread starts with its first transfer and stays in that network.
        let first = HTTPRequest(url: "http://127.0.0.1:9/", destination: .stream, limit: 1)
        await #expect(throws: HTTPError.self) { for try await _ in network.inside({ client.transfer(first) }) {} }
        return client
    }

    /// Updates a gallery. Returns the failure.
    private func update(
        _ cache: GalleryCache, _ context: RequestContext, over client: HTTPClient
    ) async throws -> Failure? {
        let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: context))
        do {
            try await request.perform(over: client)
            return nil
        } catch {
            let failure = RequestError(error).failure
            await request.recordFailure(failure)
            return failure
        }
    }

    @Test("A gallery whose server wants a password at its secure address opens after one question")
    func question() async throws {
        let credentials = CredentialStore()
        let (context, cache) = try open("http://127.0.0.1/closed/index.xml", credentials)
        let client = await makeClient()
        let origin = try #require(Origin("https://127.0.0.1"))
        #expect(try await update(cache, context, over: client) != nil)
        #expect(
            activity.questions == [
                SignInQuestion(origin: origin, schemes: ["basic"], realm: "photos", galleries: [cache.id])
            ])
        credentials.take(.password(user: "me", password: "s3cret"), for: .origin(origin), by: [cache.id])
        #expect(try await update(cache, context, over: client) == nil)
        #expect(try cache.read { try $0.gallery() }.photoCount == 1)
        let before = plain.requests.count
        #expect(try await update(cache, context, over: client) == nil)
        #expect(plain.requests.count == before && plain.requests.allSatisfy { $0.headers["authorization"] == nil })
    }

    @Test(
        "Vitrine asks the secure address only after a redirect to its server, and reports its failure",
        arguments: [
            ("/ticket/", RequestError.unknownSignIn(schemes: ["hawk"], isOfProxy: false)),
            ("/lost/", RequestError.transfer(.tooManyRedirects)),
        ])
    func failures(path: String, error: RequestError) async throws {
        let (context, cache) = try open("http://127.0.0.1\(path)index.xml")
        let client = await makeClient()
        let failure = try await update(cache, context, over: client)
        #expect(failure == error.failure, "\(failure?.reason ?? "")")
        #expect(plain.requests.count == 1 && secure.requests.isEmpty == (path == "/ticket/"))
    }

    @Test("If the secure address has another port and wants a password, the failure names the address to open")
    func otherPort() async throws {
        let server = try network.server(at: "127.0.0.1", port: 8080) { request in
            .answer(301, headers: ["Location: https://127.0.0.1\(request.path)"])
        }
        let (context, cache) = try open("http://127.0.0.1:8080/closed/index.xml")
        let client = await makeClient()
        let failure = try await update(cache, context, over: client)
        #expect(failure?.reason == "a password is needed; open https://127.0.0.1/closed/index.xml instead")
        // A password for the plain address must not go to another port unasked.
        #expect(activity.questions.isEmpty && server.requests.count == 1 && secure.requests.count == 1)
    }

    @Test("The next update requests the list at the secure address, where an unchanged list takes one short answer")
    func laterUpdates() async throws {
        let (context, cache) = try open("http://127.0.0.1/index.xml")
        let client = await makeClient()
        #expect(try await update(cache, context, over: client) == nil)
        let key = try #require(try cache.read { try $0.photo(galleryID: "a") }).key
        #expect(plain.requests.count == 1 && secure.requests.count == 1)
        #expect(try await update(cache, context, over: client) == nil)
        #expect(plain.requests.count == 1 && secure.requests.count == 2)
        #expect(secure.requests.last?.headers["if-none-match"] == "\"1\"")
        listing.ids.withLock { $0 = ["a", "b"] }
        #expect(try await update(cache, context, over: client) == nil)
        #expect(plain.requests.count == 1 && secure.requests.count == 3)
        #expect(try cache.read { try $0.gallery() }.photoCount == 2)
        #expect(try cache.read { try $0.photo(galleryID: "a") }?.key == key)
    }

    /// Stores the place of the last update, so that the gallery counts as known.
    private func store(_ source: ListSource, in cache: GalleryCache) async throws {
        _ = try await cache.writer.commit(
            try cache.beginSync().finish(), skipped: 0, validators: Validators(), source: source,
            at: Timestamp(milliseconds: 1))
    }

    @Test("A known WebDAV folder whose server now redirects to its secure address opens after one question")
    func knownFolder() async throws {
        let credentials = CredentialStore()
        let (context, cache) = try open("http://127.0.0.1/closed/dav/", credentials)
        let client = await makeClient()
        try await store(ListSource(kind: .webDAV, root: cache.address), in: cache)
        let origin = try #require(Origin("https://127.0.0.1"))
        #expect(try await update(cache, context, over: client) != nil)
        #expect(activity.questions.map(\.origin) == [origin])
        credentials.take(.password(user: "me", password: "s3cret"), for: .origin(origin), by: [cache.id])
        #expect(try await update(cache, context, over: client) == nil)
        #expect(try cache.read { try $0.gallery() }.photoCount == 1)
        #expect(try cache.read { try $0.source() }?.root.text == "https://127.0.0.1/closed/dav/")
    }

    @Test(
        "A known photo library whose server now redirects to its secure address opens, after a question for the key",
        arguments: [("/", true), ("/favorites", true), ("/share/k3y", false)])
    func knownLibrary(path: String, needsKey: Bool) async throws {
        let credentials = CredentialStore()
        let (context, cache) = try open("http://127.0.0.1" + path, credentials)
        let client = await makeClient()
        try await store(ListSource(kind: .immich, root: Address("http://127.0.0.1/")), in: cache)
        let origin = try #require(Origin("https://127.0.0.1"))
        if needsKey {
            #expect(try await update(cache, context, over: client) != nil)
            #expect(
                activity.questions.map(\.origin) == [origin] && activity.questions.map(\.keyHeader) == ["x-api-key"])
            credentials.take(.header(name: "x-api-key", value: "k3y"), for: .origin(origin), by: [cache.id])
        }
        #expect(try await update(cache, context, over: client) == nil)
        #expect(try cache.read { try $0.gallery() }.photoCount == 1)
        #expect(try cache.read { try $0.source() }?.root.text == "https://127.0.0.1/")
        #expect(needsKey || activity.questions.isEmpty)
    }

    @Test("A list that an earlier version fetched through the redirect keeps its photos")
    func earlierCache() async throws {
        let (context, cache) = try open("http://127.0.0.1/index.xml")
        let client = await makeClient()
        #expect(try await update(cache, context, over: client) == nil)
        let key = try #require(try cache.read { try $0.photo(galleryID: "a") }).key
        // Earlier versions stored the address before the redirect.
        _ = try await cache.writer.commit(
            try cache.beginSync().finish(keepsOthers: true), skipped: 0, validators: Validators(etag: "\"1\""),
            source: ListSource(kind: .list, root: cache.address), at: Timestamp(milliseconds: 1))
        #expect(try cache.read { try $0.photo(galleryID: "a") }?.key == key)
        for _ in 0..<2 { #expect(try await update(cache, context, over: client) == nil) }
        #expect(try cache.read { try $0.photo(galleryID: "a") }?.key == key)
        #expect(plain.requests.count == 2 && secure.requests.count == 3)
    }

    @Test("A stored password for the secure address opens the gallery without a question")
    func stored() async throws {
        let origin = try #require(Origin("https://127.0.0.1"))
        let credentials = CredentialStore(
            keeping: CredentialKeeping(
                lookUp: { $0 == .origin(origin) ? SignIn.password(user: "me", password: "s3cret") : nil },
                keep: { _, _, _ in nil }))
        let (context, cache) = try open("http://127.0.0.1/closed/index.xml", credentials)
        let client = await makeClient()
        #expect(try await update(cache, context, over: client) != nil)
        #expect(activity.questions.isEmpty && activity.takeAnswered() == [cache.id])
        #expect(try await update(cache, context, over: client) == nil)
        #expect(plain.requests.allSatisfy { $0.headers["authorization"] == nil })
    }
}
