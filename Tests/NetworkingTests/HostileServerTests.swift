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

/// Servers of folders that fail, lie, or change their nature.
@Suite struct HostileServerTests {
    private let galleries: ListedGalleries

    init() throws { galleries = try ListedGalleries() }

    private static let tree = ["a.jpg", "2024/b.jpg", "2024/May 1/c.jpg", "2024/May 1/deep/d.jpg", "2025/e.jpg"]
    private static let html = ["Content-Type: text/html"]

    @Test(
        "A gallery file is read, although the server calls it a web page", arguments: ["text/html", "application/xml"])
    func mistypedFile(type: String) async throws {
        let xml = NetworkTest.list(["1", "2"])
        let server = try ScriptedServer { _ in .answer(200, xml, headers: ["Content-Type: \(type)"]) }
        let cache = try galleries.open(server.url("/gallery.php"))
        #expect(await galleries.failure(cache) == "")
        #expect(try galleries.ids(cache) == ["1", "2"])
        server.stop()
    }

    @Test("A gallery file may have any outermost element, also that of nginx's lists")
    func listElement() async throws {
        let xml = NetworkTest.list(["1", "2"]).replacingOccurrences(of: "album>", with: "list>")
        let server = try ScriptedServer { _ in .answer(200, xml, headers: ["Content-Type: application/xml"]) }
        let cache = try galleries.open(server.url("/gallery.xml"))
        #expect(await galleries.failure(cache) == "")
        #expect(try galleries.ids(cache) == ["1", "2"])
        server.stop()
    }

    @Test("A path that begins with two slashes leads to no other server", arguments: ["x", "apps/files/x"])
    func twoSlashes(path: String) async throws {
        let other = try ScriptedServer { _ in .answer(200, "{\"installed\":true,\"productname\":\"Nextcloud\"}") }
        let server = try ScriptedServer { r in
            r.method == "GET" && r.path.hasPrefix("//")
                ? .answer(200, "<html><body>No photos</body></html>", headers: Self.html) : .answer(404)
        }
        let cache = try galleries.open(server.url("//127.0.0.1:\(other.port)/\(path)"))
        #expect(await galleries.failure(cache) != "")
        #expect(server.requests.contains { $0.path.hasPrefix("//") && $0.path.hasSuffix("/status.php") })
        #expect(other.connectionCount == 0)
        server.stop()
        other.stop()
    }

    @Test("The sign-in page of a network does not replace a gallery file")
    func captivePortal() async throws {
        let portal = try ScriptedServer { r in
            r.method == "GET"
                ? .answer(
                    200, "<html><body><a href=\"logo.png\"><img src=\"logo-small.png\"></a></body></html>",
                    headers: ["Content-Type: text/html"]) : .answer(405)
        }
        let isCaptive = Mutex(false)
        let xml = NetworkTest.list(["1", "2"])
        let target = portal.url("/login")
        let server = try ScriptedServer { _ in
            isCaptive.withLock { $0 }
                ? .answer(302, "", headers: ["Location: \(target)"])
                : .answer(200, xml, headers: ["Content-Type: application/xml"])
        }
        let cache = try galleries.open(server.url("/gallery.xml"))
        #expect(await galleries.failure(cache) == "")
        isCaptive.withLock { $0 = true }
        _ = await galleries.failure(cache)
        #expect(try galleries.ids(cache) == ["1", "2"])
        isCaptive.withLock { $0 = false }
        _ = await galleries.failure(cache)
        #expect(try galleries.ids(cache) == ["1", "2"])
        server.stop()
        portal.stop()
    }

    @Test(
        "A page with a name or a query stays the gallery's page at later updates",
        arguments: ["/albums/summer.html", "/albums/index.php?album=5"])
    func pages(path: String) async throws {
        let server = try ScriptedServer { r in
            guard r.method == "GET" else { return .answer(405) }
            if r.path == path {
                return .answer(
                    200,
                    "<html><body><a href=\"s1.jpg\"><img src=\"t1.jpg\"></a><a href=\"s2.jpg\"><img src=\"t2.jpg\"></a></body></html>",
                    headers: Self.html)
            }
            return .answer(
                200, "<html><body><a href=\"winter.jpg\"><img src=\"w.jpg\"></a></body></html>", headers: Self.html)
        }
        let cache = try galleries.open(server.url(path))
        #expect(await galleries.failure(cache) == "")
        #expect(try galleries.ids(cache) == ["s1.jpg", "s2.jpg"])
        _ = await galleries.failure(cache)
        #expect(try galleries.ids(cache) == ["s1.jpg", "s2.jpg"])
        server.stop()
    }

    @Test("A folder that shows a sign-in page keeps its photos", arguments: [false, true])
    func signInPage(redirects: Bool) async throws {
        let server = try ListedServer(.html, Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        let page = [ScriptedServer.Step].answer(
            200, "<!DOCTYPE html><html><body>Please sign in</body></html>", headers: Self.html)
        server.answers.withLock {
            $0 =
                redirects
                ? ["2025/": .answer(302, "", headers: ["Location: /photos/login?next=2025"]), "login?next=2025": page]
                : ["2025/": page]
        }
        _ = await galleries.failure(cache)
        #expect(try galleries.ids(cache) == Self.tree.sorted())
    }

    @Test("After an update that broke off, an unchanged outermost folder hides no photos")
    func brokenOff() async throws {
        let server = try ListedServer(.html, Self.tree)
        server.headers.withLock { $0 = ["": ""] }
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        server.files.withLock { $0["z.jpg"] = "new" }
        server.answers.withLock { $0 = ["2024/": .answer(503), "2025/": .answer(503)] }
        _ = await galleries.failure(cache)
        server.answers.withLock { $0 = [:] }
        _ = await galleries.failure(cache)
        #expect(try galleries.ids(cache) == (Self.tree + ["z.jpg"]).sorted())
    }

    @Test("After an update that broke off, an equal validator hides no photos")
    func brokenOffBelowValidator() async throws {
        let server = try ListedServer(.webDAV(isClimbing: true), Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.assume(.nextcloud, of: cache)
        try await galleries.list(cache)
        server.files.withLock { $0["2025/new.jpg"] = "new" }
        server.answers.withLock { $0 = ["2025/": .answer(503)] }
        _ = await galleries.failure(cache)
        server.answers.withLock { $0 = [:] }
        _ = await galleries.failure(cache)
        #expect(try galleries.ids(cache).contains("2025/new.jpg"))
    }

    @Test("A folder that failed once is read again below an equal validator")
    func failedOnceBelowValidator() async throws {
        let server = try ListedServer(.webDAV(isClimbing: true), Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.assume(.nextcloud, of: cache)
        server.answers.withLock { $0 = ["2025/": .answer(500)] }
        try await galleries.list(cache)
        server.answers.withLock { $0 = [:] }
        _ = await galleries.failure(cache)
        #expect(try galleries.ids(cache) == Self.tree.sorted())
    }

    @Test("An unchanged list leaves the knowledge that the server is private")
    func staysPrivate() async throws {
        let server = try ListedServer(.html, Self.tree)
        server.headers.withLock { $0 = ["": ""] }
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        #expect(try cache.read { try $0.gallery() }.isPrivate == true)
        try await galleries.list(cache)
        #expect(try cache.read { try $0.gallery() }.isPrivate == true)
    }

    @Test("A folder that failed once is read again below an unchanged folder")
    func failedOnce() async throws {
        let server = try ListedServer(.html, Self.tree)
        server.headers.withLock { $0 = ["": ""] }
        server.answers.withLock { $0 = ["2025/": .answer(500)] }
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        server.answers.withLock { $0 = [:] }
        _ = await galleries.failure(cache)
        #expect(try galleries.ids(cache) == Self.tree.sorted())
    }

    @Test("A folder of a web server may become a gallery file")
    func becomesFile() async throws {
        let server = try ListedServer(.html, Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        server.answers.withLock {
            $0 = ["": .answer(200, NetworkTest.list(["1"]), headers: ["Content-Type: application/xml"])]
        }
        let text = await galleries.failure(cache)
        #expect(text == "")
        #expect(try galleries.ids(cache) == ["1"])
    }

    @Test("Years of months of days are a gallery")
    func calendar() async throws {
        var files: [String] = []
        for year in 2005...2022 { for month in 1...12 { files.append("\(year)/\(month)/1/p.jpg") } }
        let server = try ListedServer(.html, files)
        let cache = try galleries.open(server.url)
        #expect(await galleries.failure(cache) == "")
        #expect(try galleries.ids(cache).count == files.count)
    }

    @Test("Many unchanged folders and one without photos are a gallery")
    func unchangedFolders() async throws {
        let files = (100..<320).map { "\($0)/p.jpg" } + ["zz/notes.txt"]
        let server = try ListedServer(.html, files)
        server.headers.withLock {
            $0 = Dictionary(uniqueKeysWithValues: [("", "")] + (100..<320).map { ("\($0)/", "") })
        }
        let cache = try galleries.open(server.url)
        #expect(await galleries.failure(cache) == "")
        #expect(await galleries.failure(cache) == "")
    }

    @Test("Names count in WebDAV lists whose addresses have another scheme")
    func otherScheme() async throws {
        let server = try ScriptedServer { r in
            guard r.method == "PROPFIND" else { return .answer(405) }
            func one(_ p: String, _ k: String) -> String {
                "<d:response><d:href>https://127.0.0.1/dav/\(p)</d:href><d:propstat><d:prop><d:resourcetype>\(k)</d:resourcetype></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
            }
            return .answer(
                207,
                "<?xml version=\"1.0\"?><d:multistatus xmlns:d=\"DAV:\">\(one("", "<d:collection/>"))\(one("a.jpg", ""))</d:multistatus>",
                headers: ["Content-Type: application/xml"])
        }
        let cache = try galleries.open(server.url("/dav/"))
        _ = await galleries.failure(cache)
        #expect(try galleries.ids(cache) == ["a.jpg"])
        server.stop()
    }

    @Test("A share with a password leads to a question")
    func shareWithPassword() async throws {
        let server = try ScriptedServer { r in
            if r.method == "PROPFIND" { return .answer(401, "", headers: ["WWW-Authenticate: DummyBasic realm=\"x\""]) }
            return .answer(200, "<html><body>This share is password-protected</body></html>", headers: Self.html)
        }
        let cache = try galleries.open(server.url("/s/abcdefghijk"))
        let text = await galleries.failure(cache)
        #expect(text.contains("password is needed"), "\(text)")
        server.stop()
    }

    @Test("One folder with a password does not keep the others from opening")
    func folderWithPassword() async throws {
        let server = try ListedServer(.html, Self.tree)
        server.answers.withLock { $0 = ["2025/": .answer(401, "", headers: ["WWW-Authenticate: Basic realm=\"x\""])] }
        let cache = try galleries.open(server.url)
        _ = await galleries.failure(cache)
        #expect(try galleries.ids(cache).count == 4)
        #expect(try cache.read { try $0.gallery() }.lastSuccess != nil)
    }

    @Test("A page that ends too early in an answer without a length removes nothing")
    func cutPage() async throws {
        let isCut = Mutex(false)
        let server = try ScriptedServer { r in
            guard r.method == "GET" else { return .answer(405) }
            let rows = (1...(isCut.withLock { $0 } ? 2 : 5)).map { "<a href=\"\($0).jpg\">\($0).jpg</a>\n" }.joined()
            return [
                .send(
                    "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body><pre>" + rows
                        + (isCut.withLock { $0 } ? "" : "</pre></body></html>")), .close,
            ]
        }
        let cache = try galleries.open(server.url("/photos/"))
        try await galleries.list(cache)
        #expect(try galleries.ids(cache).count == 5)
        isCut.withLock { $0 = true }
        _ = await galleries.failure(cache)
        #expect(try galleries.ids(cache).count == 5)
        server.stop()
    }

    @Test("A page without an end tag is whole over HTTP/2, which marks the end of an answer")
    func pageOverHTTP2() async throws {
        let folder = TestFolder()
        let page = folder.write("page", "<html><body><pre><a href=\"1.jpg\">1.jpg</a>\n<a href=\"2.jpg\">2.jpg</a>\n")
        let pair = try #require(Fault.pairs[.good])
        let server = try FaultyServer.http2("page", pair, body: page)
        defer { withExtendedLifetime((folder, server)) {} }
        let galleries = try ListedGalleries(certificates: Fault.authority.certificate)
        let cache = try galleries.open(server.url("/photos/"))
        #expect(await galleries.failure(cache) == "")
        #expect(try galleries.ids(cache) == ["1.jpg", "2.jpg"])
    }

    @Test("An error page in place of the outermost folder removes nothing")
    func errorPage() async throws {
        let server = try ListedServer(.html, Self.tree)
        let cache = try galleries.open(server.url)
        try await galleries.list(cache)
        server.answers.withLock {
            $0 = [
                "": .answer(200, "<html><body>Maintenance <a href=\"help/\">Help</a></body></html>", headers: Self.html)
            ]
        }
        _ = await galleries.failure(cache)
        #expect(try galleries.ids(cache) == Self.tree.sorted())
    }

    @Test("Many unchanged folders and some without photos are a gallery")
    func moreUnchangedFolders() async throws {
        let files = (100..<320).map { "\($0)/p.jpg" } + (0..<30).map { "zz\($0)/notes.txt" }
        let server = try ListedServer(.html, files)
        server.headers.withLock {
            $0 = Dictionary(uniqueKeysWithValues: [("", "")] + (100..<320).map { ("\($0)/", "") })
        }
        let cache = try galleries.open(server.url)
        #expect(await galleries.failure(cache) == "")
        #expect(await galleries.failure(cache) == "")
    }
}
