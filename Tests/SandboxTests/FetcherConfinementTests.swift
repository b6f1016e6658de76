import Foundation
import PictureTestSupport
import Sandbox
import TestSupport
import Testing

/// Tries actions in the restrictions of the fetcher: what a compromised one must not do, and what a sound one needs.
///
/// Each attempt runs in a process of its own. It also runs without restrictions, and with each one alone.
@Suite(.ownThread, .disabled(if: Sanitizer.isOn, "the sanitizer needs what the restrictions forbid"))
struct FetcherConfinementTests {
    /// The version of Landlock that a fetcher uses on this kernel; nil if it uses none. Version 1 forbids too much.
    private static let landlock = ConfinementTests.landlock.flatMap { $0 >= 2 ? $0 : nil }

    private static func expectation(_ attempt: FetcherAttempt) -> Attempt.Outcome {
        // The filter comes first.
        if let error = attempt.seccomp { return .refused(error) }
        guard let (error, version) = attempt.landlock, version <= landlock ?? 0 else { return .done }
        return .refused(error)
    }

    @Test(arguments: FetcherAttempt.all + FetcherAttempt.onScreens) func succeedsOutside(attempt: FetcherAttempt) throws
    {
        switch try attempt.outcome("none") {
        case .done: break
        case .refused(let error): #expect(attempt.outside.contains(error))
        case .killed: Issue.record("The kernel killed a process without restrictions.")
        }
    }

    @Test(arguments: FetcherAttempt.all) func failsInTheFetcher(attempt: FetcherAttempt) throws {
        #expect(try attempt.outcome("fetcher") == Self.expectation(attempt))
    }

    @Test(arguments: FetcherAttempt.all) func failsWithoutLandlockIfTheFilterRefuses(attempt: FetcherAttempt) throws {
        let outcome = try attempt.outcome("fetcher-seccomp")
        #expect(outcome == attempt.seccomp.map { .refused($0) } ?? .done)
    }

    @Test(.enabled(if: landlock != nil, "this kernel has no Landlock for a fetcher"), arguments: FetcherAttempt.all)
    func failsWithoutSeccompIfLandlockRefuses(attempt: FetcherAttempt) throws {
        let outcome = try attempt.outcome("fetcher-landlock")
        if let (error, version) = attempt.landlock, version <= Self.landlock ?? 0 {
            #expect(outcome == .refused(error))
        } else if case .refused(let error) = outcome {
            #expect(attempt.outside.contains(error))
        } else {
            #expect(outcome == .done)
        }
    }

    @Test(arguments: FetcherAttempt.needed, ["none", "fetcher", "fetcher-landlock", "fetcher-seccomp"])
    func neededActionsSucceed(action: String, restrictions: String) throws {
        if restrictions == "fetcher-landlock", Self.landlock == nil { return }
        #expect(try FetcherAttempt.outcome(restrictions, action) == .done)
    }

    /// Landlock restricts one thread. A fetcher with several would have a free one.
    @Test func aProcessWithTwoThreadsGetsNoRestrictions() throws {
        let folder = TestFolder()
        folder.write("cache/file", "text")
        #expect(try Attempt.run("fetcher", "keep files", folder.path).status == 0)
        #expect(try Attempt.run("fetcher-threaded", "keep files", folder.path).status == 7)
    }

    @Test func aMissingWritableFolderIsAFailure() {
        let rules = FetcherRules(writableFolders: [TestFolder().path("missing")])
        #expect(rules.apply() == nil)
    }

    @Test(arguments: FetcherAttempt.needed.filter { $0 != "socket, UNIX" })
    func neededActionsSucceedWithoutLocalServices(action: String) throws {
        #expect(try FetcherAttempt.outcome("fetcher-apart", action) == .done)
    }

    @Test func localServicesAreOutOfReachOnRequest() throws {
        #expect(try FetcherAttempt.outcome("fetcher-apart", "socket, UNIX") == .refused(EACCES))
    }
}

/// Tries actions in the restrictions of the screens, and of a launcher beside them.
@Suite(.ownThread, .disabled(if: Sanitizer.isOn, "the sanitizer needs what the restrictions forbid"))
struct ScreensConfinementTests {
    @Test(arguments: FetcherAttempt.onScreens) func failsInTheScreens(attempt: FetcherAttempt) throws {
        #expect(try attempt.outcome("screens") == attempt.seccomp.map { .refused($0) } ?? .done)
    }

    @Test(arguments: ["socket, UNIX", "fork", "execve a program", "make threads", "keep files", "write a database"])
    func neededActionsSucceed(action: String) throws {
        #expect(try FetcherAttempt.outcome("screens", action) == .done)
    }

    // MARK: - The launcher

    private func launch(_ scenario: String, _ folder: TestFolder = TestFolder()) throws -> String {
        let (status, text) = try Attempt.run("launcher", scenario, folder.path)
        guard status == 0 else { throw ToolError(path: "sandbox-probe", status: status) }
        return text
    }

    @Test func theLauncherReportsTheEndOfAProgram() throws {
        #expect(try launch("end of program") == "7")
    }

    @Test func theLauncherReportsAMissingProgram() throws {
        #expect(try launch("missing program") == "\(ENOENT)")
    }

    @Test func theLauncherPassesWordsUnchanged() throws {
        let folder = TestFolder()
        #expect(try launch("words", folder) == "0")
        #expect(try String(contentsOfFile: folder.path("words"), encoding: .utf8) == "a b||$HOME|")
    }

    @Test func aNullCharacterCannotSplitAWord() throws {
        #expect(try launch("null character") == "\(EINVAL)")
    }

    @Test func programsOfTheLauncherAreFreeAndTheScreensAreNot() throws {
        let folder = TestFolder()
        #expect(try launch("state", folder) == "0 \(EACCES)")
        let state = try String(contentsOfFile: folder.path("state"), encoding: .utf8)
        #expect(state == "NoNewPrivs:\t0\nSeccomp:\t0\n")
    }

    @Test func programsOfTheLauncherHaveThreeFilesAndNoOthers() throws {
        let folder = TestFolder()
        #expect(try launch("files", folder) == "0")
        // The program that lists them opens the list as the lowest free number.
        #expect(try String(contentsOfFile: folder.path("files"), encoding: .utf8) == "0\n1\n2\n3\n")
    }

    @Test func theLauncherPassesAnInput() throws {
        let folder = TestFolder()
        // The process exists before its end.
        #expect(try launch("input", folder) == "0 true")
        #expect(try String(contentsOfFile: folder.path("input"), encoding: .utf8) == "text")
    }

    @Test func programsContinueAfterTheLauncher() throws {
        #expect(try launch("release") == "on\n")
    }

    @Test func theLauncherEndsWithAKilledProcess() throws {
        #expect(try launch("death") == "0")
    }
}
