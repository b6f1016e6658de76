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
    /// The version of this kernel's Landlock; nil if it has none.
    static let landlock = try? restrictions().firstMatch(of: /Landlock (\d+)/).flatMap { Int($0.1) }

    private static func restrictions() throws -> String {
        let process = try DecoderProcess([], arguments: [DecoderReport.argument])
        guard process.status == 0 else { throw ToolError(path: "vitrine-decoder", status: process.status) }
        return try DecoderReport(reading: process.output).restrictions.joined(separator: ", ")
    }

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
        #expect(try Self.restrictions().wholeMatch(of: /(no Landlock|Landlock \d+), seccomp/) != nil)
    }
}
