import Model
import TestSupport
import Testing

@testable import HTTP

/// The choice of proxies.
@Suite(.ownThread) struct ProxyChoiceTests {
    private func proxy(_ variables: [String: String], _ url: String = "http://a.org/") throws -> String? {
        try ProxyChoice { variables[$0] }.proxy(for: HTTPURL(url, Curl()))?.url
    }

    @Test func variables() throws {
        #expect(try proxy([:]) == nil)
        #expect(try proxy(["http_proxy": "p:3128"]) == "http://p:3128")
        // In a program started by a web server, its client could set this variable.
        #expect(try proxy(["HTTP_PROXY": "p:3128"]) == nil)
        #expect(try proxy(["https_proxy": "p:3128"]) == nil)
        for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            #expect(try proxy([name: "p:1"], "https://a.org/") == "http://p:1")
        }
        for name in ["all_proxy", "ALL_PROXY"] { #expect(try proxy([name: "socks5h://p"]) == "socks5h://p") }
        #expect(try proxy(["all_proxy": "socks://p:1080/"]) == "socks5://p:1080")
        #expect(try proxy(["http_proxy": "p:1", "all_proxy": "q:1"]) == "http://p:1")
        #expect(try proxy(["https_proxy": "p:1", "HTTPS_PROXY": "q:1"], "https://a.org/") == "http://p:1")
        #expect(try proxy(["http_proxy": "", "all_proxy": "q:1"]) == "http://q:1")
    }

    @Test(arguments: [
        ("*", true), ("a.org", true), (".a.org", true), ("A.ORG", true), ("org", true), ("b.org, a.org", true),
        ("b.org a.org", true), ("a.org.", true), ("xa.org", false), ("x.a.org", false), ("", false), (",", false),
        (".", false), ("*.org", false), ("b.org,*", false),
    ]) func exceptions(list: String, isException: Bool) throws {
        for name in ["no_proxy", "NO_PROXY"] {
            #expect(try (proxy(["http_proxy": "p:1", name: list]) == nil) == isException)
            #expect(try proxy(["http_proxy": "p:1", name: list], "http://b.a.org/") == nil || !isException)
        }
    }

    @Test(arguments: [
        ("10.1.2.3", true), ("10.0.0.0/8", true), ("10.1.2.0/24", true), ("10.1.3.0/24", false), ("10.1.2.0/33", false),
        ("10.1.2.0/x", false), ("0.0.0.0/0", true), ("::/0", false), ("3", false), ("2.3", false),
        ("10.1.2.2/31", true),
        ("10.1.2.4/30", false),
    ]) func addresses(list: String, isException: Bool) throws {
        #expect(try (proxy(["http_proxy": "p:1", "no_proxy": list], "http://10.1.2.3/") == nil) == isException)
        #expect(try (proxy(["http_proxy": "p:1", "no_proxy": list], "http://0xa.66051/") == nil) == isException)
    }

    @Test func ipv6Addresses() throws {
        for (list, isException) in [("fd00::/8", true), ("fd00::1", true), ("[fd00::1]", true), ("fe00::/8", false)] {
            #expect(try (proxy(["http_proxy": "p:1", "no_proxy": list], "http://[fd00::1]/") == nil) == isException)
        }
    }

    @Test(
        "The name of a configured proxy is known to the process that has no curl",
        arguments: [
            "p:1", "https://p", "http://me:p%40ss@Proxy.org:03128/", "[::1]:3128", "http://[2001:DB8:0::1]:80",
            "127.1:3128",
            "http://proxy.org:/", "me@p:1", "http://0x7f.1:8080", "socks://p:1080/", "SOCKS5://p",
        ])
    func names(value: String) throws {
        let proxy = try #require(Proxy(value, Curl()))
        #expect(ConfiguredProxies([value]).contains(proxy.url), "\(proxy.url)")
    }

    @Test func credentialsAreSeparatedFromTheAddress() throws {
        let curl = try Curl()
        let proxy = try #require(Proxy("http://me:p%40ss@proxy.org:3128/", curl))
        #expect(proxy.url == "http://proxy.org:3128" && proxy.credentials == .init(user: "me", password: "p@ss"))
        // curl may quote the URL with credentials in its messages.
        let told = proxy.url(telling: .init(user: "mé", password: "p@ss/%"))
        #expect(told == "http://m%c3%a9:p%40ss%2f%25@proxy.org:3128" && proxy.url(telling: nil) == proxy.url)
        let said = Proxy.withoutCredentials("Unsupported proxy '\(told)'", .init(user: "mé", password: "p@ss/%"))
        #expect(said == "Unsupported proxy 'http://proxy.org:3128'")
        #expect(Proxy("me@p:1", curl)?.credentials == .init(user: "me", password: ""))
        #expect(Proxy("p:1", curl)?.url == "http://p:1" && Proxy("p:1", curl)?.credentials == nil)
        #expect(Proxy("https://p", curl)?.url == "https://p" && Proxy("[::1]:3128", curl)?.url == "http://[::1]:3128")
    }

    @Test(arguments: [
        ("http://", HTTPError.unusableProxy), ("http://p:99999", .unusableProxy), ("p p", .unusableProxy),
        ("ftp://p:1", .proxyScheme("ftp")), ("FILE:///x", .proxyScheme("file")), ("me:s3cret@p://", .unusableProxy),
    ]) func unusable(text: String, error: HTTPError) {
        #expect(throws: error) { try proxy(["http_proxy": text]) }
    }
}
