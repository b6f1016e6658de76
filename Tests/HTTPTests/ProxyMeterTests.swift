import TestSupport
import Testing

@testable import HTTP

/// Times behind a proxy. They measure the proxy and not the host.
@Suite(.ownThread) struct ProxyMeterTests {
    @Test("BEHAVIOURS 5.6: the round trip to a proxy does not count as the host’s", arguments: ["http", "https"])
    func notTheHosts(scheme: String) async throws {
        let authority = try TestAuthority()
        let plain = try LoopbackServer.nginx(files: ["a.jpg": [1]])
        let secure = try LoopbackServer.nginx(authority.issue(.good), files: ["a.jpg": [1]])
        let proxy = try LoopbackServer.tinyproxy(wantsPassword: false)
        for isBehindProxy in [false, true] {
            let choice = ProxyChoice { $0 == "all_proxy" && isBehindProxy ? "127.0.0.1:\(proxy.port)" : nil }
            let probe = Probe(
                HTTPConfiguration(
                    certificates: authority.certificate, proxies: choice, connectTimeout: 60, stallTimeout: 60))
            let meter = TransferMeter()
            var request = probe.request((scheme == "http" ? plain : secure).url("/a.jpg", scheme: scheme))
            request.meter = meter
            #expect(try await probe.fetch(request).bytes == [1])
            let reading = meter.reading
            #expect(reading.wait != nil && (reading.connect == nil) == isBehindProxy)
            let packets = try #require(reading.packets)
            #expect(packets.received > 0 && (packets.roundTrip == nil) == isBehindProxy)
        }
    }
}
