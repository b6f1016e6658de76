import Foundation
import TestSupport
import Testing

/// Videos in local folders, in the real program.
@Suite(.ownThread, .serialized) struct VideoTests {
    private let home = Household()

    /// Writes a video of a second of red, a second of green and a second of blue, beside a photo.
    private func write() throws {
        let picture = try Data(contentsOf: URL(fileURLWithPath: "\(Built.testGallery)/thumbnails/owl.jpg"))
        home.folder.write("album/owl.jpg", [UInt8](picture))
        let colours = ["red", "green", "blue"].flatMap { ["-f", "lavfi", "-i", "color=\($0):s=320x240:r=10:d=1"] }
        let made = try Command(
            "/usr/bin/ffmpeg",
            ["-v", "error"] + colours + [
                "-filter_complex", "concat=n=3", "-pix_fmt", "yuv420p", home.folder.path("album/colours.mp4"),
            ])
        try #require(made.status == 0, "\(made.errors)")
    }

    private func browse() throws -> TerminalSession {
        try TerminalSession(
            arguments: [home.folder.path("album/colours.mp4")],
            environment: home.environment(["COLORTERM": "truecolor"]))
    }

    @Test("A video in a folder has a poster, plays to its end, and plays again")
    func plays() throws {
        try write()
        let session = try browse()
        #expect(session.until { $0.text.contains("video 0:03") && $0.text.contains("▸ 0:03") })
        for _ in 0..<2 {
            session.type("a")
            #expect(session.until { $0.text(inRow: 0).contains("playing") && $0.text.contains("0:01 / 0:03") })
            #expect(session.until { !$0.text(inRow: 0).contains("playing") && $0.text.contains("0:02 / 0:03") })
        }
        session.type("i")
        #expect(session.until { $0.text.contains("H.264, 10 frames/s") && $0.text.contains("320 × 240") })
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("A video stops while another screen covers it, and ends with the program")
    func stops() throws {
        try write()
        let session = try browse()
        #expect(session.until(shows: "▸ 0:03"))
        session.type("a")
        #expect(session.until(shows: "playing"))
        session.type("?")
        #expect(session.until { !$0.text.contains("playing") })
        session.type("\u{1B}")
        #expect(session.until(shows: "playing"))
        session.type("Q")
        #expect(session.wait() == 0)
        // The cache has no copy of the video.
        let galleries = ".cache/vitrine/galleries"
        let gallery = try #require(home.folder.entries(galleries).first)
        #expect(home.folder.entries("\(galleries)/\(gallery)/photos").isEmpty)
    }

    @Test("The commands state a video's length, size, coding and frames a second")
    func commands() throws {
        try write()
        let facts = try home.vitrine("info", "--json", home.folder.path("album/colours.mp4"))
        for part in [#""video":3.0"#, #""width":320"#, #""codec":"H.264""#, #""frameRate":10.0"#] {
            #expect(facts.text.contains(part), "\(facts.text)")
        }
        let session = try browse()
        #expect(session.until(shows: "▸ 0:03"))
        session.type("Q")
        #expect(session.wait() == 0)
        let list = try home.vitrine("list", "--json", home.folder.path("album"))
        #expect(list.text.contains(#""video":3.0,"width":320,"height":240,"codec":"H.264","frameRate":10.0"#))
    }
}
