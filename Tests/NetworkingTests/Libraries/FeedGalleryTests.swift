import Model
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Galleries that are feeds.
@Suite struct FeedGalleryTests {
    private let galleries: ListedGalleries
    private let server: ScriptedServer
    /// The present feed.
    private let feed: FeedText

    /// A text that the test changes while the server runs.
    private final class FeedText: Sendable {
        let text = Mutex("")
    }

    init() throws {
        galleries = try ListedGalleries()
        let feed = FeedText()
        self.feed = feed
        server = try ScriptedServer { request in
            let text = feed.text.withLock { $0 }
            let etag = "\"\(text.utf8.count)-\(text.utf8.reduce(7) { $0 &* 31 &+ Int($1) })\""
            if request.headers["if-none-match"] == etag { return .answer(304) }
            return .answer(200, text, headers: ["ETag: \(etag)", "Content-Type: application/rss+xml"])
        }
    }

    /// Changes the feed to posts with these numbers.
    private func post(_ numbers: ClosedRange<Int>) {
        let items = numbers.reversed().map { number in
            """
            <item><guid>post-\(number)</guid><title>Photo \(number)</title>
            <pubDate>Wed, \(number) Nov 2026 21:00:00 +0000</pubDate>
            <enclosure type="image/jpeg" url="/files/\(number).jpg"/></item>
            """
        }
        feed.text.withLock { $0 = "<rss version=\"2.0\"><channel>\(items.joined())</channel></rss>" }
    }

    @Test("A photo stays when newer ones push its post out of the feed")
    func window() async throws {
        post(10...12)
        let cache = try galleries.open(server.url("/me.rss"))
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == ["post-10", "post-11", "post-12"])
        post(12...13)
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == ["post-10", "post-11", "post-12", "post-13"])
        let record = try cache.read { try $0.gallery() }
        #expect(record.kind == .feed && record.photoCount == 4 && record.failure == nil)
        let photo = try #require(try cache.read { try $0.photo(galleryID: "post-13") })
        #expect(photo.name == "Photo 13" && photo.date == Timestamp(iso8601: "2026-11-13T21:00:00Z"))
    }

    @Test("An unchanged feed costs one request without a body")
    func unchanged() async throws {
        post(1...2)
        let cache = try galleries.open(server.url("/me.rss"))
        try await galleries.list(cache)
        try await galleries.list(cache)
        #expect(server.requests.count == 2)
        #expect(server.requests.last?.headers["if-none-match"] != nil)
        #expect(try galleries.ids(cache).count == 2)
    }

    @Test("An incomplete feed changes nothing")
    func incomplete() async throws {
        post(1...2)
        let cache = try galleries.open(server.url("/me.rss"))
        try await galleries.list(cache)
        post(1...3)
        feed.text.withLock { $0.removeLast(8) }
        #expect(await galleries.failure(cache) != "")
        #expect(try galleries.ids(cache) == ["post-1", "post-2"])
    }

    @Test(
        "Another document at the feed's address removes no photo",
        arguments: [
            "<html><body><a href=\"one.jpg\">one</a></body></html>", "<album></album>",
            "<album><photo id=\"x\" name=\"x\" date=\"2026-01-01T00:00:00Z\"><image kind=\"image\" srcURL=\"x\"/></photo></album>",
        ])
    func replaced(document: String) async throws {
        post(1...2)
        let cache = try galleries.open(server.url("/me.rss"))
        try await galleries.list(cache)
        feed.text.withLock { $0 = document }
        #expect(await galleries.failure(cache) != "")
        #expect(try galleries.ids(cache) == ["post-1", "post-2"])
        #expect(try cache.read { try $0.gallery() }.kind == .feed)
    }

    @Test("A feed without pictures is not a gallery")
    func empty() async throws {
        feed.text.withLock { $0 = "<rss version=\"2.0\"><channel><item><title>Words</title></item></channel></rss>" }
        let cache = try galleries.open(server.url("/me.rss"))
        #expect(await galleries.failure(cache).contains("a feed without pictures"))
    }

    @Test("A JSON Feed is a gallery")
    func json() async throws {
        feed.text.withLock {
            $0 = #"{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"a","image":"/a.jpg"}]}"#
        }
        let cache = try galleries.open(server.url("/feed.json"))
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == ["a"] && cache.read { try $0.gallery() }.kind == .feed)
    }

    // MARK: - Pages of blogs

    /// A server of a blog: a page at `/blog`, and the feed at `/blog/feed`.
    private func blog(_ page: String, others: [String: [ScriptedServer.Step]] = [:]) throws -> ScriptedServer {
        try ScriptedServer { [feed] request in
            if let answer = others[request.path] { return answer }
            switch (request.method, request.path) {
            case ("GET", "/blog"): return .answer(200, page, headers: ["Content-Type: text/html"])
            case ("GET", "/blog/feed"):
                return .answer(200, feed.text.withLock { $0 }, headers: ["Content-Type: application/rss+xml"])
            default: return .answer(404, "not here")
            }
        }
    }

    private static let page = """
        <!DOCTYPE html><html><head><link rel="alternate" type="application/rss+xml" href="/blog/feed">
        <link rel="alternate" type="application/rss+xml" title="Comments" href="/blog/comments"></head>
        <body><a href="/about">About</a></body></html>
        """

    @Test("The address of a blog opens the feed that its page names, within six requests")
    func ofBlog() async throws {
        post(10...11)
        let server = try blog(Self.page)
        let cache = try galleries.open(server.url("/blog"))
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == ["post-10", "post-11"])
        #expect(server.requests.count <= 6, "\(server.requests.map(\.path))")
        let source = try #require(try cache.read { try $0.source() })
        #expect(source.kind == .feed && source.root.text == server.url("/blog/feed"))
        // Later updates ask for the feed only.
        post(12...13)
        let before = server.requests.count
        try await galleries.list(cache)
        #expect(server.requests.dropFirst(before).map(\.path) == ["/blog/feed"])
        #expect(try galleries.ids(cache).count == 4)
    }

    @Test("A page leads to its feed although a tag after the feed's address has a very long value")
    func longValue() async throws {
        post(10...11)
        let data = "<div data-page='\(String(repeating: "x", count: 70_000))'></div>"
        let server = try blog(Self.page.replacing("<body>", with: "<body>\(data)"))
        let cache = try galleries.open(server.url("/blog"))
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == ["post-10", "post-11"])
    }

    @Test("A page with photos opens as a web gallery, although it names a feed")
    func pageWithPhotos() async throws {
        post(10...11)
        let server = try blog(Self.page.replacing("/about", with: "/blog/a.jpg"))
        let cache = try galleries.open(server.url("/blog"))
        try await galleries.list(cache)
        #expect(try cache.read { try $0.gallery() }.kind == .web && galleries.ids(cache) == ["a.jpg"])
    }

    @Test(
        "A page whose feed is missing, or has no pictures, says so",
        arguments: [
            (nil, "a web page without photos"), ("<html></html>", "a web page without photos"),
            ("<rss><channel><item><guid>1</guid></item></channel></rss>", "a feed without pictures"),
        ])
    func uselessFeed(text: String?, reason: String) async throws {
        let others: [String: [ScriptedServer.Step]] = text == nil ? ["/blog/feed": .answer(404, "not here")] : [:]
        feed.text.withLock { $0 = text ?? "" }
        let server = try blog(Self.page, others: others)
        let cache = try galleries.open(server.url("/blog"))
        #expect(await galleries.failure(cache).contains(reason))
        #expect(try cache.read { try $0.source() } == nil)
        // The next update looks again.
        post(1...2)
        let repaired = await galleries.failure(cache)
        #expect(text == nil || repaired.isEmpty)
    }

    @Test("A large site without photos stores nothing but its feed", arguments: [true, false])
    func largeSite(hasFeed: Bool) async throws {
        post(1...3)
        let folders = (0..<250).map { #"<a href="/blog/\#($0)/">\#($0)</a>"# }.joined()
        let head = hasFeed ? #"<link rel="alternate" type="application/rss+xml" href="/feed">"# : ""
        let server = try ScriptedServer { [feed] request in
            guard request.method == "GET" else { return .answer(405) }
            if request.path == "/feed" { return .answer(200, feed.text.withLock { $0 }) }
            guard request.path.hasPrefix("/blog") else { return .answer(404) }
            let page = request.path == "/blog" ? head + folders : #"<a href="/blog/">Up</a>"#
            return .answer(200, "<html><body>\(page)</body></html>", headers: ["Content-Type: text/html"])
        }
        let cache = try galleries.open(server.url("/blog"))
        let failure = await galleries.failure(cache)
        #expect(hasFeed ? failure.isEmpty : failure.contains("a web site without photos"))
        #expect(try cache.read { try $0.source() }?.kind == (hasFeed ? .feed : nil))
        #expect(try galleries.ids(cache).count == (hasFeed ? 3 : 0))
    }
}
