import PictureTestSupport
import TestSupport
import Testing

@testable import Pixels

/// Boundary values of integers on the wire between decoder and Vitrine crash neither.
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

    @Test("No number anywhere in an answer crashes Vitrine")
    func answers() throws {
        let whole = try wire()
        #expect(throws: Never.self) { try whole.withUnsafeBytes { try DecodeOutcome(reading: $0, for: request) } }
        let count = whole.count - 8 * 6 * 3
        for offset in 0..<max(1, count) {
            for number in BoundaryNumbers.inFiles {
                var bytes = whole
                BoundaryNumbers.overwrite(&bytes, at: offset, by: number)
                _ = bytes.withUnsafeBytes { try? DecodeOutcome(reading: $0, for: request) }
            }
        }
    }

    @Test("No number anywhere in a request crashes the decoder")
    func requests() {
        var asked = request
        asked.frame = 3
        asked.run = 4
        let whole = asked.packet
        for offset in whole.indices {
            for number in BoundaryNumbers.inFiles {
                var bytes = whole
                BoundaryNumbers.overwrite(&bytes, at: offset, by: number)
                if let read = try? DecodeRequest(packet: bytes) { use(read) }
            }
        }
    }

    @Test("No digits in the argument crash the decoder")
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

    /// Computes what follows from a request before there is a picture.
    private func use(_ request: DecodeRequest) {
        _ = DecodeOutcome.longestEncoding(for: request)
        for side in [1, 16, 65_535] { _ = PictureLayout(of: PixelSize(width: side, height: side), for: request) }
    }
}
