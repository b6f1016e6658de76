import Foundation
import SQLite
import TestSupport
import Testing

/// The real program over caches that a compromised fetcher has written.
@Suite(.ownThread, .serialized) struct HostileCacheTests {
    private let home = Household()

    /// The number of runs; before a release: `VITRINE_SEEDS=200`.
    private static let seeds = Array(
        1...UInt64(ProcessInfo.processInfo.environment["VITRINE_SEEDS"].flatMap { Int($0) } ?? 3))
    private static let values = [
        "9223372036854775807", "-9223372036854775808", "0", "-1", "2147483647", "4611686018427387904",
        "1000000000000000", "1e308", "0.5", "''", "'a/b'", "'\u{1B}[2J\u{7}\u{301}/../x'", "x'FF00'", "zeroblob(70000)",
        "'/etc/passwd'", "'file:///etc/passwd'", "'https://127.0.0.1:1/x'", "'*****+\nx\nx'",
    ]

    private func databases() -> [String] {
        let galleries = home.caches + "/galleries"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: galleries)) ?? []
        return names.map { "\(galleries)/\($0)/gallery.sqlite" }
    }

    /// Writes random values into random columns of some or all rows.
    private func plant(_ numbers: inout SeededNumbers, count: Int) throws {
        for path in databases() {
            let connection = try Connection(path: path, access: .readWrite)
            for _ in 0..<count {
                let table =
                    ["gallery", "photo", "metadata", "thumbnail", "album", "folder", "announcement"]
                    .randomElement(using: &numbers) ?? "photo"
                let columns = try connection.map("SELECT name FROM pragma_table_info(?)", table) { $0.text(0) }
                let column = columns.randomElement(using: &numbers) ?? "key"
                // Otherwise the database is only set aside.
                guard (table, column) != ("gallery", "address") else { continue }
                let value = Self.values.randomElement(using: &numbers) ?? "0"
                let part =
                    Bool.random(using: &numbers) ? "" : " WHERE rowid % 5 = \(Int.random(in: 0..<5, using: &numbers))"
                try? connection.execute(
                    "UPDATE OR IGNORE \(table) SET \(column) = \(value)\(table == "folder" ? "" : part)")
            }
        }
    }

    @Test("Any rows leave the screens and the commands running", arguments: seeds)
    func anyRows(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed &* 7_919)
        let server = try Nginx(serving: Built.testGallery)
        let address = server.url("/index.xml")
        let sync = try home.vitrine("sync", "--photos", address)
        try #require(sync.status == 0, "\(sync.errors)")
        try plant(&numbers, count: 6)
        let session = try TerminalSession(
            "/bin/sh",
            arguments: ["-c", "cd \"$HOME\" && exec \"$0\" --offline \"$1\"", Built.vitrine, address],
            environment: home.environment(["PATH": "/nowhere", "COLORTERM": "truecolor"]))
        session.until(shows: "help")
        let keys =
            ["j", "j", "\r", "i", "]", "+", "0", "\u{1B}", "v", "G", "g", "/", "a", "\r", "\u{1B}", "S", "E", "\u{1B}"]
            + [
                "s", "d", "\u{1B}", "y", "Y", "F", "j", "\r", "\u{1B}", "T", "\u{1B}", "m", "R", "x", "\u{1B}", "L",
                "\u{1B}",
            ]
        for (number, key) in keys.enumerated() where !session.hasEnded {
            session.type(key)
            session.until(seconds: 0.02) { _ in false }
            // Another process may write while the screens read.
            if number % 6 == 5 { try plant(&numbers, count: 2) }
        }
        if !session.hasEnded { kill(session.process, SIGTERM) }
        let status = session.wait()
        #expect([0, 130, 128 + SIGTERM].contains(status), "seed \(seed): \(session.screen.text)")
        session.expectRestored()
        #expect(session.screen.violations.isEmpty)
        let commands = [
            ["list", "--json", address], ["info", "--json", address], ["cache", "info"], ["cache", "check"],
            ["export", "--offline", address, home.folder.path("export")], ["sync", "--list-only", "--offline"],
        ]
        for words in commands {
            let command = try Command(Built.vitrine, words, environment: home.environment())
            #expect((0...3).contains(command.status), "seed \(seed): \(words): \(command.status) \(command.errors)")
        }
    }

    /// The fetcher gets the rights that an open gallery needs, so its own rows must not open one.
    @Test("An update of all galleries leaves out galleries that only a cache names")
    func unknownGalleries() throws {
        let server = try Nginx(serving: Built.testGallery)
        #expect(try home.vitrine("sync", "--list-only", server.url("/index.xml")).status == 0)
        let database = try #require(databases().first)
        let forged = home.caches + "/galleries/0123456789abcdef"
        try FileManager.default.createDirectory(
            atPath: forged, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.copyItem(atPath: database, toPath: forged + "/gallery.sqlite")
        try Connection(path: forged + "/gallery.sqlite", access: .readWrite).execute(
            "UPDATE gallery SET address = 'file:///etc/'")
        let sync = try home.vitrine("sync", "--list-only")
        #expect(
            sync.status == 0 && sync.lines.count == 1 && sync.text.hasPrefix(server.url("/index.xml")), "\(sync.text)")
    }
}
