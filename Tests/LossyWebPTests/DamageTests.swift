import LossyWebP
import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// Damaged files are declined without a trap, which would end the test run.
@Suite(.ownThread) struct DamageTests {
    private static let options = [
        ["-q", "80"], ["-q", "20", "-segments", "1", "-nostrong", "-f", "60"],
        ["-q", "99", "-sharpness", "5", "-f", "100"], ["-q", "0", "-m", "0"],
    ]

    private static func file(_ options: [String]) throws -> [UInt8] {
        try Tool.run(
            "/usr/bin/cwebp", ["-quiet"] + options + ["-o", "-", "--", "-"],
            input: PixelBuffer.scene(width: 61, height: 45).ppm)
    }

    @Test(arguments: options) func declinesFilesTruncatedAnywhere(options: [String]) throws {
        let file = try Self.file(options)
        #expect(LossyPicture(file)?.decoded(eighths: 8) != nil)
        let shown = (0..<file.count).filter { count in
            [1, 2, 8].contains { LossyPicture(Array(file.prefix(count)))?.decoded(eighths: $0) != nil }
        }
        #expect(shown.isEmpty)
    }

    /// The sizes in the file fit, but the coded data end too early. Encoders add up to three bytes.
    @Test(arguments: options) func declinesFramesTruncatedAnywhere(options: [String]) throws {
        let frame = WebPWriter.frame(try Self.file(options))
        let shown = (0..<frame.count - 3).filter { count in
            let file = WebPWriter().file(Array(frame.prefix(count)))
            return [1, 2, 8].contains { LossyPicture(file)?.decoded(eighths: $0) != nil }
        }
        #expect(shown.isEmpty)
    }

    /// Five thousand for each file. Files that still decode have the right size.
    @Test(arguments: options.indices) func survivesMutations(index: Int) throws {
        var random = SeededNumbers(seed: UInt64(index))
        let file = try Self.file(Self.options[index])
        var decoded = 0
        for round in 0..<5000 {
            var bytes = file
            for _ in 0..<Int.random(in: 1...4, using: &random) { Self.mutate(&bytes, &random) }
            let eighths = 1 << (round & 3)
            guard let picture = LossyPicture(bytes), let pixels = picture.decoded(eighths: eighths) else { continue }
            decoded += 1
            if pixels.width != (picture.width * eighths + 7) / 8 || pixels.height != (picture.height * eighths + 7) / 8
                || pixels.bytes.count != 3 * pixels.width * pixels.height
            {
                Issue.record("round \(round)")
            }
        }
        // Many mutations change only pixels.
        #expect(decoded > 300)
    }

    private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededNumbers) {
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 2: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 3: bytes[place] = [0, 0xFF, 0x7F, 0x80].randomElement(using: &random) ?? 0
        // The frame's header, where a change has the largest effect.
        default: bytes[Int.random(in: 20..<60, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
    }
}
