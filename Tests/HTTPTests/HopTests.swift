import TestSupport
import Testing

@testable import HTTP

/// Redirects, and the requests after them.
@Suite(.ownThread) struct HopTests {
    private func hop(_ url: String) throws -> Hop {
        try Hop(HTTPRequest(url: url, destination: .stream, limit: 1), Curl())
    }

    @Test(arguments: [
        ("/b", "https://a.org/b", true), ("c?d=e#f", "https://a.org/x/c?d=e", true),
        ("?q", "https://a.org/x/y?q", true),
        ("//a.org/z", "https://a.org/z", true), ("HTTPS://A.org:443/z", "https://A.org:443/z", true),
        ("https://b.org/", "https://b.org/", false), ("https://a.org:444/", "https://a.org:444/", false),
        ("https://a.org.b.org/", "https://a.org.b.org/", false), ("/a b/ü", "https://a.org/a%20b/%c3%bc", true),
        ("https://u:p@a.org/z", "https://a.org/z", true), ("https://a.org@b.org/", "https://b.org/", false),
        ("../../../up", "https://a.org/up", true),
    ]) func leads(location: String, to text: String, isOwn: Bool) throws {
        let next = try #require(try hop("https://a.org/x/y").next(status: 302, location: location))
        #expect(next.url.text == text && next.isOwn == isOwn && next.number == 1)
    }

    @Test(arguments: [
        "http://a.org/", "file:///etc/passwd", "ftp://a.org/", "gopher://a.org", "dict://a.org/", "javascript:x",
        "https://", "https:///", "https://a.org:99999/", "https://a\u{7F}.org/", "https://[::1/", "\n",
        "https://a.org/" + String(repeating: "x", count: 1 << 16),
    ]) func leadsNowhere(location: String) throws {
        let first = try hop("https://a.org/")
        #expect(throws: HTTPError.forbiddenRedirect) { try first.next(status: 302, location: location) }
    }

    @Test func otherStatusesAreFinal() throws {
        let first = try hop("http://a.org/")
        for status in [200, 201, 206, 300, 304, 305, 306, 309, 404] {
            #expect(try first.next(status: status, location: "/b") == nil)
        }
        for status in [301, 302, 303, 307, 308] {
            #expect(try first.next(status: status, location: "/b") != nil)
            #expect(try first.next(status: status, location: nil) == nil)
            #expect(try first.next(status: status, location: "") == nil)
        }
    }

    @Test func tenRedirectsAreFollowed() throws {
        var hop = try hop("http://a.org/")
        for _ in 0..<10 { hop = try #require(try hop.next(status: 301, location: "/")) }
        #expect(throws: HTTPError.tooManyRedirects) { try hop.next(status: 301, location: "/") }
    }

    /// After another origin, even the first one gets no credentials: a stranger may have sent the redirect.
    @Test func credentialsDoNotReturnAfterAForeignHop() throws {
        var hop = try hop("http://a.org/")
        for (location, isOwn) in [("/b", true), ("http://b.org/", false), ("http://a.org/", false)] {
            hop = try #require(try hop.next(status: 302, location: location))
            #expect(hop.isOwn == isOwn)
        }
        // Another scheme is another origin too, even a better one.
        #expect(try self.hop("http://a.org/").next(status: 302, location: "https://a.org/")?.isOwn == false)
    }

    @Test(arguments: [
        "http://u:p@a.org/", "http://u@a.org/", "ftp://a.org/", "file:///etc/passwd", "a.org", "", "http://",
        "http://a.org/\r\nX: y", "http://a.org:0x50/", "http://a b/",
    ]) func requestsThatBeginNowhere(url: String) {
        #expect {
            try hop(url)
        } throws: {
            if case HTTPError.url = $0 { true } else { false }
        }
    }
}
