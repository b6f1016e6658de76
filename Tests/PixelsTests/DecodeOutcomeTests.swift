import PictureTestSupport
import TestSupport
import Testing

@testable import Pixels

struct DecodeOutcomeTests {
    private let request = DecodeRequest(box: PixelSize(width: 8, height: 6))

    @Test func encodingAndDecodingKeepAnOutcome() throws {
        let pictures: [DecodeOutcome] = [.picture(reply()), .picture(bareReply()), .picture(thumbnailReply())]
        for outcome in pictures + Self.failures.map(DecodeOutcome.failure) {
            var request = request
            if case .picture(let reply) = outcome {
                request.product = reply.pixels != nil ? .pixels : reply.thumbnail != nil ? .thumbnail : .facts
            }
            #expect(try read(outcome.head + outcome.product, for: request) == outcome)
            #expect(outcome.head.count + outcome.product.count <= DecodeOutcome.longestEncoding(for: request))
        }
    }

    @Test func encodingsStayBelowTheLimit() throws {
        var metadata = PictureMetadata()
        let text = String(repeating: "x", count: 5000)
        (metadata.camera, metadata.lens, metadata.title, metadata.description) = (text, text, text, text)
        metadata.takenAt = "2006-07-30T07:47:17"
        metadata.exposureSeconds = 1
        metadata.aperture = 1
        metadata.iso = 1
        metadata.focalLength = 1
        metadata.latitude = 1
        metadata.longitude = 1
        metadata.fields = Array(repeating: MetadataField(name: text, value: text), count: 300)
        let outcome = DecodeOutcome.picture(reply(metadata: metadata))
        let length = outcome.head.count + outcome.product.count
        #expect(length <= DecodeOutcome.longestEncoding(for: request))
        #expect(length > DecodeOutcome.longestEncoding(for: request) - 2048)
        guard case .picture(let read) = try read(outcome.head + outcome.product, for: request) else {
            Issue.record("unexpected failure")
            return
        }
        #expect(read.metadata == metadata.bounded)
    }

    @Test func repliesForOtherRequestsKeepAllButThePixels() throws {
        var asked = request
        asked.haste = .soon
        let metadata = PictureMetadata()
        let reply = DecodeReply(
            to: asked, sourceSize: PixelSize(width: 16, height: 12), format: "GIF", orientation: .flipped,
            isComplete: false, isCoarse: true, frameCount: 7, duration: 40, metadata: metadata, pixels: nil)
        var other = asked
        other.region = UnitRect(x: 0, y: 0, width: 0.5, height: 0.5) ?? .whole
        let pixels = PixelBuffer(size: PixelSize(width: 8, height: 6), rows: [], background: .black)
        let shown = reply.with(pixels: pixels, for: other)
        #expect(shown.pixels == pixels && shown.thumbnail == nil && shown.region == other.region)
        #expect(shown.sourceSize == reply.sourceSize && shown.format == "GIF" && shown.orientation == .flipped)
        #expect(!shown.isComplete && shown.isCoarse && shown.frameCount == 7 && shown.duration == 40)
        #expect(reply.with(pixels: nil, thumbnail: [1], for: asked).thumbnail == [1])
    }

    @Test func encodingAndDecodingKeepARun() throws {
        var asked = request
        asked.frame = 3
        asked.run = 4
        let following = (1...3).map { number in
            AnimationPicture(pixels: .noise(width: 8, height: 6, seed: UInt64(number)), duration: 10 * number)
        }
        let reply = DecodeReply(
            to: asked, sourceSize: PixelSize(width: 80, height: 60), format: "GIF", orientation: .upright,
            isComplete: true, frameCount: 7, duration: 40, metadata: PictureMetadata(),
            pixels: .noise(width: 8, height: 6), following: following)
        let outcome = DecodeOutcome.picture(reply)
        let block = outcome.head + outcome.product + outcome.following.joined()
        #expect(try read(block, for: asked) == outcome)
        #expect(block.count <= DecodeOutcome.longestEncoding(for: asked))
        // Replies with more frames than requested or existing, or fewer than announced, are refused.
        var (fewer, later) = (asked, asked)
        fewer.run = 3
        later.frame = 4
        for other in [request, fewer, later] {
            #expect(throws: PixelsError.self) { try read(block, for: other) }
        }
        #expect(throws: PixelsError.self) { try read(block.dropLast(144), for: asked) }
        var alone = asked
        alone.run = 1
        alone.frame = 5
        let second = try #require(reply.answer(following: 1, for: alone))
        #expect(second.pixels == following[1].pixels && second.duration == 20 && second.frameCount == 7)
        #expect(reply.answer(following: 3, for: alone) == nil)
    }

    @Test func refusesPixelsThatWereNotRequested() {
        let outcome = DecodeOutcome.picture(reply())
        var others = [request, request, request, request]
        others[3].product = .thumbnail
        others[0].product = .facts
        others[1].box.width = 4
        others[2].region = UnitRect(x: 0, y: 0, width: 0.5, height: 1) ?? .whole
        for other in others {
            #expect(throws: PixelsError.self) { try read(outcome.head + outcome.product, for: other) }
        }
    }

    @Test func refusesUnrequestedPreviewsAndImpossibleAnimations() throws {
        var hasty = request
        hasty.haste = .soon
        func reply(isCoarse: Bool, frameCount: Int, duration: Int) -> DecodeOutcome {
            .picture(
                DecodeReply(
                    to: hasty, sourceSize: PixelSize(width: 8, height: 6), format: "GIF", orientation: .upright,
                    isComplete: true, isCoarse: isCoarse, frameCount: frameCount, duration: duration,
                    metadata: PictureMetadata(), pixels: .noise(width: 8, height: 6)))
        }
        let coarse = reply(isCoarse: true, frameCount: 7, duration: 40)
        #expect(try read(coarse.head + coarse.product, for: hasty) == coarse)
        #expect(throws: PixelsError.self) { try read(coarse.head + coarse.product, for: request) }
        // The count follows the header, the size, the format, the orientation and two flags, low byte first.
        let count = 7 + 8 + 5 + 1 + 2
        for (offset, bytes) in [
            (count, [0, 0, 0, 0]), (count, [0xA1, 0x86, 1, 0]), (count, [255, 255, 255, 255]),
            (count + 4, [0, 0, 0, 1]),
        ] as [(Int, [UInt8])] {
            var broken = coarse.head + coarse.product
            #expect(broken[count] == 7)
            broken.replaceSubrange(offset..<offset + 4, with: bytes)
            #expect(throws: PixelsError.self) { try read(broken, for: hasty) }
        }
        guard case .picture(let held) = reply(isCoarse: false, frameCount: 1 << 40, duration: -3) else { return }
        #expect(held.frameCount == DecodeRequest.frames.count && held.duration == 0)
    }

    @Test func refusesImpossibleSizes() throws {
        let bytes = DecodeOutcome.picture(reply()).head + DecodeOutcome.picture(reply()).product
        for size: [UInt32] in [[0, 4], [8, 0], [.max, .max], [0x8000_0000, 0x8000_0000], [65_501, 1]] {
            var broken = bytes
            broken.replaceSubrange(7..<15, with: size.flatMap { word in (0..<4).map { UInt8(word >> ($0 * 8) & 255) } })
            #expect(throws: PixelsError.self) { try read(broken, for: request) }
        }
    }

    @Test func refusesTruncatedAndExtendedBlocks() {
        let bytes = DecodeOutcome.picture(reply()).head + DecodeOutcome.picture(reply()).product
        for length in 0..<bytes.count {
            #expect(throws: PixelsError.self) { try read(Array(bytes[..<length]), for: request) }
        }
        #expect(throws: PixelsError.self) { try read(bytes + [0], for: request) }
    }

    /// The reader must survive any block, and accept only what was requested.
    @Test func survivesMutations() {
        let pictures: [DecodeOutcome] = [.picture(reply()), .picture(bareReply()), .picture(thumbnailReply())]
        let seeds = (pictures + Self.failures.map(DecodeOutcome.failure)).map {
            $0.head + $0.product
        }
        var random = SeededNumbers(seed: 11)
        var accepted = 0
        for round in 0..<20_000 {
            var request = request
            request.product = DecodeRequest.Product.allCases[round % 3]
            let bytes = mutated(seeds[round % seeds.count], using: &random)
            guard let outcome = try? read(bytes, for: request) else { continue }
            accepted += 1
            guard case .picture(let reply) = outcome else { continue }
            if (reply.pixels != nil) != (request.product == .pixels) { Issue.record("pixels differ from the request") }
            if (reply.thumbnail != nil) != (request.product == .thumbnail) { Issue.record("an unrequested thumbnail") }
            if reply.pixels.map({ $0.size.width <= 8 && $0.size.height <= 6 }) == false { Issue.record("too large") }
            if reply.metadata != reply.metadata.bounded { Issue.record("metadata out of bounds") }
        }
        #expect(accepted > 100, "mutations too coarse to test anything behind the first check")
    }

    @Test func survivesRandomBytes() {
        var random = SeededNumbers(seed: 12)
        let start = Array(DecodeOutcome.picture(bareReply()).head.prefix(6))
        for round in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if round % 2 == 0 { bytes = start + [UInt8(round / 2 % 3)] + bytes }
            _ = try? read(bytes, for: request)
        }
    }

    private func thumbnailReply() -> DecodeReply {
        var request = request
        request.product = .thumbnail
        return DecodeReply(
            to: request, sourceSize: PixelSize(width: 16, height: 12), format: "JPEG", orientation: .upright,
            isComplete: true, metadata: PictureMetadata(), pixels: nil, thumbnail: [0xFF, 0xD8, 1, 2, 3])
    }

    private static let failures: [DecodeFailure] = [
        .notAPicture, .unsupportedFormat("HEIC"), .noPreview(format: "NEF"),
        .missingLibrary(format: "HEIC", library: "libheif", package: "libheif1"),
        .tooLarge(width: 65_501, height: Int(UInt32.max)),
        .damaged("it ends in the middle"), .outOfMemory, .shortOfMemory, .badRequest("no box"),
    ]

    private func reply(metadata: PictureMetadata? = nil) -> DecodeReply {
        var some = PictureMetadata()
        some.camera = "FUJIFILM X-T4"
        some.takenAt = "2006-07-30T07:47:17"
        some.exposureSeconds = 0.004
        some.iso = 200
        some.latitude = -33.5
        some.video = VideoFacts(codec: "H.264", durationMilliseconds: 5_000, framesPerSecond: 25)
        some.fields = [MetadataField(name: "Model", value: "X-T4"), MetadataField(name: "Ärger", value: "")]
        return DecodeReply(
            to: request, sourceSize: PixelSize(width: 80, height: 60), format: "JPEG", orientation: .turnedRight,
            isComplete: false, metadata: metadata ?? some, pixels: .noise(width: 8, height: 6))
    }

    private func bareReply() -> DecodeReply {
        DecodeReply(
            to: request, sourceSize: PixelSize(width: 3, height: 65_500), format: "PNG", orientation: .upright,
            isComplete: true, metadata: PictureMetadata(), pixels: nil)
    }

    private func read(_ bytes: [UInt8], for request: DecodeRequest) throws -> DecodeOutcome {
        try bytes.withUnsafeBytes { try DecodeOutcome(reading: $0, for: request) }
    }

    private func mutated(_ seed: [UInt8], using random: inout SeededNumbers) -> [UInt8] {
        var bytes = seed
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[index] = .random(in: 0...255, using: &random)
            case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes[index] = [0, 1, 0x7F, 0x80, 0xFF][Int.random(in: 0..<5, using: &random)]
            case 3: bytes.insert(.random(in: 0...255, using: &random), at: index)
            case 4 where bytes.count > 1: bytes.remove(at: index)
            case 5 where index > 0: bytes.removeSubrange(index...)
            default: break
            }
        }
        return bytes
    }
}
