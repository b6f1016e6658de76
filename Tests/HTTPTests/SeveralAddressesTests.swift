import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Hosts with a forbidden and an allowed address, in a network with the allowed one on loopback.
@Suite(.ownThread, .enabled(if: OwnNetwork.isPossible), .unlessItHangs) struct SeveralAddressesTests {
    private let network: OwnNetwork

    init() throws {
        network = try OwnNetwork()
        try network.ip("link", "set", "lo", "up")
        try network.ip("address", "add", "8.8.8.8/32", "dev", "lo")
    }

    /// All ports are closed there.
    private func failure(_ addresses: String) async -> HTTPError? {
        var configuration = HTTPConfiguration(connectTimeout: 60, stallTimeout: 60)
        configuration.names = ["photos.test:9:\(addresses)"]
        let client = HTTPClient(configuration, log: Log())
        let request = HTTPRequest(
            url: "http://photos.test:9/", destination: .stream, limit: 1 << 20, addressPolicy: .publicOnly(except: nil))
        // curl's thread runs in the network of its creator.
        return await network.inside { client.transfer(request) }.failure()
    }

    @Test(
        "BEHAVIOURS 5.3: the error is that of the allowed address",
        arguments: [
            "[::1],8.8.8.8", "8.8.8.8,[::1]", "127.0.0.1,8.8.8.8", "8.8.8.8,127.0.0.1", "8.8.8.8",
        ]) func oneMayBeReached(addresses: String) async
    {
        let error = await failure(addresses)
        #expect(error == .unreachable("photos.test:9") && error?.isTransient == true)
    }

    @Test(arguments: ["[::1]", "127.0.0.1,[::1]"]) func noneMay(addresses: String) async {
        #expect(await failure(addresses) == .privateAddress("photos.test"))
    }
}
