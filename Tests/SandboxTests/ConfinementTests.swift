import CForbidden
import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// Tries actions in the sandbox that a compromised decoder must not be able to do.
///
/// Each attempt runs in a process of its own. It also runs without a sandbox, to prove that the sandbox makes it
/// fail.
@Suite(.ownThread, .disabled(if: Sanitizer.isOn, "the sandbox limits the address space"))
struct ConfinementTests {
    /// The version of this kernel's Landlock, which the kernel itself states; nil if it has none.
    static let landlock: Int? = {
        let version = forbidden_landlock_version()
        return version > 0 ? Int(version) : nil
    }()

    @Test(arguments: Attempt.all) func succeedsOutside(attempt: Attempt) throws {
        #expect(try attempt.outcome(.none) == .done)
    }

    @Test(arguments: Attempt.all) func failsInTheDecoder(attempt: Attempt) throws {
        #expect(try attempt.outcome(.all) == attempt.seccomp)
    }

    /// Its restrictions apply in addition to the server's.
    @Test(arguments: Attempt.all) func failsInTheServersProcess(attempt: Attempt) throws {
        #expect(try attempt.outcome(.served) == attempt.seccomp)
    }

    @Test(arguments: Attempt.all) func failsInTheServer(attempt: Attempt) throws {
        let isHeldByLandlock = attempt.server == .refused(EPERM)
        if isHeldByLandlock, (Self.landlock ?? 0) < attempt.landlock?.version ?? 0 { return }
        #expect(try attempt.outcome(.server) == attempt.server ?? attempt.seccomp)
    }

    @Test(arguments: Attempt.all) func failsWithoutLandlock(attempt: Attempt) throws {
        #expect(try attempt.outcome(.seccomp) == attempt.seccomp)
    }

    @Test(
        .enabled(if: landlock != nil, "this kernel has no Landlock"),
        arguments: Attempt.all.filter { $0.landlock != nil })
    func failsWithoutSeccomp(attempt: Attempt) throws {
        let (error, version) = try #require(attempt.landlock)
        guard try #require(Self.landlock) >= version else { return }
        #expect(try attempt.outcome(.landlock) == .refused(error))
    }

    /// All kernels that Vitrine runs on have seccomp.
    @Test func reportsTheActiveRestrictions() throws {
        let process = try DecoderProcess([], arguments: [DecoderReport.argument])
        #expect(process.status == 0)
        let landlock = Self.landlock.map { "Landlock \($0)" } ?? "no Landlock"
        #expect(try DecoderReport(reading: process.output).restrictions == [landlock, "seccomp"])
    }
}
