import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Addresses that a gallery must not name.
@Suite(.ownThread) struct ReachTests {
    private let client = HTTPClient(HTTPConfiguration(connectTimeout: 60, stallTimeout: 60), log: Log())

    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.0.1",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1",
        "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "127.1", "127.0.1", "0300.0250.0.1",
        "10.0.0.1.", "[::1]", "::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fdff::1", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1",
        "2002:7f00:1::", "2002:c0a8:1::1", "2001::1", "2001:db8::1", "2001:2::1", "2001:20::1", "100::1", "3fff::1",
        "4000::1", "5f00::1",
    ]) func reserved(address: String) throws {
        #expect(try #require(HostAddress(address)).isPublic == false)
        #expect(try !HTTPRequest.AddressPolicy.publicOnly(except: nil).allows(address, Curl()))
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
        "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "192.0.1.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2001:4860::8888", "2001:200::1",
        "2a00::1", "3ffe::1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1", "134744072",
    ]) func worldwide(address: String) throws {
        #expect(try #require(HostAddress(address)).isPublic)
    }

    @Test func names() throws {
        for name in ["example.org", "localhost.org", "1.2.3.4.5", "1.2.3.999", "0x", "", "1.1.1.1 x", "::g", "a:b"] {
            #expect(HostAddress(name) == nil, "\(name)")
        }
        let curl = try Curl()
        let addressPolicy = HTTPRequest.AddressPolicy.publicOnly(except: "NAS.local")
        for name in ["localhost", "localhost.", "a.localhost", "127.0.0.1"] {
            #expect(!addressPolicy.allows(name, curl))
        }
        for name in ["example.org", "nas.local"] { #expect(addressPolicy.allows(name, curl)) }
        #expect(!addressPolicy.isBounded(at: "nas.local", curl))
        #expect(HTTPRequest.AddressPolicy.anywhere.allows("localhost", curl))
        #expect(HTTPRequest.AddressPolicy.publicOnly(except: "127.0.0.1").allows("127.0.0.1", curl))
        #expect(HTTPRequest.AddressPolicy.publicOnly(except: "[::1]").allows("[::1]", curl))
    }

    private func failure(_ url: String, _ addressPolicy: HTTPRequest.AddressPolicy, with client: HTTPClient? = nil)
        async -> HTTPError?
    {
        do {
            let request = HTTPRequest(url: url, destination: .stream, limit: 1 << 20, addressPolicy: addressPolicy)
            for try await _ in (client ?? self.client).transfer(request) {}
            return nil
        } catch {
            return error as? HTTPError
        }
    }

    @Test(arguments: ["127.0.0.1", "2130706433", "0x7f.1", "017700000001", "%31%32%37.0.0.1", "localhost"])
    func spelledOut(host: String) async throws {
        let server = try ScriptedServer { _ in .answer(200) }
        let error = await failure("http://\(host):\(server.port)/", .publicOnly(except: nil))
        guard case .privateAddress? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.isTransient == false && server.connectionCount == 0)
    }

    /// Digits of other scripts are the same address if the locale knows them, or else nothing.
    @Test func internationalSpellings() async throws {
        let server = try ScriptedServer { _ in .answer(200) }
        let error = try #require(await failure("http://１２７.0.0.1:\(server.port)/", .publicOnly(except: nil)))
        switch error {
        case .privateAddress, .url: #expect(server.connectionCount == 0)
        default: Issue.record("\(error)")
        }
    }

    private func naming(_ name: String, _ server: ScriptedServer) -> HTTPClient {
        var configuration = HTTPConfiguration(connectTimeout: 60, stallTimeout: 60)
        configuration.names = ["\(name):\(server.port):127.0.0.1"]
        return HTTPClient(configuration, log: Log())
    }

    /// The name says nothing; its address does.
    @Test func afterResolving() async throws {
        let server = try ScriptedServer { _ in .answer(200) }
        let (client, url) = (naming("nas.test", server), "http://nas.test:\(server.port)/")
        #expect(await failure(url, .publicOnly(except: "else.test"), with: client) == .privateAddress("nas.test"))
        #expect(server.connectionCount == 0)
        #expect(await failure(url, .publicOnly(except: "nas.test"), with: client) == nil)
    }

    /// The connection's address tells whether an answer came from the user's network, not the name.
    @Test func theOriginOfAnAnswerIsKnown() async throws {
        let server = try ScriptedServer { _ in .answer(200) }
        let probe = Probe()
        #expect(try await probe.fetch(server.url("/")).response?.isPrivate == true)
        let client = naming("nas.test", server)
        for try await event in client.transfer(probe.request("http://nas.test:\(server.port)/")) {
            if case .response(let response) = event { #expect(response.isPrivate) }
        }
        // Behind a proxy only the name counts, and not the proxy's address.
        let proxy = try ScriptedServer { _ in .answer(200) }
        let choice = ProxyChoice { $0 == "http_proxy" ? "127.0.0.1:\(proxy.port)" : nil }
        let behind = Probe(HTTPConfiguration(proxies: choice))
        #expect(try await behind.fetch("http://photos.test/").response?.isPrivate == false)
        #expect(try await behind.fetch("http://10.0.0.1/").response?.isPrivate == true)
    }

    @Test func theNamedHostMayBePrivate() async throws {
        let server = try ScriptedServer { _ in .answer(200) }
        #expect(await failure(server.url("/"), .publicOnly(except: "127.0.0.1")) == nil)
        #expect(await failure(server.url("/"), .publicOnly(except: "127.0.0.2")) == .privateAddress("127.0.0.1"))
        #expect(server.connectionCount == 1)
    }

    @Test func afterARedirect() async throws {
        let inner = try ScriptedServer { _ in .answer(200) }
        let server = try ScriptedServer { _ in .answer(302, headers: ["Location: http://127.0.0.2:\(inner.port)/"]) }
        #expect(await failure(server.url("/"), .publicOnly(except: "127.0.0.1")) == .privateAddress("127.0.0.2"))
        #expect(inner.connectionCount == 0)
    }

    /// A connection of another request that was permitted.
    @Test func overAnOldConnection() async throws {
        let server = try ScriptedServer { _ in .answer(200) }
        let (client, url) = (naming("nas.test", server), "http://nas.test:\(server.port)/")
        #expect(await failure(url, .anywhere, with: client) == nil)
        #expect(await failure(url, .publicOnly(except: nil), with: client) == .privateAddress("nas.test"))
        #expect(server.requests.count == 1 && server.connectionCount == 1)
    }

    /// A proxy may be anywhere, and only the name of the host behind it is known.
    @Test func throughAProxy() async throws {
        let proxy = try ScriptedServer { .answer(200, $0.path) }
        let choice = ProxyChoice { $0 == "http_proxy" ? "127.0.0.1:\(proxy.port)" : nil }
        let client = HTTPClient(HTTPConfiguration(proxies: choice), log: Log())
        #expect(await failure("http://nas.test/a", .publicOnly(except: nil), with: client) == nil)
        for host in ["127.0.0.1", "localhost", "0x7f.1", "[::1]"] {
            guard case .privateAddress? = await failure("http://\(host)/", .publicOnly(except: nil), with: client)
            else {
                Issue.record("\(host)")
                continue
            }
        }
        #expect(proxy.requests.map(\.path) == ["http://nas.test/a"])
    }
}
