import Logging
import Session
import Model
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import HTTP
@testable import Networking

/// Galleries whose name leads to a public address first and to a private one later.
@Suite(.enabled(if: OwnNetwork.isPossible)) struct ChangedAddressTests {
    private let network: PublicNetwork
    private let folder = TestFolder()
    private let context: RequestContext

    init() throws {
        network = try PublicNetwork()
        let log = Log()
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        context = RequestContext(caches: caches, activity: Activity(), log: log)
    }

    /// Updates a gallery whose name leads to an address. Returns the failure.
    private func update(_ cache: GalleryCache, at address: String) async throws -> Failure? {
        var configuration = HTTPConfiguration(connectTimeout: 60, stallTimeout: 60)
        configuration.names = ["photos.test:\(cache.address.port ?? 80):\(address)"]
        let client = HTTPClient(configuration, log: Log())
        // The client's thread starts with its first transfer and stays in that network.
        let first = HTTPRequest(url: "http://127.0.0.1:9/", destination: .stream, limit: 1)
        await #expect(throws: HTTPError.self) { for try await _ in network.inside({ client.transfer(first) }) {} }
        let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: context))
        do {
            try await request.perform(over: client)
            return nil
        } catch {
            return RequestError(error).failure
        }
    }

    @Test("BEHAVIOURS 5.3: a gallery that was public is refused at a private address until its cache is cleared")
    func staysPublic() async throws {
        let list = NetworkTest.list(["a"])
        let outer = try network.server(at: PublicNetwork.address) { _ in .answer(200, list) }
        let inner = try network.server(at: "127.0.0.1", port: outer.port) { _ in .answer(200, list) }
        let cache = try context.caches.open(Address("http://photos.test:\(outer.port)/index.xml"))
        #expect(try await update(cache, at: PublicNetwork.address) == nil)
        let refused = Failure(
            "photos.test had a public address and now has a private one; if that is intended, clear this gallery’s cache",
            remedy: .none)
        for _ in 0..<2 { #expect(try await update(cache, at: "127.0.0.1") == refused) }
        #expect(inner.connectionCount == 0)
        // The gallery works again at a public address.
        #expect(try await update(cache, at: PublicNetwork.address) == nil)
        try await context.caches.discard(cache.address)
        #expect(try await update(cache, at: "127.0.0.1") == nil)
        #expect(inner.requests.count == 1)
    }

    @Test("A public gallery whose first update ends early counts as public, and is refused at a private address")
    func endsEarly() async throws {
        let outer = try network.server(at: PublicNetwork.address) { request in
            switch (request.method, request.path) {
            case ("GET", "/photos/"):
                let list = """
                    <html><head><title>Index of /</title></head><body><pre><a href="../">../</a>
                    <a href="b/">b/</a>   25-Nov-2026 21:00  -
                    <a href="a.jpg">a.jpg</a>   25-Nov-2026 21:00  5
                    </pre></body></html>
                    """
                return .answer(200, list, headers: ["Content-Type: text/html"])
            case ("GET", "/photos/b/"): return [.reset]
            default: return .answer(request.method == "GET" ? 404 : 405)
            }
        }
        let inner = try network.server(at: "127.0.0.1", port: outer.port) { _ in .answer(404) }
        let cache = try context.caches.open(Address("http://photos.test:\(outer.port)/photos/"))
        #expect(try await update(cache, at: PublicNetwork.address) != nil)
        let record = try cache.read { try $0.gallery() }
        #expect(record.photoCount == 1 && record.lastSuccess == nil)
        #expect(record.isPrivate == false && record.wasPublic)
        #expect(try await update(cache, at: "127.0.0.1") != nil)
        #expect(inner.connectionCount == 0)
    }

    @Test("The search behind a public page or refusal reaches no private address", arguments: [200, 404])
    func searches(status: Int) async throws {
        // The name has both addresses. The server at the public one refuses all connections after the first.
        let listening = Mutex<ScriptedServer?>(nil)
        let outer = try network.server(at: PublicNetwork.address) { _ in
            listening.withLock { $0 }?.stopListening()
            return [ScriptedServer.Step].answer(
                status, "<html><body>No photos</body></html>",
                headers: ["Content-Type: text/html", "Connection: close"]) + [.close]
        }
        listening.withLock { $0 = outer }
        defer { listening.withLock { $0 = nil } }
        let inner = try network.server(at: "127.0.0.1", port: outer.port) { _ in .answer(404) }
        let cache = try context.caches.open(Address("http://photos.test:\(outer.port)/photos/"))
        #expect(try await update(cache, at: "\(PublicNetwork.address),127.0.0.1") != nil)
        #expect(outer.requests.map(\.path) == ["/photos/"] && inner.connectionCount == 0)
    }

    @Test("A private gallery may move to a public address, and then stays there")
    func becomesPublic() async throws {
        let list = NetworkTest.list(["a"])
        let outer = try network.server(at: PublicNetwork.address) { _ in .answer(200, list) }
        let inner = try network.server(at: "127.0.0.1", port: outer.port) { _ in .answer(200, list) }
        let cache = try context.caches.open(Address("http://photos.test:\(outer.port)/index.xml"))
        for address in ["127.0.0.1", "127.0.0.1", PublicNetwork.address] {
            #expect(try await update(cache, at: address) == nil)
        }
        #expect(try await update(cache, at: "127.0.0.1") != nil)
        #expect(inner.requests.count == 2)
    }

    @Test("A private gallery that redirects to a public address is requested there")
    func leadsAway() async throws {
        let list = NetworkTest.list(["a"])
        let outer = try network.server(at: PublicNetwork.address) { _ in .answer(200, list) }
        let inner = try network.server(at: "127.0.0.1") { _ in
            .answer(302, headers: ["Location: http://\(PublicNetwork.address):\(outer.port)/"])
        }
        let cache = try context.caches.open(Address("http://photos.test:\(inner.port)/index.xml"))
        for _ in 0..<2 { #expect(try await update(cache, at: "127.0.0.1") == nil) }
        #expect(inner.requests.count == 2 && outer.requests.count == 2)
    }
}
