import Foundation
import TestSupport
import Testing

/// The program at the end of a line that carries 10 KB a second.
@Suite(.ownThread, .serialized) struct SlowLineTests {
    private let home = Household()

    /// What the system itself holds for a terminal that does not read: 12 to 17 KB, by the size of what is written.
    private static let buffers = 20_480

    @Test("Who lets go of a key sees where he is, and not where he has been")
    func keysHeldDown() throws {
        let session = try TerminalSession(
            arguments: ["--pixels=none", Built.testGallery], environment: home.environment(["COLORTERM": "truecolor"]))
        try #require(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" && $0[1, 19].text == "▀" })
        session.untilQuiet()
        let first = session.bytes.count
        session.type("\u{C}")
        session.untilQuiet()
        let frame = session.bytes.count - first
        // Down nearly to the end and up again, four times.
        let keys = (0..<200).map { $0 / 25 % 2 == 0 ? "\u{1B}[B" : "\u{1B}[A" }
        session.type(keys, perSecond: 30, bytesPerSecond: 10_000)
        let last = session.bytes.count
        session.type("\u{1B}[B")
        session.untilQuiet()
        #expect(session.screen.text(inRow: 0).hasSuffix("2 of 28"), "\(session.screen.text)")
        // The frame that was under way, and the one that shows how things stand. All of them would be a megabyte.
        let backlog = session.bytes.count - last
        #expect(backlog <= 2 * frame + Self.buffers, "\(backlog) bytes, of \(frame) a frame")
        session.type("Q")
        #expect(session.wait() == 0)
    }
}
