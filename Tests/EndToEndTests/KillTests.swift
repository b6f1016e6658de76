import Foundation
import Model
import TestSupport
import Testing

/// Kills the program during updates, repeatedly; nothing acknowledged is lost.
@Suite(.ownThread, .serialized) struct KillTests {
    /// The number of kills; `VITRINE_KILLS=1000` for more.
    private let rounds = Int(ProcessInfo.processInfo.environment["VITRINE_KILLS"] ?? "") ?? 20

    @Test("BEHAVIOURS 4.4: a kill during an update loses nothing acknowledged")
    func killedAtRandomMoments() async throws {
        let server = try Nginx(serving: Built.testGallery)
        let gallery = server.url("/index-big.xml")
        let home = Household()
        let log = home.folder.path("log")
        var (cut, acknowledged) = (0, 0)
        for round in 0..<rounds {
            if round % 5 == 0 {
                // Start from an empty cache, so that there is something to fetch.
                try? FileManager.default.removeItem(atPath: home.caches)
                try? FileManager.default.removeItem(atPath: log)
            }
            let sync = try ChildProcess(
                Built.vitrine, ["sync", "--photos", "--log-level=debug", "--log-file=\(log)", gallery],
                environment: home.environment())
            // Kills come at any moment from the start to after the end.
            poll(nil, 0, Int32.random(in: 0..<400))
            if sync.end(SIGKILL) == -SIGKILL { cut += 1 }
            let aftermath = Aftermath(home: home, log: log)
            try await aftermath.expectWhole(Address(gallery), "round \(round)")
            acknowledged += try aftermath.acknowledged().values.map(\.count).reduce(0, +)
        }
        #expect(cut > rounds / 3, "most rounds are cut short")
        #expect(acknowledged > 0, "some rounds stored something")
        // The next start is normal.
        let last = try home.vitrine("sync", "--photos", gallery)
        #expect(last.status == 0 && last.text.contains("110 photos, 110 thumbnails, 110 photos cached"))
        #expect(try home.vitrine("cache", "check").text.hasSuffix("good, 110 photos\n"))
    }
}
