import TestSupport
import Testing

/// The stand-in for PhotoPrism. A client that others wrote reads from it.
@Suite(.ownThread) struct PhotoPrismServerTests {
    @Test("A client for PhotoPrism reads all photos from the stand-in")
    func client() async throws {
        // Every third photo has two files, and the client's pages of 100 files end between some of these.
        let server = try await PhotoPrismServer.start(
            photos: 1_030,
            settings: [
                "files": 3, "people": ["js000000000000aa": [5]], "albums": ["aqcd0000000000bb": [1, 2]],
            ])
        let user = PhotoPrismServer.user
        let command = try StandIn.check("PhotoPrism/check", [server.url(""), user.name, user.password])
        try #require(command.status == 0, "\(command.errors)")
        let ids = String(decoding: command.output, as: UTF8.self).split(separator: "\n")
        #expect(ids.count == 1_030 && Set(ids).count == 1_030)
    }
}
