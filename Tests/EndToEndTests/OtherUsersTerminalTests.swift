import Foundation
import TestSupport
import Testing

/// A terminal whose device belongs to another user, as after `su`.
@Suite(.ownThread, .enabled(if: geteuid() == 0)) struct OtherUsersTerminalTests {
    private let home = Household()

    @Test("Vitrine opens in a terminal whose device belongs to another user")
    func opens() throws {
        let script = #"device=$(tty) && chown 65534 "$device" && chmod 600 "$device" && exec setpriv "$@""#
        // Without these capabilities, file modes apply to root, too.
        let without = "-dac_override,-dac_read_search"
        let session = try TerminalSession(
            "/bin/sh",
            arguments: [
                "-c", script, "sh", "--bounding-set", without, "--inh-caps", without, Built.vitrine, Built.testGallery,
            ],
            environment: home.environment())
        try #require(session.until(shows: "of 28"), "\(session.screen.text)")
        session.type("Q")
        #expect(session.wait() == 0)
        session.expectRestored()
    }
}
