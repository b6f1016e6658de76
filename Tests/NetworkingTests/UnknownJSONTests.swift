import Model
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Sites that send JSON of their own to programs that accept JSON, and web pages to others.
@Suite struct UnknownJSONTests {
    private let galleries: ListedGalleries

    init() throws { galleries = try ListedGalleries() }

    /// Returns the JSON if the request accepts it, and otherwise the page.
    private static func answer(
        _ request: ScriptedServer.Request, json: String, page: String
    ) -> [ScriptedServer.Step] {
        request.headers["accept"]?.contains("application/json") == true
            ? .answer(200, json, headers: ["Content-Type: application/activity+json"])
            : .answer(200, page, headers: ["Content-Type: text/html"])
    }

    @Test("The feed is found that the page names")
    func feed() async throws {
        let feed = """
            <rss version="2.0"><channel><item><guid>post</guid><title>A photo</title>
            <enclosure type="image/jpeg" url="/a.jpg"/></item></channel></rss>
            """
        let server = try ScriptedServer { request in
            switch (request.method, request.path) {
            case ("GET", "/author/me/"):
                return Self.answer(
                    request,
                    json: #"{"@context":["https://www.w3.org/ns/activitystreams"],"type":"Person","name":"Me"}"#,
                    page: """
                        <html><head><link rel="alternate" type="application/rss+xml" href="/feed"></head>\
                        <body>Hello</body></html>
                        """)
            case ("GET", "/feed"): return .answer(200, feed)
            default: return .answer(404)
            }
        }
        let cache = try galleries.open(server.url("/author/me/"))
        #expect(await galleries.failure(cache) == "")
        #expect(try galleries.ids(cache) == ["post"] && cache.read { try $0.source() }?.kind == .feed)
        #expect(server.requests.count { $0.method == "GET" && $0.path == "/author/me/" } == 2)
        #expect(server.requests.count <= 8)
        server.stop()
    }

    @Test("The folders of serve and serve-index are read from their pages, also at later updates")
    func folders() async throws {
        let lists = Mutex(["/photos/": ["a.jpg", "sub/"], "/photos/sub/": ["b.jpg", "c.jpg"]])
        let server = try ScriptedServer { request in
            guard request.method == "GET", let names = lists.withLock({ $0[request.path] }) else { return .answer(404) }
            let isOfServe = request.path == "/photos/"
            let files = names.map {
                isOfServe ? #"{"base":"\#($0)","relative":"photos/\#($0)","type":"file"}"# : #""\#($0)""#
            }
            let list = "[\(files.joined(separator: ","))]"
            let rows = names.map { "<li><a href=\"\(request.path)\($0)\" title=\"\($0)\">\($0)</a></li>" }
            return Self.answer(
                request, json: isOfServe ? #"{"files":\#(list),"directory":"photos/","paths":[]}"# : list,
                page: "<!DOCTYPE html><html><body><ul id=\"files\">\(rows.joined())</ul></body></html>")
        }
        let cache = try galleries.open(server.url("/photos/"))
        #expect(await galleries.failure(cache) == "")
        #expect(try galleries.ids(cache) == ["a.jpg", "sub/b.jpg", "sub/c.jpg"])
        lists.withLock { $0["/photos/sub/"] = ["b.jpg", "d.jpg"] }
        #expect(await galleries.failure(cache) == "")
        #expect(try galleries.ids(cache) == ["a.jpg", "sub/b.jpg", "sub/d.jpg"])
        #expect(try cache.read { try $0.gallery() }.skipped == 0)
        server.stop()
    }

    @Test("A site that sends only JSON of its own is no gallery, after two requests", arguments: [200, 406])
    func onlyJSON(statusOfPage: Int) async throws {
        let server = try ScriptedServer { request in
            let isForPage = request.headers["accept"]?.contains("application/json") == false
            return .answer(isForPage ? statusOfPage : 200, #"{"a":1}"#)
        }
        let cache = try galleries.open(server.url("/"))
        #expect(await galleries.failure(cache).contains("JSON file, not a gallery"))
        #expect(server.requests.count == 2)
        server.stop()
    }

    @Test("A server that is too busy for the page is asked again later")
    func busyServer() async throws {
        let server = try ScriptedServer { request in
            let isForPage = request.headers["accept"]?.contains("application/json") == false
            return .answer(isForPage ? 503 : 200, #"{"a":1}"#)
        }
        let cache = try galleries.open(server.url("/"))
        #expect(await galleries.failure(cache).contains("503"))
        server.stop()
    }

    @Test("JSON that Vitrine can read is not requested again", arguments: ["[]", #"[{"name":"a.jpg","type":"file"}]"#])
    func knownJSON(list: String) async throws {
        let server = try ScriptedServer { request in
            request.method == "GET" && request.path == "/photos/"
                ? .answer(200, list, headers: ["Content-Type: application/json"]) : .answer(404)
        }
        let cache = try galleries.open(server.url("/photos/"))
        _ = await galleries.failure(cache)
        #expect(server.requests.count { $0.method == "GET" && $0.path == "/photos/" } == 1)
        server.stop()
    }
}
