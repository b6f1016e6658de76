import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// Gives malicious pictures to the real decoder, and counts their cost.
@Suite(.disabled(if: Sanitizer.isOn, "the decoder limits its address space"))
struct BombTests {
    private let folder = TestFolder()

    /// KiB that the client may grow by: nothing in proportion to the bomb's size or claims.
    private static let growth = 2_048
    /// The decoder's own limits: milliseconds of processor time, with the kernel's rounding, and KiB of memory. A
    /// refusal depends only on the header, so it costs no more than a process does.
    private static let work = 11_000
    private static let refusal = 50
    private static let memory = 1 << 20

    @Test(arguments: Bomb.all) func bombsStayWithinTheLimits(bomb: Bomb) throws {
        let file = folder.path("bomb")
        try bomb.write(to: file)
        let client = try DecoderClientProgram("bomb", [file], in: folder)
        let outcome = try #require(client.told["outcome"])
        #expect(outcome.hasPrefix(bomb.outcome), "\(outcome)")
        #expect(try #require(client["grown"]) < Self.growth)
        let isRefused = outcome != "whole" && outcome != "incomplete"
        #expect(try #require(client["milliseconds"]) < (isRefused ? Self.refusal : Self.work))
        #expect(try #require(client["resident"]) <= Self.memory)
    }
}
