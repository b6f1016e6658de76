import Foundation
import TestSupport
import Testing

/// The way of a new user, with nothing configured: docs/tour.md tells it, and these tests go it.
@Suite(.ownThread, .serialized) struct TourTests {
    /// The server by whose name the gallery is opened, whatever name that is: a proxy for the whole network.
    private let server: Nginx
    private let tour: String

    init() throws {
        server = try Nginx(serving: Built.testGallery)
        let docs = URL(fileURLWithPath: Built.testGallery).deletingLastPathComponent().appendingPathComponent("docs")
        // Where its lines end is all the same.
        tour = try String(contentsOf: docs.appendingPathComponent("tour.md"), encoding: .utf8)
            .replacingOccurrences(of: "\n", with: " ")
    }

    /// The pictures that a page shows, by the names that they were taken under.
    private func pictures(in page: String) -> [String] {
        page.matches(of: #/\]\((?:docs/)?screens/([a-z-]+)\.png\)/#).map { String($0.output.1) }
    }

    @Test("Who has never seen Vitrine finds a photo, its camera and the way out by what the screen says")
    func everyStepIsSaidOnTheScreen() throws {
        let anna = try Newcomer(proxy: server.url("/"))
        try anna.sees("/share/vitrine/TestGallery", "? lists the keys.")
        try anna.takesPicture("start")

        // The gallery that is there, and the help.
        try anna.presses("Enter", since: "This gallery comes with Vitrine: Enter shows it.")
        try anna.sees("1 of 28", "Dawn over the ridge")
        try anna.takesPicture("gallery", blocks: 168)
        try anna.presses("?", since: "? help")
        try anna.sees(" Help", "look at the photo")
        try anna.takesPicture("help")
        try anna.sees("q Esc h Left", "back to the galleries")
        try anna.presses("Escape", since: "Esc leads back")
        try anna.sees("1 of 28")
        try anna.presses("q", since: "? help")

        // One from the network.
        try anna.sees(" Galleries")
        try anna.presses("a", since: "a add")
        try anna.sees("Address:")
        try anna.tmux.type("photos.example.org/index.xml")
        try anna.sees("Address: photos.example.org/index.xml")
        try anna.takesPicture("address")
        try anna.presses("Enter", since: "Enter adds it")
        try anna.sees("http://photos.example.org/index.xml", "2 galleries")
        try anna.presses("Enter", since: "Enter open")
        try anna.sees("photos.example.org/index.xml", "1 of 28", "Updated:")
        #expect(try server.paths().contains { $0.hasSuffix("/index.xml") })
        try anna.tmux.type("Down", "Down", "Down")
        try anna.sees("4 of 28")

        // A photo of it.
        try anna.presses("Enter", since: "Enter look")
        try anna.sees("The oak in October", "4 of 28 · fit", "Sun 26 Oct 2008")
        try anna.takesPicture("photo", blocks: 800)
        try anna.presses("+", "+", since: "+ larger")
        try anna.sees(" %")
        try anna.takesPicture("larger", blocks: 1_500)
        try anna.presses("i", since: "i facts")
        try anna.sees("Camera   Vitrine Procedural 1", "Exposure", "█")
        try anna.takesPicture("facts")

        // What no hint says the help finds.
        try anna.presses("?", since: "? help")
        try anna.presses("save", since: "Type what to look for.")
        try anna.sees("save it to a folder", "Filter: save")
        try anna.takesPicture("search")
        try anna.presses("Escape", since: "Esc leads back")
        try anna.sees("4 of 28")
        try anna.tmux.type("s")
        try anna.sees("Save “The oak in October” to: ", "/Pictures")
        try anna.tmux.type("Enter")
        try anna.sees("“The oak in October” is in ", "/Pictures.")
        try anna.takesPicture("saved")
        let photo = FileManager.default.contents(atPath: Built.testGallery + "/images/october-oak.jpg")
        #expect(anna.file("Pictures/The oak in October.jpg") == photo)

        // And out.
        try anna.tmux.type("?")
        try anna.presses("quit", since: "Type what to look for.")
        try anna.sees("Q ^C", "quit", "Filter: quit")
        try anna.presses("Escape", since: "Esc leads back")
        try anna.sees("4 of 28")
        try anna.tmux.type("Q")
        try anna.sees("ended with 0")

        // That is what is told.
        #expect(pictures(in: tour) == anna.pictures)
        for hint in anna.hints { #expect(tour.contains("`\(hint)`"), "\(hint)") }
    }

    @Test func aWideWindowShowsWhatTheReadmeShows() throws {
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
