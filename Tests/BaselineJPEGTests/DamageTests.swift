import BaselineJPEG
import TestSupport
import Testing

/// Damaged files are declined without a trap, which would end the test run.
struct DamageTests {
    private static let files: [[UInt8]] = [
        JPEGWriter(across: 2, down: 2).file(.waves(width: 40, height: 24)),
        JPEGWriter(across: 2, restartInterval: 1).file(.waves(width: 40, height: 24)),
        JPEGWriter(across: 1, down: 2, coarseness: 0.02).file(.waves(width: 17, height: 33)),
        JPEGWriter(isGrey: true, restartInterval: 2, isWide: true).file(.waves(width: 30, height: 20)),
    ]

    @Test(arguments: files)
    func declinesFilesTruncatedAnywhere(file: [UInt8]) {
        let shown = (0..<file.count).filter { count in
            [1, 2, 8].contains { BaselinePicture(Array(file.prefix(count)))?.decoded(eighths: $0) != nil }
        }
        #expect(shown.isEmpty)
    }

    @Test func declinesRestartMarkersOutOfOrder() throws {
        let file = Self.files[1]
        #expect(BaselinePicture(file)?.decoded(eighths: 1) != nil)
        let marker = try #require(file.firstRange(of: [0xFF, 0xD1]))
        for code: UInt8 in [0xD0, 0xD2, 0xD7, 0xD9, 0xC4, 0x01, 0x00] {
            var damaged = file
            damaged[marker.lowerBound + 1] = code
            #expect(BaselinePicture(damaged)?.decoded(eighths: 1) == nil)
        }
        var without = file
        without.removeSubrange(marker)
        #expect(BaselinePicture(without)?.decoded(eighths: 1) == nil)
        // Unannounced markers.
        var unannounced = file
        unannounced.removeSubrange(try #require(file.firstRange(of: [0xFF, 0xDD, 0, 4, 0, 1])))
        #expect(BaselinePicture(unannounced)?.decoded(eighths: 1) == nil)
    }

    @Test func declinesDataAfterTheLastBlock() {
        let file = Self.files[0]
        for extra in [[0], [0x55], [0, 0, 0, 0, 0], [0xFF, 0], [0xFF, 0xD0]] as [[UInt8]] {
            let longer = Array(file.dropLast(2)) + extra + [0xFF, 0xD9]
            for eighths in [1, 2, 4, 8] { #expect(BaselinePicture(longer)?.decoded(eighths: eighths) == nil) }
        }
    }

    /// Five thousand for each file. Files that still decode have the right size.
    @Test(arguments: files.indices)
    func survivesMutations(index: Int) {
        var random = SeededNumbers(seed: UInt64(index))
        for round in 0..<5000 {
            var bytes = Self.files[index]
            for _ in 0..<Int.random(in: 1...4, using: &random) { Self.mutate(&bytes, &random) }
            guard let picture = BaselinePicture(bytes) else { continue }
            let eighths = 1 << (round & 3)
            guard let pixels = picture.decoded(eighths: eighths) else { continue }
            if pixels.width != (picture.width * eighths + 7) / 8 || pixels.height != (picture.height * eighths + 7) / 8
                || pixels.bytes.count != 3 * pixels.width * pixels.height
            {
                Issue.record("round \(round)")
            }
        }
    }

    private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededNumbers) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 2: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 3: bytes[place] = [0, 0xFF, 0x7F, 0x80, 0xD9].randomElement(using: &random) ?? 0
        case 4: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        default:
            let end = min(bytes.count, place + Int.random(in: 1...20, using: &random))
            if Bool.random(using: &random) { bytes.removeSubrange(place..<end) } else { bytes.removeSubrange(end...) }
        }
    }
}
