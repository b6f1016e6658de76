import PictureTestSupport
import TestSupport
import Testing

@testable import Pixels

/// Numbers at the bounds of integers on the wire between the decoder and Vitrine: none ends the program.
@Suite struct BoundaryNumberTests {
    private let request = DecodeRequest(box: PixelSize(width: 8, height: 6))

    private func wire() throws -> [UInt8] {
        var metadata = PictureMetadata()
        metadata.camera = "A camera"
        metadata.iso = 100
        metadata.exposureSeconds = 0.01
        metadata.latitude = 50
        metadata.longitude = 10
        metadata.fields = [MetadataField(name: "Name", value: "value")]
        let reply = DecodeReply(
            to: request, sourceSize: PixelSize(width: 16, height: 12), format: "GIF", orientation: .flipped,
            isComplete: true, isCoarse: false, frameCount: 7, duration: 40, metadata: metadata,
            pixels: .noise(width: 8, height: 6, seed: 1))
        let outcome = DecodeOutcome.picture(reply)
        return outcome.head + outcome.product
    }

    @Test("No number at any place of an answer ends the program")
    func answers() throws {
        let whole = try wire()
        #expect(throws: Never.self) { try whole.withUnsafeBytes { try DecodeOutcome(reading: $0, for: request) } }
        var numbers = BoundaryNumbers(seed: 1)
        let places = whole.count - 8 * 6 * 3
        for place in 0..<max(1, places) {
            for _ in 0..<10_000 {
                var bytes = whole
                numbers.overwrite(&bytes, at: place)
                _ = bytes.withUnsafeBytes { try? DecodeOutcome(reading: $0, for: request) }
            }
        }
    }

    @Test("No number at any place of a request ends the decoder")
    func requests() {
        var asked = request
        asked.frame = 3
        asked.run = 4
        let whole = asked.packet
        var numbers = BoundaryNumbers(seed: 2)
        for place in whole.indices {
            for _ in 0..<10_000 {
                var bytes = whole
                numbers.overwrite(&bytes, at: place)
                if let read = try? DecodeRequest(packet: bytes) { use(read) }
            }
        }
    }

    @Test("No digits in the argument end the decoder")
    func arguments() {
        var numbers = BoundaryNumbers(seed: 3)
        let whole = request.argument
        for offset in 0..<whole.count {
            for _ in 0..<200 {
                let text = String(whole.prefix(offset)) + numbers.text()
                let argument = Bool.random(using: &numbers) ? text : text + whole.dropFirst(text.count)
                if let read = try? DecodeRequest(arguments: [argument]) { use(read) }
            }
        }
    }

    /// Values that follow from a request before there is a picture.
    private func use(_ request: DecodeRequest) {
        _ = DecodeOutcome.longestEncoding(for: request)
        for side in [1, 16, 65_535] { _ = PictureLayout(of: PixelSize(width: side, height: side), for: request) }
    }
}
