import Foundation
import Logging
import TestSupport
import Testing

@testable import Cache
@testable import Model

/// Names that move a cursor, query a terminal or mislead a reader, wherever names appear.
@Suite(.ownThread, .serialized) struct HostileNameTests {
    private let home = Household()
    private let address: Address

    private static let names = [
        "\u{1B}[2J\u{1B}[31mescape", "\u{1B}]0;title\u{7}\u{1B}]52;c;ZXZpbA==\u{7}", "bell\u{7}\u{7}",
        "back\u{8}\u{8}\u{8}\u{8}space", "c1\u{9B}31m\u{9D}0;x\u{9C}", "delete\u{7F}", "line\r\nbreak\ttab",
        "photo\u{202E}gpj.exe", "\u{2066}isolated\u{2069}", "zero\u{200B}width\u{FEFF}", "tag\u{E0041}\u{E0042}",
        "marks" + String(repeating: "\u{301}", count: 10_000), "\u{301}first", "wide 日本語 🏔",
    ]

    init() async throws {
        address = Address(filePath: home.folder.path("album"))
        let log = Log()
        let cache = try CacheFolder(path: home.caches, log: log).open(address)
        let draft = try cache.beginSync()
        try draft.add(
            Self.names.enumerated().map { index, name in
                GalleryEntry(
                    id: "\(index)\(name)", name: name, date: Timestamp(milliseconds: Int64(index) * 1_000),
                    photo: address.appending(name), thumbnail: address.appending("t-" + name))
            })
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 0))
        // Failure reasons are foreign text, too.
        for (index, name) in Self.names.enumerated() {
            let key = try #require(try cache.read { try $0.photo(galleryID: "\(index)\(name)") }).key
            try await cache.writer.recordTrouble(
                .bad(Failure(name, remedy: .none)), for: .original, of: key, edition: 1)
        }
    }

    /// Checks for printable characters and newlines only.
    private func expectHarmless(_ bytes: [UInt8], _ what: String) {
        let text = String(decoding: bytes, as: UTF8.self)
        for scalar in text.unicodeScalars {
            let isControl =
                (scalar.value < 0x20 && scalar != "\n" && scalar != "\t") || (0x7F...0x9F).contains(scalar.value)
            let isHidden = [0x202E, 0x2066, 0x2069, 0x200B, 0xFEFF, 0xE0041].contains(scalar.value)
            if isControl || isHidden { Issue.record("\(what): \(scalar.value)") }
        }
        #expect(text.split(separator: "\n").allSatisfy { $0.unicodeScalars.count < 400 }, "\(what)")
    }

    @Test func listIsHarmless() throws {
        let command = try home.vitrine("list", address.filePath ?? "")
        #expect(command.status == 0 && command.lines.count == Self.names.count)
        expectHarmless(command.output, "list")
        // The fields of unknown dates are empty.
        #expect(command.lines.allSatisfy { $0.split(separator: "\t", omittingEmptySubsequences: false).count == 4 })
        #expect(command.text.contains("␛[2J␛[31mescape"))
    }

    @Test func listAsJSONIsHarmlessAndWhole() throws {
        let command = try home.vitrine("list", "--json", address.filePath ?? "")
        #expect(command.output.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
        let photos = try #require(
            try JSONSerialization.jsonObject(with: Data(command.output)) as? [[String: Any]])
        // Programs get the exact name.
        #expect(photos.compactMap { $0["name"] as? String } == Self.names)
    }

    @Test func infoIsHarmless() throws {
        for (index, name) in Self.names.enumerated() {
            let command = try home.vitrine("info", "\(address.filePath ?? "")#\(index)\(name)")
            #expect(command.status == 0)
            expectHarmless(command.output, "info \(index)")
            let json = try home.vitrine("info", "--json", "\(address.filePath ?? "")#\(index)\(name)")
            #expect(json.output.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
        }
    }

    @Test(arguments: ["xterm-256color", "linux", "vt100"]) func screensAreHarmless(term: String) throws {
        let session = try TerminalSession(
            arguments: ["--offline", "--log-level=debug", address.filePath ?? ""],
            environment: home.environment(term: term))
        #expect(session.until(shows: "1 of 14"))
        // The test visits every row, every photo's screen and the log.
        for _ in Self.names { session.type("j") }
        #expect(session.until(shows: "14 of 14"))
        session.type("\r")
        for index in (1...Self.names.count).reversed() {
            #expect(session.until(shows: "\(index) of 14"))
            session.type("[")
        }
        session.type("L")
        #expect(session.until(shows: "network-detail"))
        session.type("qqQ")
        #expect(session.wait() == 0)
        #expect(session.screen.violations.isEmpty, "\(session.screen.violations.prefix(5))")
    }

    @Test("A terminal that does not use UTF-8 gets only ASCII from commands, messages and the log")
    func asciiOnly() throws {
        // A file or pipe gets the names in UTF-8. This comes first, because a later sync removes the old cache.
        let command = try home.vitrine("list", address.filePath ?? "", environment: ["LC_ALL": "C"])
        #expect(command.text.contains("wide 日本語 🏔"))
        let list = home.folder.write(
            "gallery.xml",
            """
            <album><photo id="1" name="a" date="x\u{DB}2J"/><photo id="2" name="b" date="2006-07-30T17:47:17Z">
            <image kind="image" srcURL="b.jpg"/></photo></album>
            """)
        for (arguments, shown) in [
            (["list", address.filePath ?? ""], "wide ??????"),
            (["list", home.folder.path("none")], "Run \"vitrine sync\""),
            (["sync", "--list-only", "--log-file", "-", list], "\"x?2J\" is not a date"),
        ] {
            let session = try TerminalSession(arguments: arguments, environment: home.environment(["LC_ALL": "C"]))
            _ = session.wait()
            #expect(session.bytes.allSatisfy { $0 < 0x80 }, "\(arguments)")
            #expect(String(decoding: session.bytes, as: UTF8.self).contains(shown), "\(arguments)")
        }
    }

    @Test func namesStandInTheirColumns() throws {
        let session = try TerminalSession(
            arguments: ["--offline", address.filePath ?? ""], rows: 100, environment: home.environment())
        #expect(session.until(shows: "wide 日本語"))
        let text = session.screen.text
        #expect(text.contains("␛[2J␛[31mescape") && text.contains("back␈␈␈␈space"))
        #expect(text.contains("photo\u{FFFD}gpj.exe"))
        // There are at most four combining marks, and the date below is in place.
        let marks = try #require(text.split(separator: "\n").first { $0.contains(" mark") })
        #expect(marks.unicodeScalars.filter { $0.value == 0x301 }.count == Glyphs.maximumMarks)
    }

    private enum Glyphs {
        static let maximumMarks = 4
    }
}
