import Foundation
import TestSupport
import Testing

/// The program at the end of a line that carries 10 KB a second.
@Suite(.ownThread, .serialized) struct SlowLineTests {
    private let home = Household()

    /// What the system itself holds for a terminal that does not read: 12 to 17 KB, by the size of what is written.
    private static let buffers = 20_480

    @Test("A terminal that is asked again, and answers too late, goes on showing pictures")
    func lateAnswers() throws {
        let session = try TerminalSession(
            arguments: [Built.testGallery], environment: home.environment(), persona: .foot)
        func pictures() -> Int {
            String(decoding: session.bytes, as: UTF8.self).components(separatedBy: "\u{1B}P0;1;0q").count - 1
        }
        try #require(session.until { _ in pictures() > 3 })
        session.untilQuiet()
        let (count, asked) = (pictures(), session.screen.questions.count)
        session.persona = nil
        session.type("\u{1B}[I")
        // Longer than it is waited for.
        session.untilQuiet(milliseconds: 1_500)
        #expect(Array(session.screen.questions[asked...]) == ["CSI 16t", "CSI 14t", "OSC 11;?", "CSI c"])
        session.type("G")
        #expect(session.until { _ in pictures() > count })
        session.type("Q")
        #expect(session.wait() == 0)
    }

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
