import Foundation
import TestSupport
import Testing

/// Pictures in a tmux that several terminals view in turn.
@Suite(.ownThread, .serialized) struct TmuxFocusTests {
    private let home = Household()

    /// Returns the pictures sent to the terminal around tmux.
    private func sent(_ session: TerminalSession) -> Int {
        String(decoding: session.bytes, as: UTF8.self).components(separatedBy: "\u{1B}_Ga=t,").count - 1
    }

    @Test("A terminal that attaches to tmux receives the visible pictures")
    func picturesAreSentAgain() throws {
        let folder = TestFolder()
        let socket = folder.path("tmux")
        let configuration = folder.write(
            "tmux.conf", "set -g status off\nset -g focus-events on\nset -g allow-passthrough on\n")
        let session = try TerminalSession(
            "/usr/bin/tmux",
            arguments: [
                "-S", socket, "-u", "-f", configuration, "new-session", Built.vitrine, "--pixels=auto",
                Built.testGallery,
            ],
            environment: home.environment(), persona: .kitty)
        defer { _ = try? Command("/usr/bin/tmux", ["-S", socket, "kill-server"]) }
        #expect(session.until { $0.text.contains("Updated:") })
        #expect(session.until { _ in sent(session) > 3 })
        session.untilQuiet()
        let (before, kept) = (sent(session), session.screen.pictures.kept.count)
        session.type("\u{1B}[O")
        session.untilQuiet(milliseconds: 200)
        session.type("\u{1B}[I")
        #expect(session.until { _ in sent(session) >= before + kept })
        session.untilQuiet()
        // Earlier pictures are forgotten.
        #expect(session.screen.pictures.kept.count == kept)
        session.type("Q")
        _ = session.wait()
    }
}
