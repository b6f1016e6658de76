import Foundation
import Logging
import Numbers
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// Credentials, and the servers that get them.
@Suite(.ownThread) struct AuthenticationTests {
    private let log = Log(level: .debug)
    private let folder = TestFolder()

    private static let basic = "Basic " + Data("me:s3cret".utf8).base64EncodedString()

    private func client(_ change: (inout HTTPConfiguration) -> Void = { _ in }) -> HTTPClient {
        var configuration = HTTPConfiguration(connectTimeout: 60, stallTimeout: 60)
        change(&configuration)
        return HTTPClient(configuration, log: log)
    }

    private func answer(
        _ url: String, as credentials: HTTPRequest.Credentials? = .init(user: "me", password: "s3cret"),
        isNamedByUser: Bool = true, isUnasked: Bool = false, with client: HTTPClient
    ) async throws -> HTTPResponse {
        var answer: HTTPResponse?
        var request = HTTPRequest(
            url: url, credentials: credentials, destination: .stream, limit: 1 << 20, isNamedByUser: isNamedByUser)
        request.sendsPasswordUnasked = isUnasked
        for try await event in client.transfer(request) {
            if case .response(let response) = event { answer = response }
        }
        return try #require(answer)
    }

    private func guarded(_ challenge: String = "Basic realm=\"photos\"") throws -> ScriptedServer {
        try ScriptedServer { request in
            request.headers["authorization"] == Self.basic
                ? .answer(200, "in") : .answer(401, headers: ["WWW-Authenticate: \(challenge)"])
        }
    }

    @Test("BEHAVIOURS 6.4: the exchanges with one host are logged without secrets, whatever the level")
    func loggedExchanges() async throws {
        let server = try ScriptedServer { request in
            request.path == "/away"
                ? .answer(302, headers: ["Location: http://me:s3cret@127.0.0.1/in?token=s3cret#code=s3cret"])
                : .answer(200, "in", headers: ["Set-Cookie: id=s3cret\r\n more=s3cret", "X-Plain: shown"])
        }
        log.setLevel(.error)
        let client = client()
        _ = try await answer(server.url("/quiet"), with: client)
        #expect(log.entries.isEmpty)
        log.setExchangeHost("127.0.0.1")
        for credentials in [
            .init(user: "me", password: "s3cret"), .init(bearer: "s3cret"), .init(header: "X-Own", value: "s3cret"),
        ] as [HTTPRequest.Credentials] {
            _ = try await answer(server.url("/p?key=s3cret"), as: credentials, isUnasked: true, with: client)
        }
        let lines = log.entries.map(\.message)
        #expect(lines.count == 6 && lines.count { $0.contains("> GET /p?key=… HTTP/1.1 | ") } == 3, "\(lines)")
        #expect(lines.count { $0.contains("< HTTP/1.1 200 ") && $0.contains("X-Plain: shown") } == 3)
        #expect(lines.contains { $0.contains("Authorization: …") } && lines.contains { $0.contains("X-Own: …") })
        log.clear()
        // The address after the redirect has no such path on the server.
        _ = await client.transfer(
            HTTPRequest(url: server.url("/away"), destination: .stream, limit: 1 << 20)
        ).failure()
        #expect(log.entries.contains { $0.message.contains("Location: http://…@127.0.0.1/in?token=…#code=…") })
        #expect(!log.entries.contains { $0.message.contains("s3cret") } && !lines.contains { $0.contains("s3cret") })
        log.setExchangeHost("example.org")
        log.clear()
        _ = try await answer(server.url("/quiet"), with: client)
        #expect(log.entries.isEmpty)
    }

    @Test(
        "BEHAVIOURS 5.10: the host of a client certificate may have any spelling",
        arguments: [
            ("Example.ORG", "https://example.org/", true), ("München.example", "https://xn--mnchen-3ya.example/", true),
            ("::1", "https://[::1]:8443/", true), ("[::1]", "https://[::1]/", true),
            ("127.1", "https://127.0.0.1/", true),
            ("example.org", "http://example.org/", false), ("example.org", "https://www.example.org/", false),
            ("an example.org", "https://example.org/", false), ("", "https://example.org/", false),
        ])
    func certificateHosts(host: String, url: String, isMeant: Bool) throws {
        let request = HTTPRequest(url: url, destination: .stream, limit: 1, isNamedByUser: true)
        let plan = try ExchangePlan(request, Hop(request, Curl()), HTTPConfiguration(), AuthenticationMemory())
        #expect(ClientCertificate(file: "/c", key: "/k", host: host).isMeant(for: plan) == isMeant)
    }

    @Test("BEHAVIOURS 5.10: a password needs one challenge and is then sent at once")
    func learned() async throws {
        let (server, client) = (try guarded(), client())
        for path in ["/1", "/2", "/3"] { #expect(try await answer(server.url(path), with: client).status == 200) }
        #expect(server.requests.map(\.path) == ["/1", "/1", "/2", "/3"])
    }

    /// curl does not know the name that Nextcloud gives to Basic.
    @Test("BEHAVIOURS 5.10: a password is sent if the server gives Basic another name")
    func disguised() async throws {
        let (server, client) = (try guarded("DummyBasic realm=\"photos\""), client())
        for path in ["/1", "/2"] { #expect(try await answer(server.url(path), with: client).status == 200) }
        #expect(server.requests.map(\.path) == ["/1", "/1", "/2"])
        for (credentials, count) in [(.init(user: "me", password: "wrong"), 2), (nil, 1)]
            as [(HTTPRequest.Credentials?, Int)]
        {
            let server = try guarded("DummyBasic realm=\"photos\"")
            let refused = try await answer(server.url("/"), as: credentials, with: self.client())
            #expect(refused.status == 401 && refused.challenges.map(\.scheme) == ["basic"])
            #expect(server.requests.count == count)
        }
    }

    @Test("BEHAVIOURS 5.10: a password is sent unasked only where a request says so, and not after a redirect")
    func unasked() async throws {
        let other = try ScriptedServer { _ in .answer(401) }
        let server = try ScriptedServer { request in
            if request.path == "/away" { return .answer(302, headers: ["Location: \(other.url("/"))"]) }
            return .answer(request.headers["authorization"] == Self.basic ? 200 : 401)
        }
        let client = client()
        for (path, isUnasked, status) in [("/", true, 200), ("/", false, 401), ("/away", true, 401)] {
            let answer = try await answer(server.url(path), isUnasked: isUnasked, with: client)
            #expect(answer.status == status, "\(path)")
        }
        #expect(server.requests.map { $0.headers["authorization"] } == [Self.basic, nil, Self.basic])
        #expect(other.requests.map { $0.headers["authorization"] } == [nil])
    }

    @Test("BEHAVIOURS 5.10: a challenge names the server and the realm")
    func challenges() async throws {
        let (server, client) = (try guarded("Digest realm=\"d\", nonce=\"n\", Basic realm=\"b\""), client())
        let none = try await answer(server.url("/"), as: nil, with: client)
        let expected = [("digest", "d"), ("basic", "b")]
            .map { HTTPChallenge(isProxy: false, scheme: $0.0, realm: $0.1) }
        #expect(none.status == 401 && none.challenges == expected)
        let wrong = try await answer(server.url("/"), as: .init(user: "me", password: "x"), with: client)
        #expect(wrong.status == 401 && wrong.challenges == expected)
        // Without a proxy, a 407 asks no question.
        let fake = try ScriptedServer { _ in .answer(407, headers: ["Proxy-Authenticate: Basic realm=\"x\""]) }
        let answer = try await answer(fake.url("/"), with: client)
        #expect(answer.status == 407 && answer.challenges.isEmpty && fake.requests.count == 1)
    }

    @Test("BEHAVIOURS 5.10: a token is sent to its own origin only")
    func bearer() async throws {
        let other = try ScriptedServer { _ in .answer(200) }
        let server = try ScriptedServer { request in
            request.path == "/" ? .answer(200) : .answer(302, headers: ["Location: \(other.url("/"))"])
        }
        for path in ["/", "/away"] {
            _ = try await answer(server.url(path), as: .init(bearer: "t0ken"), with: client())
        }
        #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer t0ken", "Bearer t0ken"])
        #expect(other.requests.map { $0.headers["authorization"] } == [nil])
    }

    @Test func negotiateIsNotTried() {
        let offer = { (schemes: String...) in schemes.map { HTTPChallenge(isProxy: false, scheme: $0) } }
        let first = Authentication(known: nil)
        #expect(first.methods == [.basic, .digest])
        // Another method does not make a wrong password right.
        #expect(first.next(offered: offer("negotiate", "basic")) == nil)
        #expect(first.next(offered: offer("negotiate", "ntlm")) == nil)
        #expect(first.next(offered: offer("ntlm", "bearer")) == nil)
        // A server that has changed its methods.
        let known = Authentication(known: .basic)
        #expect(known.next(offered: offer("digest"))?.methods == .digest && known.next(offered: offer("basic")) == nil)
        #expect(known.learned(fromOffer: []) == nil && first.learned(fromOffer: [.basic]) == .basic)
        #expect(first.learned(fromOffer: [.basic, .digest]) == nil)
    }

    @Test("BEHAVIOURS 5.10: netrc is used for its own host, without other credentials")
    func netrc() async throws {
        let netrc = folder.write("netrc", "machine 127.0.0.1 login me password s3cret\n")
        let (server, client) = (try guarded(), client { $0.netrc = netrc })
        #expect(try await answer(server.url("/"), as: nil, with: client).status == 200)
        let wrong = try await answer(server.url("/"), as: .init(user: "me", password: "x"), with: client)
        #expect(wrong.status == 401)
        let unlisted = server.url("/").replacingOccurrences(of: "127.0.0.1", with: "localhost")
        #expect(try await answer(unlisted, as: nil, with: client).status == 401)
        // A redirect in the clear may lead anywhere.
        let away = try ScriptedServer { _ in .answer(302, headers: ["Location: \(server.url("/"))"]) }
        #expect(try await answer(away.url("/"), as: nil, with: client).status == 401)
        let missing = self.client { $0.netrc = folder.path("missing") }
        #expect(try await answer(server.url("/"), as: nil, with: missing).status == 401)
    }

    @Test(
        "BEHAVIOURS 5.10: netrc is not used for hosts that only a list names",
        arguments: ["machine 127.0.0.1", "default"])
    func netrcAndStrangers(entry: String) async throws {
        let netrc = folder.write("netrc", "\(entry) login me password s3cret\n")
        let (server, client) = (try guarded(), client { $0.netrc = netrc })
        #expect(try await answer(server.url("/"), as: nil, isNamedByUser: false, with: client).status == 401)
        #expect(server.requests.allSatisfy { $0.headers["authorization"] == nil })
        #expect(try await answer(server.url("/"), as: nil, with: client).status == 200)
    }

    /// A proxy may challenge a forwarded request or a tunnel.
    @Test(
        "BEHAVIOURS 5.10: a proxy’s challenge is answered and told from the server’s", arguments: ["http", "https"])
    func proxies(scheme: String) async throws {
        let proxy = try ScriptedServer { request in
            request.headers["proxy-authorization"] == Self.basic
                ? .answer(request.method == "CONNECT" ? 502 : 200)
                : .answer(407, "no", headers: ["Proxy-Authenticate: Basic realm=\"way out\""])
        }
        let address = "127.0.0.1:\(proxy.port)"
        let url = "\(scheme)://photos.test/"
        let asked = [HTTPChallenge(isProxy: true, scheme: "basic", realm: "way out")]
        for (address, isIn) in [(address, false), ("me:x@" + address, false), ("me:s3cret@" + address, true)] {
            let client = client { $0.proxies = ProxyChoice { $0 == "all_proxy" ? address : nil } }
            do {
                let answer = try await answer(url, as: nil, with: client)
                #expect(answer.status == (isIn ? 200 : 407) && answer.challenges == (isIn ? [] : asked))
            } catch {
                #expect(isIn && scheme == "https" && error as? HTTPError == .proxyRefused(502))
            }
        }
        if scheme == "http" {
            let known = client { $0.proxies = ProxyChoice { $0 == "all_proxy" ? "me:s3cret@" + address : nil } }
            for _ in 0..<2 { #expect(try await answer(url, as: nil, with: known).status == 200) }
            // The second time the password is sent at once.
            #expect(
                proxy.requests.suffix(3).map { $0.headers["proxy-authorization"] } == [nil, Self.basic, Self.basic])
        }
        // The proxy's and the server's credentials are not mixed up.
        #expect(proxy.requests.allSatisfy { $0.headers["authorization"] == nil })
        #expect(!log.entries.contains { $0.message.contains("s3cret") })
    }

    /// Credentials entered for the proxy's name come before those in its address.
    @Test(
        "BEHAVIOURS 5.10: a proxy gets its own credentials only", arguments: ["http", "https"])
    func knownProxies(scheme: String) async throws {
        let proxy = try ScriptedServer { request in
            request.headers["proxy-authorization"] == Self.basic
                ? .answer(request.method == "CONNECT" ? 502 : 200)
                : .answer(407, "no", headers: ["Proxy-Authenticate: Basic realm=\"way out\""])
        }
        let name = "http://127.0.0.1:\(proxy.port)"
        let known = Mutex<[String: HTTPRequest.Credentials]>([:])
        let refused = Mutex<[HTTPRequest.Credentials]>([])
        let client = client {
            $0.proxies = ProxyChoice { $0 == "all_proxy" ? "me:old@127.0.0.1:\(proxy.port)" : nil }
            $0.proxyCredentials = ProxyCredentials(known: { proxy in known.withLock { $0[proxy] } }) { said, proxy in
                #expect(proxy == name)
                refused.withLock { $0.append(said) }
            }
        }
        let old = HTTPRequest.Credentials(user: "me", password: "old")
        let wrong = HTTPRequest.Credentials(user: "me", password: "x")
        for (place, credentials, expected) in [("http://127.0.0.1:1", wrong, old), (name, wrong, wrong)] {
            known.withLock { $0[place] = credentials }
            let answer = try await answer("\(scheme)://photos.test/", as: nil, with: client)
            #expect(answer.status == 407 && answer.proxyRefusal == ProxyRefusal(proxy: name, wasTold: true))
            #expect(refused.withLock { $0.last } == expected)
        }
        known.withLock { $0[name] = HTTPRequest.Credentials(user: "me", password: "s3cret") }
        do {
            let answer = try await answer("\(scheme)://photos.test/", as: nil, with: client)
            #expect(answer.status == 200 && answer.proxyRefusal == nil)
        } catch {
            #expect(scheme == "https" && error as? HTTPError == .proxyRefused(502))
        }
        #expect(refused.withLock { $0 } == [old, wrong])
        #expect(proxy.requests.allSatisfy { $0.headers["authorization"] == nil })
    }

    /// `%41` is an escape in an address but not in typed text.
    @Test(arguments: ["a%41b", "p@ss/wörd%", "100%25 :+&", "%"]) func theProxyGetsItsExactCredentials(password: String)
        async throws
    {
        let proxy = try ScriptedServer { request in
            request.headers["proxy-authorization"] == nil
                ? .answer(407, headers: ["Proxy-Authenticate: Basic realm=\"p\""]) : .answer(200)
        }
        let encoded = password.utf8.map { String(format: "%%%02X", $0) }.joined()
        for user in ["", "m%C3%B6:\(encoded)@"] {
            let client = client {
                $0.proxies = ProxyChoice { $0 == "http_proxy" ? "\(user)127.0.0.1:\(proxy.port)" : nil }
                guard user.isEmpty else { return }
                $0.proxyCredentials = ProxyCredentials(
                    known: { _ in HTTPRequest.Credentials(user: "mö", password: password) }, onRefusal: { _, _ in })
            }
            #expect(try await answer("http://photos.test/", as: nil, with: client).status == 200)
            let told = proxy.requests.last?.headers["proxy-authorization"]
            #expect(told == "Basic " + Data("mö:\(password)".utf8).base64EncodedString())
        }
    }

    /// tinyproxy answers 401 to a wrong password. A server's 401 through a proxy does not concern the proxy.
    @Test(
        arguments: [
            (["Server: tinyproxy/1.11.1"], 407),
            (["Server: tinyproxy/1.11.1", "Via: 1.1 here (tinyproxy/1.11.1)"], 401),
            (["Server: nginx"], 401), ([], 401),
        ] as [([String], Int)]) func aServersWordsOfAProxy(headers: [String], status: Int) async throws
    {
        let proxy = try ScriptedServer { request in
            request.headers["proxy-authorization"] == nil
                ? .answer(407, headers: ["Proxy-Authenticate: Basic realm=\"p\""])
                : .answer(401, headers: ["WWW-Authenticate: Basic realm=\"r\""] + headers)
        }
        let client = client { $0.proxies = ProxyChoice { $0 == "http_proxy" ? "me:x@127.0.0.1:\(proxy.port)" : nil } }
        let answer = try await answer("http://photos.test/", as: nil, with: client)
        #expect(answer.status == status && (answer.proxyRefusal != nil) == (status == 407))
        #expect(answer.challenges == [HTTPChallenge(isProxy: status == 407, scheme: "basic", realm: "r")])
        // The proxy has not accepted this password, so it is not remembered.
        _ = try await self.answer("http://photos.test/", as: nil, with: client)
        #expect(proxy.requests.count == (status == 407 ? 4 : 3))
    }

    @Test func refusedByTheProxy() async throws {
        for (status, isTransient) in [(403, false), (302, false), (503, true)] {
            let proxy = try ScriptedServer { _ in .answer(status, headers: ["Location: http://127.0.0.1/"]) }
            let client = client { $0.proxies = ProxyChoice { $0 == "https_proxy" ? "127.0.0.1:\(proxy.port)" : nil } }
            do {
                _ = try await answer("https://photos.test/", as: nil, with: client)
                Issue.record("\(status)")
            } catch let error as HTTPError {
                #expect(error == .proxyRefused(status) && error.isTransient == isTransient)
            }
        }
    }

    /// An endless body after a challenge, which curl reads automatically.
    @Test func anEndlessRefusalIsAnError() async throws {
        let piece: ScriptedServer.Step = .send(
            Array("10000\r\n".utf8) + [UInt8](repeating: 0, count: 0x10000) + Array("\r\n".utf8))
        let server = try ScriptedServer { _ in
            [
                .send(
                    "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nTransfer-Encoding: chunked\r\n\r\n")
            ] + [ScriptedServer.Step](repeating: piece, count: 1_000)
        }
        await #expect(throws: HTTPError.malformed("a refusal is too long")) {
            try await answer(server.url("/"), with: client())
        }
    }

    @Test func credentialsAreNotPrinted() async throws {
        let credentials = HTTPRequest.Credentials(user: "me", password: "s3cret")
        var dumped = ""
        dump(HTTPRequest(url: "", credentials: credentials, destination: .stream, limit: 1), to: &dumped)
        #expect(!dumped.contains("s3cret") && !"\(credentials)".contains("s3cret"))
        #expect(!String(reflecting: credentials).contains("s3cret"))
        let server = try ScriptedServer { _ in .answer(200) }
        for unsound in ["a\r\nX: y", "a\u{0}", "\n"] {
            for credentials in [HTTPRequest.Credentials(bearer: unsound), .init(user: unsound, password: "")] {
                await #expect(throws: HTTPError.unusableCredentials) {
                    _ = try await answer(server.url("/"), as: credentials, with: client())
                }
            }
        }
        #expect(server.requests.isEmpty)
    }
}
