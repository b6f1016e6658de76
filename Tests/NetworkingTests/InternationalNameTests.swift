import Logging
import Session
import Model
import TestSupport
import Testing

@testable import Cache
@testable import HTTP
@testable import Networking

/// International host names, from the address to the server.
@Suite struct InternationalNameTests {
    private let folder = TestFolder()

    @Test(
        "Requests and errors show the same form of a server’s name",
        arguments: [
            ("MÜNCHEN.example", "xn--mnchen-3ya.example", "münchen.example"),
            ("\u{430}pple.example", "xn--pple-43d.example", "xn--pple-43d.example (\u{430}pple.example)"),
        ])
    func asked(typed: String, asked: String, shown: String) async throws {
        let log = Log()
        let server = try ScriptedServer { _ in .answer(401, headers: ["WWW-Authenticate: Basic realm=\"photos\""]) }
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        let cache = try caches.open(Address("http://\(typed):\(server.port)/index.xml"))
        let context = RequestContext(caches: caches, activity: Activity(), log: log)
        let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: context))
        var configuration = HTTPConfiguration(connectTimeout: 60, stallTimeout: 60)
        // Only this name can be resolved.
        configuration.names = ["\(asked):\(server.port):127.0.0.1"]
        do {
            try await request.perform(over: HTTPClient(configuration, log: log))
            Issue.record("it succeeded")
        } catch {
            #expect(RequestError(error).failure.reason == "a password is needed for \(shown):\(server.port)")
        }
        #expect(server.requests.map { $0.headers["host"] } == ["\(asked):\(server.port)"])
    }
}
