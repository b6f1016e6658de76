import TestSupport
import Testing

/// The stand-in for Immich. A client that is generated from Immich's description checks it.
@Suite(.ownThread) struct ImmichServerTests {
    @Test("A generated client accepts every answer, and knows every field of the requests")
    func client() async throws {
        let album = "00000000-0000-4000-8000-0000000000bb"
        let person = "00000000-0000-4000-8000-0000000000cc"
        let server = try await ImmichServer.start(
            photos: 1_030,
            settings: [
                "perMonth": 400, "albums": [album: [1, 2, 3]], "shares": ["sh4re": ["album": album]],
                "people": [person: [4]], "names": [person: "Grandma"], "tags": ["Trips/Rome": [7, 8]],
            ])
        let command = try StandIn.check("Immich/check", [server.url(""), ImmichServer.key, album, "sh4re"])
        try #require(command.status == 0, "\(command.errors)")
        let ids = String(decoding: command.output, as: UTF8.self).split(separator: "\n")
        #expect(ids.count == 1_030 && Set(ids).count == 1_030)
        #expect(server.requests.allSatisfy { $0.hasSuffix(" 200") }, "\(server.requests)")
    }
}
