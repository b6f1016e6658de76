import Foundation
import Model
import TestSupport
import Testing

/// The program is killed in the middle of an update, again and again, and nothing that was acknowledged is ever lost.
@Suite(.ownThread, .serialized) struct KillTests {
    /// Twenty times here; `VITRINE_KILLS=1000` for more.
    private let rounds = Int(ProcessInfo.processInfo.environment["VITRINE_KILLS"] ?? "") ?? 20

    @Test("BEHAVIOURS 4.4: killed in the middle of an update, nothing acknowledged is lost")
    func killedAtRandomMoments() async throws {
        let server = try Nginx(serving: Built.testGallery)
        let gallery = server.url("/index-big.xml")
        let home = Household()
        let log = home.folder.path("log")
        var cut = 0
        for round in 0..<rounds {
            if round % 5 == 0 {
                // Everything anew, so that there is something to fetch.
                try? FileManager.default.removeItem(atPath: home.caches)
                try? FileManager.default.removeItem(atPath: log)
            }
            let sync = try ChildProcess(
                Built.vitrine, ["sync", "--photos", "--log-level=debug", "--log-file=\(log)", gallery],
                environment: home.environment())
            // From before anything has happened to after everything has.
            poll(nil, 0, Int32.random(in: 0..<400))
            if sync.end(SIGKILL) == -SIGKILL { cut += 1 }
            try await Aftermath(home: home, log: log).expectWhole(Address(gallery), "round \(round)")
        }
        #expect(cut > rounds / 3, "most rounds are cut short")
        // And the next start is normal.
        let last = try home.vitrine("sync", "--photos", gallery)
        #expect(last.status == 0 && last.text.contains("110 photos, 110 thumbnails, 110 photos cached"))
        #expect(try home.vitrine("cache", "check").text.hasSuffix("good, 110 photos\n"))
    }
}
