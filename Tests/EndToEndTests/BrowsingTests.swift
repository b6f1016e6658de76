import Foundation
import TestSupport
import Testing

/// The real program in tmux, against a real web server.
@Suite(.ownThread, .serialized) struct BrowsingTests {
    private let home = Household()

    private func tmux(_ arguments: String..., environment: [String: String] = [:]) throws -> Tmux {
        try Tmux([Built.vitrine] + arguments, environment: home.environment(environment))
    }

    @Test("BEHAVIOURS 2.2, 4.1: a gallery on a server stays usable when the server stops, and updates when it returns")
    func throughTheNight() throws {
        let server = try Nginx(serving: Built.testGallery)
        do {
            let tmux = try tmux(server.url("/index.xml"))
            let list = try tmux.until {
                $0.contains("Updated:") && $0.contains("Owl, awake") && $0.contains("▀▀▀▀▀▀▀▀")
            }
            #expect(list.contains("1 of 28") && list.contains("Dawn over the ridge") && list.contains("Updated: "))
            // Every row has a thumbnail.
            #expect(try tmux.until { Self.thumbnails(in: $0) == 7 }.isEmpty == false)
            #expect(try Self.thumbnails(in: tmux.text()) == 7)
            try tmux.type("j", "j", "Enter")
            let photo = try tmux.until { $0.contains("3 of 28 · fit") && $0.filter { $0 == "▀" }.count > 500 }
            #expect(photo.contains("Stars and crosses"))
            #expect(photo.filter { $0 == "▀" }.count > 500)
            try tmux.type("Q")
            #expect(try tmux.until(shows: "ended with").contains("ended with 0"))
        }
        server.stop()
        do {
            let tmux = try tmux()
            // The start restores the photo although the server is down.
            let photo = try tmux.until { $0.contains("Stars and crosses") && $0.filter { $0 == "▀" }.count > 500 }
            #expect(photo.contains("3 of 28"))
            try tmux.type("q")
            let list = try tmux.until { $0.contains("Retry at ") && Self.thumbnails(in: $0) == 7 }
            #expect(list.contains(" · 127.0.0.1:\(server.port) cannot be reached ") && list.contains("x stop"))
            #expect(list.contains("Dawn over the ridge") && Self.thumbnails(in: list) == 7)
            try server.start()
            try tmux.type("r")
            let updated = try tmux.until { $0.contains("Updated: ") && !$0.contains("Retry") }
            #expect(updated.contains("Updated: ") && !updated.contains("Retry"))
            try tmux.type("Q")
            #expect(try tmux.until(shows: "ended with").contains("ended with 0"))
        }
    }

    @Test("BEHAVIOURS 2.5, 3.7: only changed rows change")
    func changes() throws {
        let folder = TestFolder()
        for name in ["images", "thumbnails"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path(name), withDestinationPath: Built.testGallery + "/" + name)
        }
        func serve(_ name: String) throws {
            folder.write("list.xml", try String(contentsOfFile: "\(Built.testGallery)/\(name)", encoding: .utf8))
        }
        try serve("changes-A.xml")
        let server = try Nginx(serving: folder.path)
        // With a fixed number of transfers, no thumbnail counts as hanging on a busy machine and is requested twice.
        let tmux = try Tmux(
            [Built.vitrine, "--transfers=4", "--row-height=3", server.url("/list.xml")], columns: 80, rows: 40,
            environment: home.environment())
        _ = try tmux.until { $0.contains("of 10") && Self.blocks($0).count == 10 && Self.hasAllThumbnails($0) }
        try tmux.type("G")
        _ = try tmux.until(shows: "10 of 10")
        let before = Self.blocks(try tmux.colouredText())
        #expect(Set(before.keys).count == 10)
        let asked = try server.paths()

        try serve("changes-B.xml")
        try tmux.type("r")
        let text = try tmux.until {
            $0.contains("Harbour, midnight") && Self.hasAllThumbnails($0) && $0.contains("Updated: ")
        }
        // The selection moved up two rows with its photo.
        #expect(text.contains("8 of 10"))
        let coloured = try tmux.colouredText()
        #expect(coloured.split(separator: "\n").contains { $0.contains("▌") && $0.contains("Two eggs, white") })
        let after = Self.blocks(coloured)
        #expect(
            Set(after.keys) == [
                "Dawn over the ridge", "Last light, from the other side", "Hills in the mist", "Noon, one sail",
                "Three pears, one lying down", "Desert, dusk", "On the shelf", "Two eggs, white",
                "Moon in the branches",
                "Harbour, midnight",
            ])
        for name in ["Dawn over the ridge", "Hills in the mist", "Noon, one sail", "Desert, dusk", "Two eggs, white"] {
            #expect(after[name] == before[name], "\(name)")
        }
        // A renamed photo keeps its picture; one with a new path gets another.
        let (pears, light) = (before["Three pears"], before["Last light"])
        #expect(after["Three pears, one lying down"].map(Self.picture) == pears.map(Self.picture))
        #expect(after["Last light, from the other side"].map(Self.picture) != light.map(Self.picture))

        let newlyAsked = try server.paths().dropFirst(asked.count)
        #expect(
            newlyAsked.sorted() == [
                "/list.xml", "/thumbnails/fireworks.jpg", "/thumbnails/lighthouse-2.jpg", "/thumbnails/moon.jpg",
                "/thumbnails/on-the-shelf.jpg",
            ])
    }

    /// Returns the three rows of each photo, by name.
    private static func blocks(_ text: String) -> [String: [String]] {
        let rows = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var blocks: [String: [String]] = [:]
        for start in stride(from: 1, to: max(1, rows.count - 3), by: 3) {
            let plain = rows[start].replacing(#/\u{1B}\[[0-9;]*m/#, with: "")
            let name = plain.dropFirst(11).trimmingCharacters(in: .whitespaces)
            if !name.isEmpty { blocks[name] = Array(rows[start..<start + 3]) }
        }
        return blocks
    }

    private static func hasAllThumbnails(_ text: String) -> Bool {
        blocks(text).values.allSatisfy { rows in rows.allSatisfy { $0.dropFirst().prefix(8).contains("▀") } }
    }

    /// Returns the thumbnail's part of a photo's rows.
    private static func picture(_ rows: [String]) -> [Substring] {
        rows.map { $0.prefix(through: $0.lastIndex(of: "▀") ?? $0.startIndex) }
    }

    /// Returns the photos whose three rows all show a picture.
    private static func thumbnails(in text: String) -> Int {
        let rows = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard rows.count > 22 else { return 0 }
        return (0..<7).filter { photo in
            (1...3).allSatisfy { rows[photo * 3 + $0].dropFirst().prefix(8).contains("▀") }
        }.count
    }
}
