import Foundation
import TestSupport
import Testing

/// The way of a new user without configuration, as docs/tour.md describes it.
@Suite(.ownThread, .serialized) struct TourTests {
    /// A proxy that serves the gallery under every name.
    private let server: Nginx
    private let tour: String

    init() throws {
        server = try Nginx(serving: Built.testGallery)
        let docs = URL(fileURLWithPath: Built.testGallery).deletingLastPathComponent().appendingPathComponent("docs")
        // Line breaks in the page do not matter.
        tour = try String(contentsOf: docs.appendingPathComponent("tour.md"), encoding: .utf8)
            .replacingOccurrences(of: "\n", with: " ")
    }

    /// Returns the tour under a heading, or before that heading.
    private func chapter(_ heading: String, isBefore: Bool = false) throws -> String {
        let place = try #require(tour.range(of: "## \(heading) "))
        return String(isBefore ? tour[..<place.lowerBound] : tour[place.upperBound...])
    }

    /// Returns the names of a page's pictures.
    private func pictures(in page: String) -> [String] {
        page.matches(of: #/\]\((?:docs/)?screens/([a-z-]+)\.png\)/#).map { String($0.output.1) }
    }

    @Test("A new user finds a photo, its metadata and the exit by the hints on the screen")
    func hintsShowEveryStep() throws {
        let anna = try Newcomer(proxy: server.url("/"))
        try anna.sees("/share/vitrine/TestGallery", "Press ? to list all keys.")
        try anna.takesPicture("start")

        // First come the present gallery and the help.
        try anna.presses("Enter", since: "Press Enter to open this built-in gallery.")
        try anna.sees("1 of 28", "Dawn over the ridge")
        try anna.takesPicture("gallery", blocks: 168)
        try anna.presses("?", since: "? help")
        try anna.sees(" Help", "view the photo")
        try anna.takesPicture("help")
        try anna.sees("q Esc h Left", "back to the galleries")
        try anna.presses("Escape", since: "Esc: back")
        try anna.sees("1 of 28")
        try anna.presses("q", since: "? help")

        // Next comes a gallery on the network.
        try anna.sees(" Galleries")
        try anna.presses("a", since: "a add")
        try anna.sees("Address:")
        try anna.tmux.type("photos.example.org/index.xml")
        try anna.sees("Address: photos.example.org/index.xml")
        try anna.takesPicture("address")
        try anna.presses("Enter", since: "Enter: add")
        try anna.sees("http://photos.example.org/index.xml", "2 galleries")
        try anna.presses("Enter", since: "Enter open")
        try anna.sees("photos.example.org/index.xml", "1 of 28", "Updated:")
        #expect(try server.paths().contains { $0.hasSuffix("/index.xml") })
        try anna.tmux.type("Down", "Down", "Down")
        try anna.sees("4 of 28")

        // Then comes one of its photos.
        try anna.presses("Enter", since: "Enter view")
        try anna.sees("The oak in October", "4 of 28 · fit", "Sun 26 Oct 2008")
        try anna.takesPicture("photo", blocks: 800)
        try anna.presses("+", "+", since: "+ larger")
        try anna.sees(" %")
        try anna.takesPicture("larger", blocks: 1_500)
        try anna.presses("i", since: "i facts")
        try anna.sees("Camera   Vitrine Procedural 1", "Exposure", "█")
        try anna.takesPicture("facts")

        // The help finds keys without a hint.
        try anna.presses("?", since: "? help")
        try anna.presses("save", since: "Type to filter")
        try anna.sees("save the photo to a folder", "Filter: save")
        try anna.takesPicture("search")
        try anna.presses("Escape", since: "Esc: back")
        try anna.sees("4 of 28")
        try anna.tmux.type("s")
        try anna.sees("Save “The oak in October” to: ", "/Pictures")
        try anna.tmux.type("Enter")
        try anna.sees("Saved “The oak in October” to ", "/Pictures.")
        try anna.takesPicture("saved")
        let photo = FileManager.default.contents(atPath: Built.testGallery + "/images/october-oak.jpg")
        #expect(anna.file("Pictures/The oak in October.jpg") == photo)

        // Finally Vitrine quits.
        try anna.tmux.type("?")
        try anna.presses("quit", since: "Type to filter")
        try anna.sees("Q ^C", "quit", "Filter: quit")
        try anna.presses("Escape", since: "Esc: back")
        try anna.sees("4 of 28")
        try anna.tmux.type("Q")
        try anna.sees("ended with 0")

        // The tour quotes these hints.
        let part = try chapter("Photos on a NAS", isBefore: true)
        #expect(pictures(in: part) == anna.pictures)
        for hint in anna.hints { #expect(part.contains("`\(hint)`"), "\(hint)") }
    }

    @Test("A new user types the address of a NAS, signs in and sees the photos and folders")
    func folders() throws {
        let nas = TestFolder()
        for (folder, names) in [
            "2007 Coast": ["low-tide", "owl"], "2008 Autumn": ["october-oak", "three-pears"],
            "2008 Autumn/Night": ["milky-way"],
        ] {
            for name in names {
                let photo = try Data(contentsOf: URL(fileURLWithPath: "\(Built.testGallery)/images/\(name).jpg"))
                nas.write("photos/\(folder)/\(name).jpg", [UInt8](photo))
            }
        }
        let server = try Nginx(serving: nas.path, listsFolders: true, users: ["anna": "s3cret"])
        let anna = try Newcomer(proxy: server.url("/"))
        try anna.presses("a", since: "a add")
        try anna.sees("Address:")
        try anna.tmux.type("nas.local/photos/")
        try anna.presses("Enter", since: "Enter: add")
        try anna.sees("http://nas.local/photos/", "2 galleries")
        try anna.presses("Enter", since: "Enter open")
        try anna.sees("This server asks you to sign in", "Enter: next field")
        try anna.tmux.type("anna", "Enter", "s3cret")
        try anna.takesPicture("sign-in")
        try anna.tmux.type("Enter")
        try anna.sees("of 5", "Sun 26 Oct 2008  14:05 · 2008 Autumn")
        try anna.tmux.type("Home")
        try anna.sees("1 of 5")
        try anna.takesPicture("nas", blocks: 110)
        try anna.presses("?", since: "? help")
        try anna.presses("folder", since: "Type to filter")
        try anna.sees("switch between folders and all photos")
        try anna.presses("Escape", since: "Esc: back")
        try anna.sees("1 of 5")
        try anna.tmux.type("t")
        try anna.sees("photos › 2008 Autumn", "Night")
        try anna.takesPicture("folders", blocks: 60)
        try anna.presses("BSpace", since: "Backspace up")
        try anna.sees("2007 Coast", "2008 Autumn")
        let part = try chapter("Photos on a NAS")
        #expect(pictures(in: part) == anna.pictures)
        for hint in anna.hints { #expect(part.contains("`\(hint)`"), "\(hint)") }
    }

    @Test func wideWindowMatchesTheReadme() throws {
        let anna = try Newcomer(
            columns: 120, rows: 34, arguments: ["photos.example.org/index.xml"], proxy: server.url("/"))
        try anna.sees("photos.example.org/index.xml", "1 of 28", "Updated:")
        try anna.tmux.type("Down", "Down", "Down", "Enter")
        try anna.sees("4 of 28 · fit", "Sun 26 Oct 2008")
        try anna.tmux.type("q")
        try anna.sees("Camera", "The oak in October")
        try anna.takesPicture("wide", blocks: 900)
        let docs = URL(fileURLWithPath: Built.testGallery).deletingLastPathComponent()
        let readme = try String(contentsOf: docs.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(pictures(in: readme) == ["wide"])
    }
}
