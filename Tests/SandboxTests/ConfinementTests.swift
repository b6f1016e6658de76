import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// What a decoder that was taken over may not do is tried in its confinement, and fails.
///
/// Every attempt is made by a process of its own, and each is made without any confinement too: it works there, so it is the
/// confinement that it fails for.
@Suite(.ownThread, .disabled(if: Sanitizer.isOn, "the confinement limits the address space"))
struct ConfinementTests {
    /// The version of this kernel's Landlock, as the decoder finds it; nil where there is none.
    private static let landlock = try? restrictions().firstMatch(of: /Landlock (\d+)/).flatMap { Int($0.1) }

    private static func restrictions() throws -> String {
        let process = try DecoderProcess([], arguments: [DecoderReport.argument])
        guard process.status == 0 else { throw ToolError(path: "vitrine-decoder", status: process.status) }
        return try DecoderReport(reading: process.output).restrictions.joined(separator: ", ")
    }

    @Test(arguments: Attempt.all) func worksOutside(attempt: Attempt) throws {
        #expect(try attempt.outcome(.none) == .done)
    }

    @Test(arguments: Attempt.all) func failsInTheDecoder(attempt: Attempt) throws {
        #expect(try attempt.outcome(.all) == attempt.seccomp)
    }

    /// Its walls are inside the server's.
    @Test(arguments: Attempt.all) func failsInAProcessOfTheServers(attempt: Attempt) throws {
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

    /// Who asks is told which walls stand; seccomp every kernel has that Vitrine runs on.
    @Test func saysWhichWallsStand() throws {
        #expect(try Self.restrictions().wholeMatch(of: /(no Landlock|Landlock \d+), seccomp/) != nil)
    }
}
