import Foundation
import TestSupport
import Testing

/// Caches above their limit, and the program that cleans them.
@Suite(.ownThread, .serialized) struct CleaningTests {
    private let home = Household()
    private let linked: LinkedTestGallery
    private var big: String { linked.big }

    init() throws { linked = try LinkedTestGallery() }

    private func photos(_ gallery: String) throws -> Int {
        try home.vitrine("list", gallery).lines.count { $0.hasSuffix("\tphoto") }
    }

    @Test("BEHAVIOURS 4.2: after the first frame the browser cleans; the open gallery keeps its list")
    func behindTheFirstFrame() throws {
        for gallery in [linked.path, big] { _ = try home.vitrine("sync", "--photos", gallery) }
        let log = home.folder.path("log")
        let session = try TerminalSession(
            arguments: ["--cache-limit", "1K", "--log-file", log, linked.path], environment: home.environment())
        #expect(session.until(shows: "Dawn over the ridge"))
        #expect(
            session.until { _ in
                (try? String(contentsOfFile: log, encoding: .utf8))?.contains("cleaning reduced ") == true
            })
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(try photos(linked.path) < 28)
        #expect(try home.vitrine("list", linked.path).lines.count == 28)
        // With a limit below any list, only that list is left.
        #expect(home.folder.entries(".cache/vitrine/galleries").count == 1)
    }

    @Test("BEHAVIOURS 4.2: an update cleans the other galleries")
    func afterAnUpdate() throws {
        _ = try home.vitrine("sync", "--photos", big)
        let before = try photos(big)
        #expect(before > 0)
        // Nothing is removed without a limit or below the default one.
        #expect(try home.vitrine("sync", "--list-only", "--cache-limit", "none", linked.path).status == 0)
        #expect(try home.vitrine("sync", "--list-only", linked.path).status == 0)
        #expect(try photos(big) == before)
        #expect(try home.vitrine("sync", "--list-only", "--cache-limit", "1M", linked.path).status == 0)
        let after = try photos(big)
        #expect(after < before)
    }

    @Test("BEHAVIOURS 4.2: an update of all galleries removes photos to make space for thumbnails")
    func allGalleries() throws {
        _ = try home.vitrine("sync", "--photos", big)
        _ = try home.vitrine("sync", "--list-only", linked.path)
        let before = try photos(big)
        let limit = "\(CleaningTests.size(home.caches) * 100 / 95 / 1_024)K"
        let sync = try home.vitrine("sync", "--cache-limit", limit)
        #expect(sync.status == 0 && sync.errors.isEmpty, "\(sync.errors)")
        #expect(sync.text.contains("28 photos, 28 thumbnails\n") && sync.text.contains("110 photos, 110 thumbnails\n"))
        let after = try photos(big)
        #expect(after > 0 && after < before)
    }

    @Test(
        "A gallery that the user removes with its cache is not updated, and its cache goes when no program has it open")
    func removedGallery() throws {
        for gallery in [linked.path, big] { _ = try home.vitrine("sync", "--list-only", gallery) }
        let session = try TerminalSession(
            arguments: ["--sync-on-open=no", linked.path], columns: 200, environment: home.environment())
        #expect(session.until(shows: "Dawn over the ridge"))
        session.type("q")
        #expect(session.until { $0.text(inRow: 0).contains("Galleries") && $0.text.contains("28 photos") })
        session.type("d")
        #expect(session.until(shows: "and its cache"))
        session.type("c")
        #expect(session.until { !$0.text.contains("and its cache") })
        session.type("s")
        #expect(session.until(shows: "Saved the list of galleries."))
        session.type("Q")
        #expect(session.wait() == 0 && home.waitForPrograms())
        #expect(home.folder.entries(".cache/vitrine/galleries").count == 2)
        let sync = try home.vitrine("sync", "--list-only")
        #expect(sync.status == 0 && sync.errors.isEmpty && sync.lines.count == 1, "\(sync.text)\(sync.errors)")
        #expect(sync.text.hasSuffix("\t110 photos\n"))
        #expect(home.folder.entries(".cache/vitrine/galleries").count == 1)
    }

    @Test(
        "BEHAVIOURS 4.2: an update that exceeds the limit ends and does not fetch repeatedly")
    func noRoomForAll() throws {
        let server = try Nginx(serving: Built.testGallery)
        let gallery = server.url("/index.xml")
        let limit = ["--cache-limit", "4M"]
        let first = try home.vitrine("sync", "--photos", limit[0], limit[1], gallery)
        #expect(first.status == 1 && first.errors.contains("cache-limit"))
        let held = try photos(gallery)
        #expect(held > 0 && held < 28)
        #expect(CleaningTests.size(home.caches) <= 4 << 20)
        let asked = try server.paths().count
        #expect(try home.vitrine("sync", "--photos", limit[0], limit[1], gallery).status == 1)
        // Requests are the list and those under way when the limit was noticed.
        #expect(try server.paths().count <= asked + 8)
        let small = try home.vitrine("sync", "--list-only", "--cache-limit", "1K", Built.testGallery)
        #expect(small.status == 1 && small.errors.contains("list alone exceeds cache-limit"))
    }

    private static func size(_ folder: String) -> Int {
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return files.reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(file)")
            return sum
                + (attributes?[.type] as? FileAttributeType == .typeRegular ? attributes?[.size] as? Int ?? 0 : 0)
        }
    }
}
