import Logging
import TestSupport
import Testing

@testable import HTTP

/// Faults of HTTP/2 servers.
@Suite(.ownThread) struct HTTP2FaultTests {
    /// One server per fault, until the end of the test.
    private func failure(_ fault: String) async throws -> (error: HTTPError?, log: [String]) {
        let authority = try TestAuthority()
        let server = try FaultyServer.http2(fault, authority.issue(.good))
        let probe = Probe(
            HTTPConfiguration(certificates: authority.certificate, stallTimeout: fault == "stall" ? 1 : 60))
        return (await probe.failure(server.url("/")), server.end())
    }

    @Test(
        "BEHAVIOURS 5.3: a reset stream is a temporary error",
        arguments: [
            ("reset-before", .brokenOff), ("reset-during", .brokenOff), ("calm", .brokenOff), ("short", .brokenOff),
            ("stall", .stalled),
        ] as [(String, HTTPError)])
    func transient(fault: String, expected: HTTPError) async throws {
        let outcome = try await failure(fault)
        #expect(outcome.error == expected && expected.isTransient, "\(outcome)")
        expectFewRequests(outcome.log)
    }

    /// The error depends on whether curl reads the end of the stream or of the connection first, and on what it has
    /// passed on before.
    @Test(
        "BEHAVIOURS 5.3: a closed HTTP/2 connection is a temporary error",
        arguments: [
            "goaway-before", "goaway-and-close", "refused", "close-before", "close-during", "reset-without-error",
            "http1",
        ])
    func ending(fault: String) async throws {
        let outcome = try await failure(fault)
        #expect(outcome.error?.isTransient == true, "\(outcome)")
        expectFewRequests(outcome.log)
    }

    /// curl automatically repeats the request, a few times.
    private func expectFewRequests(_ log: [String]) {
        #expect(log.count { $0.hasPrefix("request") } <= 6)
    }

    /// Protocol violations, none of which succeeds. curl reports only the end of the stream or connection.
    @Test(
        arguments: [
            ("garbage", .noAnswer), ("bad-table", .noAnswer), ("huge-frame", .cut),
            ("endless-headers", .broken),
            ("no-status", .brokenOff), ("empty", .brokenOff), ("long", .brokenOff),
        ] as [(String, HTTPError)]) func nonsense(fault: String, expected: HTTPError) async throws
    {
        let outcome = try await failure(fault)
        #expect(outcome.error == expected, "\(outcome)")
    }

    /// An orderly shutdown harms no transfer.
    @Test(arguments: ["none", "goaway-once", "goaway-during"]) func harmless(fault: String) async throws {
        let outcome = try await failure(fault)
        #expect(outcome.error == nil, "\(outcome)")
    }
}
