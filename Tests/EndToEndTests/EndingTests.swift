import Foundation
import TestSupport
import Testing

/// After every kind of end the terminal is restored, and the exit code shows the kind.
@Suite(.ownThread, .serialized) struct EndingTests {
    /// The number of rounds; `VITRINE_ROUNDS=50` before a release.
    private let rounds = ProcessInfo.processInfo.environment["VITRINE_ROUNDS"].flatMap { Int($0) } ?? 2
    private let home = Household()

    private func browse() throws -> TerminalSession {
        let session = try TerminalSession(arguments: [Built.testGallery], environment: home.environment())
        try #require(session.until(shows: "of 28"))
        return session
    }

    /// The end comes at any moment between first frame and rest, at another photo each time.
    private func end(_ body: (TerminalSession, String) throws -> Void) throws {
        for round in 0..<rounds {
            let session = try TerminalSession(arguments: [Built.testGallery], environment: home.environment())
            try #require(session.until(shows: "of 28"))
            session.type("g" + String(repeating: "j", count: round % 7 + 1))
            try #require(session.until(shows: "\(round % 7 + 2) of 28"))
            try body(session, "\(round % 7 + 2) of 28")
        }
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT]) func signalsEndIt(signal: Int32) throws {
        try end { session, place in
            kill(session.process, signal)
            #expect(session.wait() == 128 + signal)
            session.expectRestored()
            let next = try browse()
            #expect(next.until(shows: place))
        }
    }

    @Test(arguments: [SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGQUIT]) func crashesRestoreTheTerminal(
        signal: Int32
    ) throws {
        try end { session, _ in
            kill(session.process, signal)
            #expect(session.wait() == -signal)
            session.expectRestored()
        }
    }

    /// Restoring the terminal waits while the line is blocked.
    @Test func crashRestoresABlockedTerminal() throws {
        try end { session, _ in
            session.stopLine()
            kill(session.process, SIGSEGV)
            session.untilQuiet(milliseconds: 200)
            session.resumeLine()
            #expect(session.wait() == -SIGSEGV)
            session.expectRestored()
        }
    }

    /// Without a terminal, Vitrine still saves its work.
    @Test func closedTerminalEndsTheProgram() throws {
        try end { session, place in
            session.hangUp()
            #expect(session.wait() == 128 + SIGHUP)
            let next = try browse()
            #expect(next.until(shows: place))
        }
    }

    /// Several events report the terminal's end; later ones have no effect.
    @Test func repeatedEventsDoNotPreventSaving() throws {
        try end { session, place in
            let isOver = Gate()
            Thread.detachNewThread { [process = session.process] in
                while !isOver.isOpen {
                    kill(process, SIGHUP)
                    sched_yield()
                }
            }
            #expect(session.wait() == 128 + SIGHUP)
            isOver.open()
            let next = try browse()
            #expect(next.until(shows: place))
        }
    }
}
