import Foundation
import PictureTestSupport
import TestSupport
import Testing

@testable import Pictures

/// Decoders break a thousand times, in every way there is, and nothing stays behind: no descriptor, no process, and not one
/// of the pictures that others decode meanwhile is spoiled.
struct BrokenDecoderTests {
    private let folder = TestFolder()

    /// How many rounds; `VITRINE_ROUNDS=1000` for as many as are asked for before a release.
    private let rounds = ProcessInfo.processInfo.environment["VITRINE_ROUNDS"].flatMap { Int($0) } ?? 115

    @Test func nothingStaysBehind() throws {
        // The script that floods writes a hundred megabytes each time; once, with the client's own tests, is enough.
        let scripts = BrokenDecoders.scripts.filter { $0.name != "floods" }
        let paths =
            scripts.map { BrokenDecoders.path($0.name) }
            + (try BrokenDecoders.links.map { try BrokenDecoders.link($0.name, in: folder) })
        let customer = try DecoderCustomer("rounds", ["\(rounds)"] + paths, in: folder)
        #expect(customer["descriptors"] == 0 && customer["children"] == 0)
        #expect(customer["spoiled"] == 0 && customer["good"] ?? 0 > 1)
        let broken = customer.told.filter { $0.key.contains(": ") }
        #expect(broken.values.compactMap { Int($0) }.reduce(0, +) == rounds)
        #expect(broken.keys.allSatisfy { !$0.hasSuffix("a picture") && !$0.contains("started") }, "\(broken)")
    }
}
