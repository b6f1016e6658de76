import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// Pictures that were made to do harm, through the real decoder, for a program that counts what each costs it.
@Suite(.disabled(if: Sanitizer.isOn, "the helper limits its address space"))
struct BombTests {
    private let folder = TestFolder()

    /// KiB that the program that has a bomb decoded may grow by: nothing that follows from the bomb's size or claims.
    private static let growth = 2_048
    /// The decoder's own budget: milliseconds of a processor's time, its limit and what the kernel rounds up, and memory in
    /// KiB. A picture that is refused is refused for its header, or its first bytes: that takes what a process takes.
    private static let work = 11_000
    private static let refusal = 50
    private static let memory = 1 << 20

    @Test(arguments: Bomb.all) func costsNoMoreThanItsBudget(bomb: Bomb) throws {
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
