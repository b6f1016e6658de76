import Logging
import TestSupport
import Testing

@testable import HTTP

/// Faults of proxies.
@Suite(.ownThread) struct ProxyFaultTests {
    private func failure(_ url: String, through proxy: String, connectTimeout: Int = 60) async -> HTTPError? {
        let choice = ProxyChoice { $0 == "all_proxy" ? proxy : nil }
        return await Probe(HTTPConfiguration(proxies: choice, connectTimeout: connectTimeout)).failure(url)
    }

    @Test(arguments: ["http", "https"]) func aMissingProxyIsUnreachable(scheme: String) async throws {
        let server = try ScriptedServer { _ in [] }
        server.stop()
        let proxy = "http://127.0.0.1:\(server.port)"
        let gone = await failure("\(scheme)://photos.test/", through: "me:s3cret@127.0.0.1:\(server.port)")
        #expect(gone == .proxyUnreachable(proxy) && gone?.isTransient == true)
        #expect(await failure("\(scheme)://photos.test/", through: "proxy.invalid:1") == .unknownProxy)
        #expect(await failure("\(scheme)://photos.test/", through: "ftp://127.0.0.1") == .proxyScheme("ftp"))
        let full = try FullListener()
        let busy = "http://127.0.0.1:\(full.port)"
        #expect(await failure("\(scheme)://photos.test/", through: busy, connectTimeout: 1) == .proxyUnreachable(busy))
    }

    @Test func tunnels() async throws {
        let gate = Gate()
        defer { gate.open() }
        // curl uses one error for a broken and for a malformed answer.
        let cases: [([ScriptedServer.Step], (HTTPError) -> Bool)] = [
            (.answer(502), { $0 == .proxyRefused(502) && $0.isTransient }),
            (.answer(403), { $0 == .proxyRefused(403) && !$0.isTransient }),
            ([.reset], { $0 == .broken }), ([.close], { $0 == .broken }),
            ([.send("garbage\r\n\r\n"), .close], { $0 == .broken }),
            (
                [.send("HTTP/1.1 200 OK\r\n"), .sendForever([UInt8](repeating: 0x78, count: 1_000))],
                { $0 == .broken }
            ),
            (
                [.send("HTTP/1.1 200 OK\r\n"), .sendForever(Array("X: y\r\n".utf8))],
                { $0 == .malformed("its headers are too long") }
            ),
            // A tunnel's answer has no length.
            ([.send("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"), .close], { $0 == .broken }),
            // A tunnel to a server without TLS.
            (
                [
                    .send("HTTP/1.1 200 OK\r\n\r\n"), .send("not TLS at all, but long enough to be taken for it"),
                    .close,
                ],
                { if case .tls = $0 { true } else { $0 == .broken } }
            ),
        ]
        let silent = try ScriptedServer { _ in [.hold(gate)] }
        let held = await failure("https://photos.test/", through: "127.0.0.1:\(silent.port)", connectTimeout: 1)
        #expect(held == .silentBehindProxy("photos.test") && held?.isTransient == true)
        for (steps, isRight) in cases {
            let proxy = try ScriptedServer { _ in steps }
            let error = try #require(await failure("https://photos.test/", through: "127.0.0.1:\(proxy.port)"))
            #expect(isRight(error), "\(error)")
        }
    }

    /// A SOCKS proxy that speaks another protocol.
    @Test func aMissingSOCKSProxyIsAnError() async throws {
        let proxy = try ScriptedServer { _ in [] }
        let error = await failure(
            "http://photos.test/", through: "socks5h://127.0.0.1:\(proxy.port)", connectTimeout: 1)
        #expect(error?.isTransient == true)
    }
}
