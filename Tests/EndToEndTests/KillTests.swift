import Foundation
import SQLite
import TestSupport
import Testing

/// The program is killed in the middle of a sync, again and again, and nothing that was acknowledged is ever lost.
@Suite(.serialized) struct KillTests {
    /// Twenty times here; `VITRINE_KILLS=200` for more.
    private let rounds = Int(ProcessInfo.processInfo.environment["VITRINE_KILLS"] ?? "") ?? 20

    @Test("BEHAVIOURS 4.4: killed in the middle of an update, nothing acknowledged is lost")
    func killedAtRandomMoments() throws {
        let server = try Nginx(serving: Built.testGallery)
        let home = Household()
        let log = home.folder.path("log")
        var state = UInt64.random(in: 0...UInt64.max)
        func random(_ bound: Int) -> Int32 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int32(Int(state >> 33) % bound)
        }
        var cut = 0
        for round in 0..<rounds {
            if round % 5 == 0 {
                // Everything anew, so that there is something to fetch.
                try? FileManager.default.removeItem(atPath: home.caches)
                try? FileManager.default.removeItem(atPath: log)
            }
            let sync = try ChildProcess(
                Built.vitrine,
                ["sync", "--photos", "--log-level=debug", "--log-file=\(log)", server.url("/index-big.xml")],
                environment: home.environment())
            // From before anything has happened to after everything has.
            poll(nil, 0, random(400))
            if sync.end(SIGKILL) == -SIGKILL { cut += 1 }
            try expectWhole(home, log, round)
        }
        #expect(cut > rounds / 3, "most rounds are cut short")
        // And the next start is normal.
        let last = try home.vitrine("sync", "--photos", server.url("/index-big.xml"))
        #expect(last.status == 0 && last.text.contains("110 photos, 110 thumbnails, 110 photos here"))
    }

    private func expectWhole(_ home: Household, _ log: String, _ round: Int) throws {
        let acknowledged = try Self.acknowledged(log)
        let galleries = home.folder.entries(".cache/vitrine/galleries")
        for gallery in galleries {
            let folder = home.caches + "/galleries/" + gallery
            guard FileManager.default.fileExists(atPath: folder + "/gallery.sqlite") else { continue }
            // The next start sweeps first; what it finds is then as it has to be.
            let check = try home.vitrine("cache", "check")
            #expect(check.status == 0, "round \(round): \(check.text)\(check.errors)")
            #expect(!check.text.contains("broken"), "round \(round): \(check.text)")
            let again = try home.vitrine("cache", "check")
            #expect(again.lines.allSatisfy { $0.contains("good, ") }, "round \(round): \(again.text)")
            let connection = try Connection(path: folder + "/gallery.sqlite", access: .readOnly)
            let isBegun =
                try connection.first("SELECT 1 FROM sqlite_master WHERE name = 'photo'") { _ in true } ?? false
            guard isBegun else {
                #expect(acknowledged.isEmpty, "round \(round): it had only been made")
                continue
            }
            for (rendition, keys) in acknowledged {
                for key in keys {
                    let held = try connection.first("SELECT \(rendition)_held FROM photo WHERE key = ?", key) {
                        $0.optionalInt(0)
                    }
                    #expect(held.flatMap { $0 } != nil, "round \(round): \(rendition) \(key)")
                }
            }
            let named = try connection.first("SELECT count(photo_file) FROM photo") { Int($0.int(0)) }
            #expect(named == home.folder.entries(".cache/vitrine/galleries/\(gallery)/photos").count, "round \(round)")
            #expect(home.folder.entries(".cache/vitrine/galleries/\(gallery)/partial").isEmpty, "round \(round)")
        }
    }

    /// What the log says was stored: it is written after the commit has returned.
    private static func acknowledged(_ log: String) throws -> [String: Set<Int>] {
        guard let text = try? String(contentsOfFile: log, encoding: .utf8) else { return [:] }
        var keys: [String: Set<Int>] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 6, words[3] == "stored", let key = Int(words[5]) else { continue }
            keys[String(words[4]), default: []].insert(key)
        }
        return keys
    }
}
