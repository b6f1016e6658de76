import Logging
import TestSupport
import Numbers
import Testing

@testable import HTTP

/// Names whose address changes from public to private during a request.
@Suite(.ownThread, .enabled(if: OwnNetwork.isPossible), .unlessItHangs) struct ChangedAddressTests {
    private let network: PublicNetwork

    init() throws {
        network = try PublicNetwork()
    }

    /// A server, and the address of the name at its port.
    private typealias Place = (server: ScriptedServer, address: String)

    /// Sends a request to the name at the first place's port. Returns the head of the answer.
    private func ask(_ path: String, _ addressPolicy: HTTPRequest.AddressPolicy, _ places: [Place]) async throws
        -> HTTPResponse?
    {
        var configuration = HTTPConfiguration(connectTimeout: 60, stallTimeout: 60)
        configuration.names = places.map { "photos.test:\($0.server.port):\($0.address)" }
        let client = HTTPClient(configuration, log: Log())
        let request = HTTPRequest(
            url: "http://photos.test:\(places[0].server.port)\(path)", destination: .stream, limit: 1 << 20,
            addressPolicy: addressPolicy)
        var response: HTTPResponse?
        for try await event in network.inside({ client.transfer(request) }) {
            if case .response(let head) = event { response = head }
        }
        return response
    }

    @Test(
        "BEHAVIOURS 5.3: after a public address a redirect leads to no private one, though the name is the same",
        arguments: [HTTPRequest.AddressPolicy.publicOnly(except: "photos.test"), .anywhere])
    func redirect(addressPolicy: HTTPRequest.AddressPolicy) async throws {
        let inner = try network.server(at: "127.0.0.1") { _ in .answer(200) }
        let outer = try network.server(at: PublicNetwork.address) { _ in
            .answer(302, headers: ["Location: http://photos.test:\(inner.port)/admin"])
        }
        await #expect(throws: HTTPError.privateAddress("photos.test")) {
            try await ask("/", addressPolicy, [(outer, PublicNetwork.address), (inner, "127.0.0.1")])
        }
        #expect(outer.requests.count == 1 && inner.connectionCount == 0)
    }

    @Test("A public address may redirect to another one, and a private one to itself")
    func redirectsThatAreFollowed() async throws {
        for address in [PublicNetwork.address, "127.0.0.1"] {
            let server = try network.server(at: address) {
                $0.path == "/" ? .answer(302, headers: ["Location: /there"]) : .answer(200)
            }
            let response = try await ask("/", .publicOnly(except: "photos.test"), [(server, address)])
            #expect(response?.status == 200)
        }
    }

    @Test("An answer tells whether the request began at a public address")
    func beginning() async throws {
        let outer = try network.server(at: PublicNetwork.address) { _ in .answer(200) }
        let inner = try network.server(at: "127.0.0.1") {
            $0.path == "/" ? .answer(200) : .answer(302, headers: ["Location: http://photos.test:\(outer.port)/"])
        }
        let (world, home) = ((outer, PublicNetwork.address), (inner, "127.0.0.1"))
        for (path, places, isPrivate, beganPublic) in [
            ("/", [world], false, true), ("/", [home], true, false), ("/away", [home, world], false, false),
        ] as [(String, [Place], Bool, Bool)] {
            let response = try #require(try await ask(path, .anywhere, places))
            #expect(response.isPrivate == isPrivate && response.beganPublic == beganPublic, "\(path)")
        }
    }

    @Test("Once the first piece came from a public address, the others must too")
    func pieces() {
        let request = HTTPRequest(
            url: "http://photos.test/", destination: .stream, limit: 1 << 20,
            addressPolicy: .publicOnly(except: "photos.test"))
        var state = PiecedState(HTTPRequest.Pieces(size: 1, window: 1, most: 1), of: request, isGranted: false)
        #expect(state.request(for: .piece(0..<1), 0..<1).addressPolicy == request.addressPolicy)
        state.adopt(HTTPResponse(status: 206, url: request.url, beganPublic: true))
        #expect(state.request(for: .piece(1..<2), 1..<2).addressPolicy == .publicOnly(except: nil))
        #expect(state.request(for: .rest, nil).addressPolicy == .publicOnly(except: nil))
    }
}
