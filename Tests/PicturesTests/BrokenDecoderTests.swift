import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Pictures

/// Decoders break a thousand times in every way. No descriptor and no process is left, and all good pictures decoded
/// meanwhile are correct.
struct BrokenDecoderTests {
    private let folder = TestFolder()

    /// The number of rounds; before a release, set `VITRINE_ROUNDS=1000`.
    private let rounds = ProcessInfo.processInfo.environment["VITRINE_ROUNDS"].flatMap { Int($0) } ?? 115

    @Test func brokenProgramsLeaveNothingBehind() throws {
        // The flooding script writes a hundred megabytes each time; the client's own tests run it once.
        let scripts = BrokenDecoders.scripts.filter { $0.name != "floods" }
        let programs =
            scripts.map { (BrokenDecoders.path($0.name), $0.error) }
            + (try BrokenDecoders.links.map { (try BrokenDecoders.link($0.name, in: folder), $0.error) })
        let broken = try outcomes("program", programs)
        #expect(broken.keys.allSatisfy { !$0.hasSuffix("a picture") && !$0.contains("started") }, "\(broken)")
    }

    @Test func brokenServersLeaveNothingBehind() throws {
        let links = BrokenDecoders.links.map { ($0.name, BrokenDecoders.served[$0.name] ?? $0.error) }
        let broken = try outcomes("server", try linked(links + BrokenDecoders.servers.map { ($0.name, $0.error) }))
        // If only the server is broken, a program decodes the picture.
        let pictures = broken.keys.filter { $0.hasSuffix(": a picture") }.map {
            String($0.dropLast(": a picture".count))
        }
        let expected = Set(BrokenDecoders.servers.filter { $0.error == nil }.map(\.name))
        #expect(Set(pictures).isSubset(of: expected) && !pictures.isEmpty, "\(broken)")
        #expect(broken.keys.allSatisfy { !$0.contains("started") }, "\(broken)")
    }

    @Test func brokenSmallDecodersLeaveNothingBehind() throws {
        let jpeg = try Tool.cjpeg(PixelBuffer.scene(width: 16, height: 12).ppm)
        let broken = try outcomes("server", try linked(BrokenDecoders.smalls), good: jpeg)
        // Another process decodes the picture, unless the broken one had to be waited for.
        let waited = BrokenDecoders.smalls.compactMap { small in small.error.map { "\(small.name): \($0)" } }
        let others = BrokenDecoders.smalls.filter { $0.error == nil }.map { "\($0.name): a picture" }
        #expect(Set(broken.keys).isSubset(of: waited + others), "\(broken)")
    }

    private typealias Program = (path: String, error: PictureError?)

    private func linked(_ decoders: [(name: String, error: PictureError?)]) throws -> [Program] {
        try decoders.map { (try BrokenDecoders.link($0.name, in: folder), $0.error) }
    }

    /// Counts the outcomes of the rounds.
    private func outcomes(_ origin: String, _ programs: [Program], good: [UInt8]? = nil) throws -> [String: String] {
        let hanging = programs.filter { $0.error == .tookTooLong }.map(\.path)
        let others = programs.filter { $0.error != .tookTooLong }.map(\.path)
        let client = try DecoderClientProgram(
            "rounds", ["\(rounds)", origin] + hanging + ["--"] + others, good: good, in: folder)
        #expect(client["descriptors"] == 0 && client["children"] == 0)
        #expect(client["spoiled"] == 0 && client["good"] ?? 0 > 1)
        let broken = client.counts.filter { $0.key.contains(": ") }
        #expect(broken.values.compactMap { Int($0) }.reduce(0, +) == rounds)
        return broken
    }
}
