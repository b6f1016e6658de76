import Foundation
import TestSupport
import Testing

/// However the program is ended, the terminal is given back, and the exit code says how.
@Suite(.ownThread, .serialized) struct EndingTests {
    /// How often each; `VITRINE_ROUNDS=50` for as often as is asked for before a release.
    private let rounds = ProcessInfo.processInfo.environment["VITRINE_ROUNDS"].flatMap { Int($0) } ?? 2
    private let home = Household()

    private func browse() throws -> TerminalSession {
        let session = try TerminalSession(arguments: [Built.testGallery], environment: home.environment())
        try #require(session.until(shows: "of 28"))
        return session
    }

    /// Anywhere between the first frame and rest, and at another photo each time.
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

    @Test(arguments: [SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGQUIT]) func crashesGiveTheTerminalBack(
        signal: Int32
    ) throws {
        try end { session, _ in
            kill(session.process, signal)
            #expect(session.wait() == -signal)
            session.expectRestored()
        }
    }

    /// The line takes nothing at first: what gives the terminal back waits for it.
    @Test func aCrashGivesBackATerminalThatDoesNotReadJustNow() throws {
        try end { session, _ in
            session.stopLine()
            kill(session.process, SIGSEGV)
            session.untilQuiet(milliseconds: 200)
            session.resumeLine()
            #expect(session.wait() == -SIGSEGV)
            session.expectRestored()
        }
    }

    /// There is no terminal left to be given back, but there is work to be saved.
    @Test func aTerminalThatIsClosedEndsIt() throws {
        try end { session, place in
            session.hangUp()
            #expect(session.wait() == 128 + SIGHUP)
            let next = try browse()
            #expect(next.until(shows: place))
        }
    }

    /// The terminal's end is noticed in more than one way, and each time that it is said again it is nothing new.
    @Test func whatIsSaidAgainDoesNotKeepWorkFromBeingSaved() throws {
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
