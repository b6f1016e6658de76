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
    /// The decoder's own budget: seconds of a processor's time, its limit and what the kernel rounds up, and memory in KiB.
    private static let seconds = 11
    private static let memory = 1 << 20

    @Test(arguments: Bomb.all) func costsNoMoreThanItsBudget(bomb: Bomb) throws {
        let file = folder.path("bomb")
        try bomb.write(to: file)
        let customer = try DecoderCustomer("bomb", [file], in: folder)
        let outcome = try #require(customer.told["outcome"])
        #expect(outcome.hasPrefix(bomb.outcome), "\(outcome)")
        #expect(try #require(customer["grown"]) < Self.growth)
        #expect(try #require(customer["seconds"]) <= Self.seconds)
        #expect(try #require(customer["resident"]) <= Self.memory)
    }
}
