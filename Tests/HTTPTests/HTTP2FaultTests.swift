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
            ("goaway-before", [.broken, .brokenOff]), ("goaway-and-close", [.brokenOff, .broken, .cut]),
            ("reset-before", [.brokenOff]), ("reset-during", [.brokenOff]),
            ("refused", [.broken, .brokenOff]), ("close-before", [.broken, .brokenOff, .noAnswer]),
            ("close-during", [.broken, .brokenOff, .cut]), ("short", [.brokenOff, .cut]), ("stall", [.stalled]),
            ("reset-without-error", [.brokenOff, .cut, .noAnswer]),
        ] as [(String, [HTTPError])])
    func transient(fault: String, errors: [HTTPError]) async throws {
        let outcome = try await failure(fault)
        let error = try #require(outcome.error)
        #expect(errors.contains(error) && error.isTransient, "\(outcome)")
        // curl asks once more by itself, a few times.
        #expect(outcome.log.count { $0.hasPrefix("request") } <= 6)
    }

    /// What the protocol has no place for. However it is called, none of it is success.
    @Test(arguments: [
        "garbage", "bad-table", "huge-frame", "endless-headers", "no-status", "empty", "http1", "long",
    ]) func nonsense(fault: String) async throws {
        #expect(try await failure(fault).error != nil)
    }

    /// A server that goes away in an orderly manner harms nobody.
    @Test(arguments: ["none", "goaway-once", "goaway-during"]) func harmless(fault: String) async throws {
        let outcome = try await failure(fault)
        #expect(outcome.error == nil, "\(outcome)")
    }
}
