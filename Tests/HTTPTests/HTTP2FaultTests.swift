import Logging
import TestSupport
import Testing

@testable import HTTP

/// What a server can do wrong that speaks HTTP/2.
@Suite(.ownThread) struct HTTP2FaultTests {
    /// A server per fault; each ends with the test.
    private func failure(_ fault: String) async throws -> (error: HTTPError?, log: [String]) {
        let authority = try TestAuthority()
        let server = try FaultyServer.http2(fault, authority.issue(.good))
        let probe = Probe(
            HTTPConfiguration(certificates: authority.certificate, stallTimeout: fault == "stall" ? 1 : 60))
        return (await probe.failure(server.url("/")), server.end())
    }

    @Test(
        "BEHAVIOURS 5.3: what a server gives up on may pass",
        arguments: [
            ("reset-before", .brokenOff), ("reset-during", .brokenOff), ("calm", .brokenOff), ("short", .brokenOff),
            ("stall", .stalled),
        ] as [(String, HTTPError)])
    func transient(fault: String, expected: HTTPError) async throws {
        let outcome = try await failure(fault)
        #expect(outcome.error == expected && expected.isTransient, "\(outcome)")
        expectFewRequests(outcome.log)
    }

    /// Which error it is depends on what curl reads first, of the end of the stream and of the connection's, and on whether it
    /// has handed on by then what came before.
    @Test(
        "BEHAVIOURS 5.3: what a server gives up on with its connection may pass",
        arguments: [
            "goaway-before", "goaway-and-close", "refused", "close-before", "close-during", "reset-without-error",
        ])
    func ending(fault: String) async throws {
        let outcome = try await failure(fault)
        #expect(outcome.error?.isTransient == true, "\(outcome)")
        expectFewRequests(outcome.log)
    }

    /// curl asks once more by itself, a few times.
    private func expectFewRequests(_ log: [String]) {
        #expect(log.count { $0.hasPrefix("request") } <= 6)
    }

    /// What the protocol has no place for. None of it is success. curl does not say that it was nonsense: it ends the
    /// connection, or the stream, and that is what is known of it.
    @Test(
        arguments: [
            ("garbage", .noAnswer), ("bad-table", .noAnswer), ("huge-frame", .cut),
            ("endless-headers", .broken),
            ("no-status", .brokenOff), ("empty", .brokenOff), ("http1", .broken), ("long", .brokenOff),
        ] as [(String, HTTPError)]) func nonsense(fault: String, expected: HTTPError) async throws
    {
        let outcome = try await failure(fault)
        #expect(outcome.error == expected, "\(outcome)")
    }

    /// A server that goes away in an orderly manner harms nobody.
    @Test(arguments: ["none", "goaway-once", "goaway-during"]) func harmless(fault: String) async throws {
        let outcome = try await failure(fault)
        #expect(outcome.error == nil, "\(outcome)")
    }
}
