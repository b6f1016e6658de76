import Cache
import Session
import Foundation
import HTTP
import Logging
import Model
import TestSupport
import Testing

@testable import Networking

/// A gallery with a password in the address that the user typed.
@Suite struct CredentialsTests {
    private let folder = TestFolder()
    private let log = Log(level: .debug)
    private let server: ScriptedServer
    private let other: ScriptedServer
    private let caches: CacheFolder
    private let client: HTTPClient

    private static let authorization = "Basic " + Data("me:s3cret".utf8).base64EncodedString()

    init() throws {
        let other = try ScriptedServer { _ in .answer(200, NetworkTest.picture("elsewhere")) }
        let list = """
            <album><photo id="1" name="One" date="2006-07-30T07:47:17Z">
            <image kind="image" srcURL="photo.jpg"/><image kind="thumbnail" srcURL="\(other.url("/t"))"/></photo></album>
            """
        server = try ScriptedServer { request in
            guard request.headers["authorization"] == Self.authorization else {
                return .answer(401, headers: ["WWW-Authenticate: Basic realm=\"photos\""])
            }
            return request.path == "/index.xml" ? .answer(200, list) : .answer(200, NetworkTest.picture("photo"))
        }
        self.other = other
        caches = try CacheFolder(path: folder.path("cache"), log: log)
        client = HTTPClient(log: log)
    }

    private func open(_ userAndPassword: String) throws -> GalleryCache {
        try caches.open(Address("http://\(userAndPassword)127.0.0.1:\(server.port)/index.xml"))
    }

    private func perform(_ kind: any NetworkRequest.Type, _ subject: Wish.Subject) async throws {
        let context = RequestContext(caches: caches, activity: Activity(), log: log)
        try await #require(try kind.make(for: subject, in: context)).perform(over: client)
    }

    @Test func picturesOfTheSameOriginUseTheCredentials() async throws {
        let cache = try open("me:s3cret@")
        try await perform(GalleryListRequest.self, .list(cache.id))
        let key = try #require(try cache.read { try $0.photo(galleryID: "1") }).key
        try await perform(PhotoRequest.self, .picture(cache.id, key, .original))
        try await perform(ThumbnailRequest.self, .picture(cache.id, key, .thumbnail))
        #expect(try cache.read { try $0.photoFile(of: key) } != nil)
        // Another port is another origin.
        #expect(other.requests.count == 1 && other.requests[0].headers["authorization"] == nil)
    }

    @Test("If a gallery's address leads to an empty page of another server, this server does not get the password")
    func leadsElsewhere() async throws {
        let question = ["WWW-Authenticate: Basic realm=\"photos\""]
        let stranger = try ScriptedServer { request in
            request.path == "/" ? .answer(200) : .answer(401, headers: question)
        }
        let own = try ScriptedServer { request in
            request.headers["authorization"] == Self.authorization
                ? .answer(302, headers: ["Location: \(stranger.url("/"))"]) : .answer(401, headers: question)
        }
        let cache = try caches.open(Address("http://me:s3cret@127.0.0.1:\(own.port)/photos/"))
        await #expect(throws: (any Error).self) { try await perform(GalleryListRequest.self, .list(cache.id)) }
        #expect(stranger.requests.contains { $0.path == "/gallery.xml" })
        #expect(stranger.requests.allSatisfy { $0.headers["authorization"] == nil })
    }

    @Test("If Vitrine knows no sign-in of a server, the failure names them")
    func unknownSignIns() async throws {
        let server = try ScriptedServer { _ in .answer(401, headers: ["WWW-Authenticate: Negotiate, NTLM"]) }
        let cache = try caches.open(Address("http://127.0.0.1:\(server.port)/photos/index.xml"))
        let error = await #expect(throws: RequestError.self) {
            try await perform(GalleryListRequest.self, .list(cache.id))
        }
        #expect(error?.failure.reason == "Vitrine knows none of the server’s sign-ins (negotiate, ntlm)")
        #expect(error?.failure.isTemporary == false && error?.failure.question == nil)
    }

    @Test func credentialsAreNeverWritten() async throws {
        let cache = try open("me:s3cret@")
        try await perform(GalleryListRequest.self, .list(cache.id))
        #expect(!log.entries.contains { $0.message.contains("s3cret") })
        let files = try #require(FileManager.default.enumerator(atPath: folder.path))
        for case let file as String in files {
            let bytes = FileManager.default.contents(atPath: folder.path(file)) ?? Data()
            #expect(bytes.range(of: Data("s3cret".utf8)) == nil, "\(file)")
        }
    }

    @Test func credentialsEnteredLaterAreUsedFromThenOn() async throws {
        let cache = try open("")
        let origin = try #require(cache.address.origin)
        let question = SignInQuestion(origin: origin, schemes: ["basic"], realm: "photos")
        let error = await #expect(throws: RequestError.self) {
            try await perform(GalleryListRequest.self, .list(cache.id))
        }
        #expect(error == .signIn(question))
        #expect(error?.failure.reason == "a password is needed for 127.0.0.1:\(server.port)")
        #expect(error?.failure.isTemporary == false && error?.failure.question == question)
        #expect(try open("me:s3cret@") === cache)
        try await perform(GalleryListRequest.self, .list(cache.id))
        // Without credentials it is the same gallery, chosen from a list.
        #expect(try open("") === cache)
        try await perform(GalleryListRequest.self, .list(cache.id))
    }
}
