import TestSupport
import Testing

/// Output bytes for a cursor step with character pictures.
@Suite(.ownThread, .serialized) struct CursorBytesTests {
    private let home = Household()

    private func browse(columns: Int, rows: Int) throws -> TerminalSession {
        let session = try TerminalSession(
            arguments: [Built.testGallery], columns: columns, rows: rows,
            environment: home.environment(["COLORTERM": "truecolor"]))
        #expect(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" })
        session.untilQuiet()
        return session
    }

    /// Returns the bytes that a key costs until the heading shows its effect.
    private func cost(of key: String, to place: Int, _ session: TerminalSession) -> Int {
        let before = session.bytes.count
        session.type(key)
        #expect(session.until(shows: "\(place) of 28"), "\(session.screen.text)")
        session.untilQuiet()
        return session.bytes.count - before
    }

    @Test(arguments: [(80, 24), (200, 60), (40, 12)]) func cursorStepTakesFewBytes(columns: Int, rows: Int) throws {
        let session = try browse(columns: columns, rows: rows)
        // The preview pane is drawn later, when the cursor rests.
        if columns >= 120 {
            session.type("i")
            session.untilQuiet()
        }
        for (key, place) in [("j", 2), ("j", 3), ("k", 2)] {
            let cost = cost(of: key, to: place, session)
            #expect(cost > 0 && cost <= 300, "\(key) costs \(cost) bytes")
        }
        session.type("\t")
        session.untilQuiet()
        for (key, place) in [("l", 3), ("h", 2), ("h", 1), ("l", 2)] {
            let cost = cost(of: key, to: place, session)
            #expect(cost > 0 && cost <= 600, "\(key) costs \(cost) bytes")
        }
        // No photo was opened meanwhile.
        #expect(!session.screen.text.contains("fit"))
        session.type("Q")
        #expect(session.wait() == 0)
    }
}
