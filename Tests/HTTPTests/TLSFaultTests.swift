import Logging
import TestSupport
import Testing

@testable import HTTP

/// Faults of secure connections.
@Suite(.ownThread) struct TLSFaultTests {
    private let probe = Probe()

    @Test(
        "BEHAVIOURS 5.3: a certificate’s problem is named and final",
        arguments: [
            (.good, nil), (.expired, "it has expired (or this machine’s clock is wrong)"),
            (.early, "it is not valid yet (or this machine’s clock is wrong)"),
            (.selfSigned, "it is self-signed"),
            (.stranger, "its issuer is not trusted"),
            (.wrongHost, "it is not valid for 127.0.0.1"),
        ] as [(TestAuthority.Kind, String?)])
    func certificates(kind: TestAuthority.Kind, reason: String?) async throws {
        let authority = try TestAuthority()
        let server = try FaultyServer.http2("none", authority.issue(kind))
        let probe = Probe(HTTPConfiguration(certificates: authority.certificate, stallTimeout: 60))
        let error = await probe.failure(server.url("/"))
        switch reason {
        case nil: #expect(error == nil)
        case let reason?:
            guard case .certificate(let said)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            let words = said.replacing(":\(server.port)", with: "")
            #expect(words == reason && error?.isTransient == false, "\(said)")
            #expect(!server.end().contains { $0.hasPrefix("request") })
        }
    }

    /// Signed by an authority that the system does not know.
    @Test func theTestAuthorityIsNotTrusted() async throws {
        let authority = try TestAuthority()
        let server = try FaultyServer.http2("none", authority.issue(.good))
        #expect(await probe.failure(server.url("/")) == .certificate("its issuer is not trusted"))
        let missing = Probe(HTTPConfiguration(certificates: "/nowhere.pem"))
        guard case .tls? = await missing.failure(server.url("/")) else {
            Issue.record("no certificates, and no complaint")
            return
        }
    }

    /// A server without TLS, and a server that refuses the handshake with an alert.
    @Test(arguments: [Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [21, 3, 3, 0, 2, 2, 40]])
    func notSecure(answer: [UInt8]) async throws {
        let server = try ScriptedServer { _ in [.send(answer), .close] }
        let error = await probe.failure("https://127.0.0.1:\(server.port)/")
        guard case .tls? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.isTransient == false && server.requests.map(\.method).allSatisfy { $0 == "TLS" })
        let isPlain = answer.starts(with: "HTTP".utf8)
        #expect(error?.description.contains("the server does not use TLS at this port") == isPlain)
    }

    @Test(arguments: [ScriptedServer.Step.close, .reset]) func aConnectionMayBreakInTheHandshake(
        end: ScriptedServer.Step
    ) async throws {
        let server = try ScriptedServer { _ in [end] }
        let error = await probe.failure("https://127.0.0.1:\(server.port)/")
        #expect(error == .broken && error?.isTransient == true)
    }

    @Test func aStalledHandshakeTimesOut() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { _ in [.hold(gate)] }
        let probe = Probe(HTTPConfiguration(connectTimeout: 1))
        let error = await probe.failure("https://127.0.0.1:\(server.port)/")
        #expect(error == .connectTimedOut("127.0.0.1:\(server.port)"))
    }

    /// Streams of one connection have shares, which can change.
    @Test func weights() async throws {
        let authority = try TestAuthority()
        let server = try FaultyServer.http2("weights", authority.issue(.good))
        let probe = Probe(HTTPConfiguration(certificates: authority.certificate, stallTimeout: 60))
        var request = probe.request(server.url("/"))
        request.weight = 200
        let meter = TransferMeter()
        request.meter = meter
        let transfer = probe.client.transfer(request)
        var bytes = 0
        for try await event in transfer {
            guard case .bytes(let more) = event else { continue }
            bytes += more.count
            // The rest comes after the server has received the change.
            if bytes == 500 { transfer.setWeight(7) }
        }
        #expect(bytes == 1_000 && meter.reading.version == .http2)
        #expect(server.end() == ["connection", "request 1", "weight 1 200", "weight 1 7"])
    }

    @Test func manyTransfersShareAConnection() async throws {
        let authority = try TestAuthority()
        let server = try FaultyServer.http2("none", authority.issue(.good))
        let probe = Probe(HTTPConfiguration(certificates: authority.certificate, stallTimeout: 60))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<40 { group.addTask { try await probe.fetch(server.url("/")).bytes.count } }
            for try await count in group { #expect(count == 1_000) }
        }
        let log = server.end()
        #expect(log.count { $0 == "connection" } == 1 && log.count { $0.hasPrefix("request") } == 40)
    }
}
