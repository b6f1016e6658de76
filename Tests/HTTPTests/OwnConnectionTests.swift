import TestSupport
import Testing

@testable import HTTP

/// Transfers with connections of their own, beside shared ones.
@Suite(.ownThread) struct OwnConnectionTests {
    /// An unread answer occupies its share of a connection.
    @Test func otherTransfersKeepSharing() async throws {
        let authority = try TestAuthority()
        let server = try LoopbackServer.nginx(
            authority.issue(.good), files: ["photo.jpg": [UInt8](repeating: 7, count: 1_000_000)])
        let probe = Probe(
            HTTPConfiguration(certificates: authority.certificate, connectTimeout: 60, stallTimeout: 60))
        var transfers: [HTTPTransfer] = []
        var found: [(isNew: Bool, version: TransferMeter.Version?)] = []
        for connection in [.any, .unshared, .any, .unshared, .any] as [HTTPRequest.Connection] {
            let meter = TransferMeter()
            var request = probe.request(server.url("/photo.jpg", scheme: "https"))
            (request.connection, request.meter) = (connection, meter)
            let transfer = probe.client.transfer(request)
            transfers.append(transfer)
            for try await case .response in transfer { break }
            found.append((meter.reading.connect != nil, meter.reading.version))
        }
        #expect(found.map(\.isNew) == [true, true, false, true, false])
        #expect(found.map(\.version) == [.http2, .http1, .http2, .http1, .http2])
        withExtendedLifetime(transfers) {}
    }
}
