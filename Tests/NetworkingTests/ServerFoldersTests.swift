import Foundation
import HTTP
import Logging
import Model
import Session
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Galleries that are folders on a server.
@Suite struct ServerFoldersTests {
    private let galleries: ListedGalleries

    init() throws { galleries = try ListedGalleries() }

    private static let tree = ["a.jpg", "2024/b.jpg", "2024/May 1/c.jpg", "2024/May 1/deep/d.jpg", "2025/e.jpg"]

    @Test(
        "The photos of all folders come with one request a folder",
        arguments: [
            ListedServer.Form.html, .webDAV(isClimbing: false),
        ])
    func recursion(form: ListedServer.Form) async throws {
        let server = try ListedServer(form, Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == Self.tree.sorted())
        let record = try cache.read { try $0.gallery() }
        #expect(record.photoCount == 5 && record.lastSuccess == Timestamp(milliseconds: 42_000))
        let before = server.requests.count
        try await galleries.list(cache)
        #expect(server.requests.count == before + 5, "\(server.requests)")
        #expect(Set(server.requests.dropFirst(before)).count == 5)
    }

    @Test(
        "BEHAVIOURS 3.10: Videos are rows, and nothing but saving fetches them",
        arguments: [ListedServer.Form.html, .webDAV(isClimbing: false)])
    func videos(form: ListedServer.Form) async throws {
        let server = try ListedServer(form, ["a.heic", "a.mov", "b.mov", "c/d.mp4"])
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == ["a.heic", "b.mov", "c/d.mp4"])
        let (video, picture) = try cache.read { reader in
            (try #require(try reader.photo(galleryID: "b.mov")), try #require(try reader.photo(galleryID: "a.heic")))
        }
        #expect(video.isRemoteVideo && video.thumbnail.isAbsent && !picture.isRemoteVideo && !picture.isVideo)
        // Neither a list's rows nor the settings that fetch everything request a video.
        let thumbnail = Wish.Subject.picture(cache.id, video.key, .thumbnail)
        #expect(try ThumbnailRequest.make(for: thumbnail, in: galleries.context) == nil)
        #expect(try EmbeddedThumbnailRequest.make(for: thumbnail, in: galleries.context) == nil)
        #expect(try PhotoRequest.make(for: thumbnail, in: galleries.context) == nil)
        for rendition in Rendition.allCases {
            #expect(try cache.read { try $0.wanting(rendition, limit: 9, except: []) } == [picture.key])
        }
        let original = Wish.Subject.picture(cache.id, video.key, .original)
        #expect(try PhotoRequest.make(for: original, in: galleries.context) != nil)
    }

    @Test("The kind of server is remembered")
    func kind() async throws {
        let server = try ListedServer(.webDAV(isClimbing: false), Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        #expect(try cache.read { try $0.source() }?.kind == .webDAV)
        #expect(server.requests.prefix(2) == ["GET /photos/", "PROPFIND /photos/"])
        try await galleries.list(cache)
        #expect(server.requests.count { $0.hasPrefix("GET") } == 1)
    }

    @Test("A photo that goes, comes, is renamed, moved or replaced is noticed")
    func changes() async throws {
        let server = try ListedServer(.webDAV(isClimbing: false), Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        let before = try #require(try cache.read { try $0.photo(galleryID: "2025/e.jpg") })
        server.files.withLock { files in
            files["a.jpg"] = nil
            files["new.jpg"] = "new"
            files["2025/b.jpg"] = files.removeValue(forKey: "2024/b.jpg")
            files["2025/e.jpg"] = "second"
            files = files.filter { !$0.key.hasPrefix("2024/May 1/deep/") }
        }
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == ["2024/May 1/c.jpg", "2025/b.jpg", "2025/e.jpg", "new.jpg"])
        let after = try #require(try cache.read { try $0.photo(galleryID: "2025/e.jpg") })
        #expect(after.key == before.key && after.original.edition > before.original.edition)
    }

    @Test("A folder that the server calls unchanged keeps its photos, and the folders in it are still read")
    func unchangedFolder() async throws {
        let server = try ListedServer(.html, Self.tree)
        server.headers.withLock { $0 = ["": "", "2024/": "", "2024/May 1/": ""] }
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        server.files.withLock { $0["2025/f.jpg"] = "new" }
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == (Self.tree + ["2025/f.jpg"]).sorted())
    }

    @Test(
        "The date of a list is a validator only if it is older than the answer",
        arguments: [
            ("21:00:00", false), ("20:59:59", false), ("21:00:01", false), ("21:00:02", true), (nil, false),
        ] as [(String?, Bool)])
    func dateOfList(time: String?, isKept: Bool) async throws {
        let day = "Wed, 25 Nov 2026"
        let headers = ["Content-Type: text/html", "Last-Modified: \(day) 21:00:00 GMT"]
        let answer = [ScriptedServer.Step].answer(
            200, "<html><head><title>Index of /</title></head><body><a href=\"a.jpg\">a.jpg</a></body></html>",
            headers: headers + (time.map { ["Date: \(day) \($0) GMT"] } ?? []))
        let server = try ScriptedServer { _ in answer }
        let cache = try galleries.open(server.url("/photos/"))
        for _ in 0..<2 { try await galleries.list(cache) }
        #expect(try galleries.ids(cache) == ["a.jpg"])
        #expect(server.requests.map { $0.headers["if-modified-since"] != nil } == [false, isKept])
    }

    @Test("The first failure of an http address with status 400 mentions https")
    func badRequest() async throws {
        let isBroken = Mutex(true)
        let page = "<html><head><title>Index of /</title></head><body><a href=\"a.jpg\">a.jpg</a></body></html>"
        let server = try ScriptedServer { _ in
            if isBroken.withLock({ $0 }) { return .answer(400) }
            return .answer(200, page, headers: ["Content-Type: text/html"])
        }
        let cache = try galleries.open(server.url("/photos/"))
        let advice = "; if it requires https, begin the address with https://"
        #expect(await galleries.failure(cache) == "the server answered 400\(advice)")
        isBroken.withLock { $0 = false }
        try await galleries.list(cache)
        isBroken.withLock { $0 = true }
        #expect(await galleries.failure(cache) == "the server answered 400")
    }

    @Test("Vitrine sends fewer requests to a busy server, and reads all folders in one update", arguments: [429, 503])
    func busy(status: Int) async throws {
        let tree = (10..<50).map { "\($0)/a.jpg" }
        let server = try ListedServer(.html, tree)
        let refusal: [ScriptedServer.Step] = .answer(status, headers: ["Retry-After: 7"])
        server.quota.withLock { $0 = (10, refusal) }
        galleries.clock.whileWaiting { [server] in server.quota.withLock { $0 = (10, refusal) } }
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == tree)
        // Sixteen at a time, then eight, four and two.
        #expect(galleries.clock.waits == Array(repeating: .seconds(7), count: 3))
        #expect(server.requests.count <= 66, "\(server.requests.count)")
        #expect(try cache.read { try $0.gallery() }.failure == nil)
    }

    @Test("A server that stays busy ends the update, and the folders that were read are stored")
    func alwaysBusy() async throws {
        let server = try ListedServer(.html, ["a.jpg", "1/b.jpg", "2/c.jpg", "3/d.jpg"])
        server.quota.withLock { $0 = (1, .answer(429)) }
        let cache = try galleries.open(server.url)
        #expect(await galleries.failure(cache) == "the server answered 429 (too many requests)")
        #expect(galleries.clock.waits == [1, 2, 4, 8].map(Duration.seconds))
        #expect(try galleries.ids(cache).count == 2)
    }

    @Test("If a bucket is busy between two pages, only the later page is requested again")
    func busyBetweenPages() async throws {
        let keys = ["a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"]
        let bucket = try StandInBucket(StandInBucket.Rules(keys: keys))
        bucket.rules.withLock { $0.pages = ["2": StandInBucket.refusal(503, "SlowDown")] }
        galleries.clock.whileWaiting { [bucket] in bucket.rules.withLock { $0.pages = [:] } }
        let cache = try galleries.open(bucket.url())
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == keys)
        #expect(galleries.clock.waits == [.seconds(1)])
        #expect(bucket.requests.count { $0.path.contains("continuation-token=2") } == 2)
        #expect(bucket.requests.count { $0.path.contains("continuation-token=4") } == 1)
        #expect(try cache.read { try $0.gallery() }.skipped == 0)
    }

    @Test("A server that wants a long wait ends the update at once")
    func longWait() async throws {
        let server = try ListedServer(.html, ["a.jpg", "1/b.jpg"])
        server.quota.withLock { $0 = (0, .answer(429, headers: ["Retry-After: 61"])) }
        let cache = try galleries.open(server.url)
        #expect(await galleries.failure(cache) == "the server answered 429 (too many requests)")
        #expect(try galleries.clock.waits.isEmpty && galleries.ids(cache) == ["a.jpg"])
    }

    @Test("On a server whose validators climb, no change costs one request, and a change deep inside costs its path")
    func climbing() async throws {
        let server = try ListedServer(.webDAV(isClimbing: true), Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.assume(.nextcloud, of: cache)
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == Self.tree.sorted())
        var before = server.requests.count
        try await galleries.list(cache)
        #expect(server.requests.count == before + 1)
        before = server.requests.count
        server.files.withLock { $0["2024/May 1/deep/d.jpg"] = "second" }
        try await galleries.list(cache)
        #expect(server.requests.count == before + 1 + 4, "\(server.requests.dropFirst(before))")
        #expect(try galleries.ids(cache) == Self.tree.sorted())
        before = server.requests.count
        server.files.withLock { $0["2024/May 1/deep/d.jpg"] = nil }
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == Self.tree.filter { !$0.contains("deep") }.sorted())
    }

    @Test(
        "On such a server, the next update reads the folders that the last one could not read",
        arguments: [500, nil])
    func climbingPastTrouble(status: Int?) async throws {
        let server = try ListedServer(.webDAV(isClimbing: true), Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.assume(.nextcloud, of: cache)
        try await galleries.list(cache)
        server.files.withLock { files in
            files["2024/May 1/deep/new.jpg"] = "new"
            files["2025/f.jpg"] = "new"
        }
        server.answers.withLock { $0 = ["2024/May 1/deep/": status.map { .answer($0, "no") } ?? [.reset]] }
        try? await galleries.list(cache)
        #expect(try !galleries.ids(cache).contains("2024/May 1/deep/new.jpg"))
        server.answers.withLock { $0 = [:] }
        let before = server.requests.count
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == (Self.tree + ["2024/May 1/deep/new.jpg", "2025/f.jpg"]).sorted())
        // One for nothing, and those of the path.
        #expect(server.requests.count <= before + 1 + 4, "\(server.requests.dropFirst(before))")
        try await galleries.list(cache)
        #expect(server.requests.last == "PROPFIND /photos/" && server.requests.count <= before + 1 + 4 + 1)
    }

    @Test("A folder that cannot be read keeps its photos, also if the server lists it and then denies it")
    func unreadable() async throws {
        let server = try ListedServer(.html, Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        server.answers.withLock { $0 = ["2024/": .answer(403, "no"), "2025/": .answer(404, "gone")] }
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == Self.tree.sorted())
        #expect(try cache.read { try $0.gallery() }.skipped == 2)
    }

    @Test("If the server goes in the middle of an update, the changes of the folders read before are kept")
    func interruption() async throws {
        let server = try ListedServer(.html, Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        server.files.withLock { files in
            files["a.jpg"] = nil
            files["2025/e.jpg"] = nil
            files["2025/f.jpg"] = "new"
        }
        server.answers.withLock { $0 = ["2024/": [.reset], "2025/": [.reset]] }
        await #expect(throws: (any Error).self) { try await galleries.list(cache) }
        #expect(try galleries.ids(cache) == Self.tree.filter { $0 != "a.jpg" }.sorted())
        server.answers.withLock { $0 = [:] }
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == ["2024/May 1/c.jpg", "2024/May 1/deep/d.jpg", "2024/b.jpg", "2025/f.jpg"])
    }

    @Test(
        "The folders that an interrupted update did not reach stay, though the outer folder is unchanged",
        arguments: ["2024/", "2025/"])
    func interruptionBelowUnchangedFolder(folder: String) async throws {
        let server = try ListedServer(.html, Self.tree)
        server.headers.withLock { $0 = ["": ""] }
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        server.answers.withLock { $0 = [folder: [.reset]] }
        await #expect(throws: (any Error).self) { try await galleries.list(cache) }
        server.answers.withLock { $0 = [:] }
        for _ in 0..<2 {
            try await galleries.list(cache)
            #expect(try galleries.ids(cache) == Self.tree.sorted())
        }
    }

    @Test("A new folder that cannot be read at first is read by the next update")
    func unreadableNewFolder() async throws {
        let server = try ListedServer(.html, Self.tree)
        server.headers.withLock { $0 = ["": ""] }
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        server.files.withLock { $0["2026/f.jpg"] = "new" }
        server.answers.withLock { $0 = ["2026/": .answer(403, "no")] }
        try await galleries.list(cache)
        server.answers.withLock { $0 = [:] }
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == (Self.tree + ["2026/f.jpg"]).sorted())
    }

    @Test("A list that is cut off removes nothing")
    func cut() async throws {
        let server = try ListedServer(.webDAV(isClimbing: false), Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        let half = "<?xml version=\"1.0\"?><d:multistatus xmlns:d=\"DAV:\"><d:response><d:href>/photos/</d:href>"
        server.answers.withLock { $0 = ["": .answer(207, half, headers: ["Content-Type: application/xml"])] }
        await #expect(throws: (any Error).self) { try await galleries.list(cache) }
        #expect(try galleries.ids(cache) == Self.tree.sorted())
    }

    @Test("An emptied outermost folder is an error, because a disk may be missing there")
    func emptyRoot() async throws {
        let server = try ListedServer(.html, Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        server.files.withLock { $0 = [:] }
        await #expect(throws: (any Error).self) { try await galleries.list(cache) }
        #expect(try galleries.ids(cache) == Self.tree.sorted())
    }

    @Test(
        "A folder without a link to its parent folder is empty on servers of Python and Go, and unreadable on others",
        arguments: [
            ("<html><head><title>Sign in</title></head><body><ul></ul></body></html>", false),
            ("<html><head><title>Directory listing for /2025/</title></head><body><ul></ul></body></html>", true),
            ("<pre>Not found</pre>\n", false), ("<p>Sign in</p>\n<pre>\n</pre>\n", false), ("<pre>\n</pre>\n", true),
            ("<!doctype html>\n<meta name=\"viewport\" content=\"width=device-width\">\n<pre>\n</pre>\n", true),
        ])
    func emptyWithoutParentLink(page: String, isEmpty: Bool) async throws {
        let server = try ListedServer(.html, Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        server.answers.withLock { $0 = ["2025/": .answer(200, page, headers: ["Content-Type: text/html"])] }
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == Self.tree.filter { !isEmpty || $0 != "2025/e.jpg" }.sorted())
        #expect(try cache.read { try $0.gallery() }.skipped == (isEmpty ? 0 : 1))
    }

    @Test("A folder whose JSON list is null is empty, and the outermost folder keeps its photos")
    func null() async throws {
        let server = try ListedServer(.html, Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        let null = { (type: String) in
            [ScriptedServer.Step].answer(200, "null\n", headers: ["Content-Type: \(type)"])
        }
        // Another type is not that of a list.
        for (type, gone) in [("text/plain", []), ("application/json; charset=utf-8", ["2025/e.jpg"])] {
            server.answers.withLock { $0 = ["2025/": null(type)] }
            try await galleries.list(cache)
            #expect(try galleries.ids(cache) == Self.tree.filter { !gone.contains($0) }.sorted(), "\(type)")
            #expect(try cache.read { try $0.gallery() }.skipped == (gone.isEmpty ? 1 : 0), "\(type)")
        }
        server.answers.withLock { $0 = ["": null("application/json")] }
        await #expect(throws: (any Error).self) { try await galleries.list(cache) }
        #expect(try galleries.ids(cache) == Self.tree.filter { $0 != "2025/e.jpg" }.sorted())
    }

    @Test("If Caddy may have cut a folder’s list, no photo is removed, and the folder counts as skipped")
    func cutByCaddy() async throws {
        let server = try ListedServer(.html, ["sub/x.jpg"])
        func put(_ numbers: Range<Int>, _ folders: [String] = []) {
            let facts = #""size":1,"mod_time":"2026-11-25T21:00:00Z""#
            let entries =
                folders.map { #"{"name":"\#($0)/","url":"./\#($0)/","is_dir":true,\#(facts)}"# }
                + numbers.map { #"{"name":"\#($0).jpg","url":"./\#($0).jpg","is_dir":false,\#(facts)}"# }
            let list = "[" + entries.joined(separator: ",") + "]\n"
            server.answers.withLock { $0 = ["": .answer(200, list, headers: ["Content-Type: application/json"])] }
        }
        let cache = try galleries.open(server.url)
        func skipped() throws -> Int { try cache.read { try $0.gallery() }.skipped }
        put(1..<10_000, ["sub"])
        try await galleries.list(cache)
        #expect(try galleries.ids(cache).count == 10_000 && skipped() == 1)
        put(2..<10_002)
        try await galleries.list(cache)
        #expect(try galleries.ids(cache).count == 10_002 && skipped() == 1)
        // A shorter list is whole.
        put(2..<100)
        try await galleries.list(cache)
        #expect(try galleries.ids(cache).count == 98 && skipped() == 0)
    }

    @Test("Links that form a loop end at once")
    func loop() async throws {
        let server = try ListedServer(.html, Self.tree)
        server.links.withLock { $0 = ["2024/again/": ""] }
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        #expect(try galleries.ids(cache) == (Self.tree + ["2024/again/a.jpg"]).sorted())
    }

    /// A WebDAV server's list of a folder with one photo.
    private static let davList = [ScriptedServer.Step].answer(
        207,
        """
        <multistatus xmlns='DAV:'><response><href>/dav/a.jpg</href><propstat><prop><resourcetype/></prop>\
        <status>HTTP/1.1 200 OK</status></propstat></response></multistatus>
        """, headers: ["Content-Type: application/xml"])

    @Test("A WebDAV server that answers browsers with a sentence is found")
    func sentence() async throws {
        let server = try ScriptedServer { request in
            let sentence = "This is a WebDAV interface. Other clients than browsers can open it."
            switch (request.method, request.path) {
            case ("GET", "/dav/"): return .answer(200, sentence, headers: ["Content-Type: text/html"])
            case ("PROPFIND", "/dav/"):
                return Self.davList
            default: return .answer(404)
            }
        }
        let cache = try galleries.open(server.url("/dav/"))
        #expect(await galleries.failure(cache) == "")
        #expect(try galleries.ids(cache) == ["a.jpg"] && cache.read { try $0.source() }?.kind == .webDAV)
    }

    @Test(
        "Behind a page without photos, a WebDAV server may ask for a password, unless the page names a feed",
        arguments: [false, true])
    func closedWebDAV(hasFeed: Bool) async throws {
        let expected = "Basic " + Data("me:s3cret".utf8).base64EncodedString()
        let head = hasFeed ? "<link rel=\"alternate\" type=\"application/rss+xml\" href=\"/feed\">" : ""
        let feed = """
            <rss version="2.0"><channel><item><guid>post</guid><title>A photo</title>
            <pubDate>Wed, 25 Nov 2026 21:00:00 +0000</pubDate>
            <enclosure type="image/jpeg" url="/a.jpg"/></item></channel></rss>
            """
        let server = try ScriptedServer { request in
            switch (request.method, request.path) {
            case ("GET", "/dav/"):
                let page = "<html><head>\(head)</head><body>You are not signed in.</body></html>"
                return .answer(200, page, headers: ["Content-Type: text/html"])
            case ("GET", "/feed"): return .answer(200, feed)
            case ("PROPFIND", "/dav/"):
                guard request.headers["authorization"] == expected else {
                    return .answer(401, headers: ["WWW-Authenticate: Basic realm=\"photos\""])
                }
                return Self.davList
            default: return .answer(404)
            }
        }
        let cache = try galleries.open(server.url("/dav/"))
        let failure = await galleries.failure(cache)
        #expect(failure == (hasFeed ? "" : "a password is needed for 127.0.0.1:\(server.port)"))
        guard !hasFeed else {
            #expect(try galleries.ids(cache) == ["post"])
            return
        }
        let signedIn = try galleries.open(server.url("/dav/").replacing("://", with: "://me:s3cret@"))
        #expect(await galleries.failure(signedIn) == "")
        #expect(try galleries.ids(signedIn) == ["a.jpg"] && signedIn.read { try $0.source() }?.kind == .webDAV)
    }

    @Test("A subfolder with a sign-in that Vitrine does not know is skipped, and the others are read")
    func unknownSignIn() async throws {
        func page(_ names: String...) -> [ScriptedServer.Step] {
            let links = names.map { "<a href=\"\($0)\">\($0)</a>\n" }.joined()
            return .answer(
                200, "<html><body><pre><a href=\"../\">../</a>\n\(links)</pre></body></html>",
                headers: ["Content-Type: text/html"])
        }
        let (root, inner) = (page("closed/", "open/"), page("a.jpg"))
        let server = try ScriptedServer { request in
            switch request.path {
            case "/photos/": root
            case "/photos/open/": inner
            case "/dav/" where request.method == "GET": .answer(405)
            default: .answer(401, headers: ["WWW-Authenticate: NTLM"])
            }
        }
        let cache = try galleries.open(server.url("/photos/"))
        #expect(await galleries.failure(cache) == "")
        #expect(try galleries.ids(cache) == ["open/a.jpg"])
        // The failure of a WebDAV server names its sign-ins.
        let closed = try galleries.open(server.url("/dav/"))
        #expect(await galleries.failure(closed).contains("(ntlm)"))
        server.stop()
    }

    @Test("A web page without photos is no gallery, and the error says so")
    func noGallery() async throws {
        let server = try ListedServer(.html, ["notes.txt"])
        let cache = try galleries.open(server.url)
        await #expect {
            try await galleries.list(cache)
        } throws: {
            "\(RequestError($0).failure)".contains("web page")
        }
        #expect(server.requests.count <= 6, "\(server.requests)")
        #expect(try cache.read { try $0.source() } == nil)
    }
}
