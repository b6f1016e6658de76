import Foundation
import TestSupport
import Testing

/// Caches that take more room than they may, and the program that keeps them within it.
@Suite(.ownThread, .serialized) struct CleaningTests {
    private let home = Household()
    private let big = Built.testGallery + "/index-big.xml"

    private func photos(_ gallery: String) throws -> Int {
        try home.vitrine("list", gallery).lines.count { $0.hasSuffix("\tphoto") }
    }

    @Test("BEHAVIOURS 4.2: behind the first frame the browser makes room; what is open stays")
    func behindTheFirstFrame() throws {
        for gallery in [Built.testGallery, big] { _ = try home.vitrine("sync", "--photos", gallery) }
        let log = home.folder.path("log")
        let session = try TerminalSession(
            arguments: ["--cache-limit", "1K", "--log-file", log, Built.testGallery], environment: home.environment())
        #expect(session.until(shows: "Dawn over the ridge"))
        #expect(
            session.until { _ in (try? String(contentsOfFile: log, encoding: .utf8))?.contains("cleaning: ") == true })
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(try photos(Built.testGallery) == 28)
        // With a limit that no list fits into, nothing else is left.
        #expect(home.folder.entries(".cache/vitrine/galleries").count == 1)
    }

    @Test("BEHAVIOURS 4.2: after an update room is made among the others")
    func afterAnUpdate() throws {
        _ = try home.vitrine("sync", "--photos", big)
        let before = try photos(big)
        #expect(before > 0)
        // Without a limit nothing goes, nor within the usual one.
        #expect(try home.vitrine("sync", "--list-only", "--cache-limit", "none", Built.testGallery).status == 0)
        #expect(try home.vitrine("sync", "--list-only", Built.testGallery).status == 0)
        #expect(try photos(big) == before)
        #expect(try home.vitrine("sync", "--list-only", "--cache-limit", "1M", Built.testGallery).status == 0)
        let after = try photos(big)
        #expect(after < before)
        // What was filled itself is left alone: it would be fetched again the next time.
        #expect(try home.vitrine("sync", "--photos", "--cache-limit", "1K", Built.testGallery).status == 0)
        #expect(try photos(Built.testGallery) == 28)
    }
}
