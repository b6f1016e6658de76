import Foundation
import TestSupport
import Testing

/// The program on a line of 10 KB per second.
@Suite(.ownThread, .serialized) struct SlowLineTests {
    private let home = Household()

    /// The system's buffer for a terminal that does not read: 12 to 17 KB.
    private static let buffers = 20_480

    @Test("A terminal that answers a repeated query too late keeps showing pictures")
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
        // The answer takes longer than Vitrine waits.
        session.untilQuiet(milliseconds: 1_500)
        #expect(Array(session.screen.questions[asked...]) == ["CSI 16t", "CSI 14t", "OSC 11;?", "CSI c"])
        session.type("G")
        #expect(session.until { _ in pictures() > count })
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("Releasing a key shows the current position without delay")
    func keysHeldDown() throws {
        let session = try TerminalSession(
            arguments: ["--pixels=none", Built.testGallery], environment: home.environment(["COLORTERM": "truecolor"]))
        try #require(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" && $0[1, 19].text == "▀" })
        session.untilQuiet()
        let first = session.bytes.count
        session.type("\u{C}")
        session.untilQuiet()
        let frame = session.bytes.count - first
        // The cursor moves nearly to the end and back, four times.
        let keys = (0..<200).map { $0 / 25 % 2 == 0 ? "\u{1B}[B" : "\u{1B}[A" }
        session.type(keys, perSecond: 30, bytesPerSecond: 10_000)
        let last = session.bytes.count
        session.type("\u{1B}[B")
        session.untilQuiet()
        #expect(session.screen.text(inRow: 0).hasSuffix("2 of 28"), "\(session.screen.text)")
        // The output is the frame in progress and the final one. All frames would be a megabyte.
        let backlog = session.bytes.count - last
        #expect(backlog <= 2 * frame + Self.buffers, "\(backlog) bytes, of \(frame) a frame")
        session.type("Q")
        #expect(session.wait() == 0)
    }
}
