import Foundation
import TestSupport
import Testing

/// A terminal that answers after `vitrine show` stopped waiting.
@Suite(.ownThread, .serialized) struct LateAnswerTests {
    private let home = Household()

    /// Over a slow line, or from a busy terminal, answers arrive while the picture is drawn.
    @Test func lateAnswersDoNotReachTheShell() throws {
        let script = "\"$0\" \"$@\"; echo 'shown.'; IFS= read -r line; echo \"left: ${#line}.\""
        for attempt in 1...5 {
            let session = try TerminalSession(
                "/bin/sh",
                arguments: [
                    "-c", script, Built.vitrine, "show", "--size=20x10", Built.testGallery + "/images/owl.jpg",
                ],
                environment: home.environment())
            #expect(session.until { $0.questions.contains("CSI c") })
            let asked = Date()
            #expect(session.until { $0.text.contains("▀") })
            session.type(session.screen.questions.compactMap { Persona.kitty.answer(to: $0) }.joined())
            // Vitrine waits for a second; on a busy machine the test may be late.
            let isInTime = Date().timeIntervalSince(asked) < 0.8
            #expect(session.until(shows: "shown."))
            var (now, then) = (session.modes, session.original)
            #expect(memcmp(&now, &then, MemoryLayout<termios>.size) == 0)
            session.type("\n")
            #expect(session.until(shows: "left: "))
            #expect(session.wait() == 0)
            if session.screen.text.contains("left: 0.") { return }
            #expect(attempt < 5 || !isInTime, "\(session.screen.text)")
        }
        Issue.record("something is left")
    }
}
