import Decoding
import PictureTestSupport
import Pixels
import TestSupport

/// A mangled picture and its request, which follows from its bytes, so that a file alone reproduces a finding.
struct Subject {
    let bytes: [UInt8]

    /// Decodes it as the decoder does, writes the answer and reads it as Vitrine does. Returns a word for the
    /// outcome.
    func decode() -> String {
        let request = request
        let outcome: DecodeOutcome
        let word: String
        do throws(DecodeFailure) {
            let reply = try Self.decode(bytes, request)
            outcome = .picture(reply)
            word = reply.isComplete ? "whole" : "incomplete"
        } catch {
            outcome = .failure(error)
            word = "refused"
        }
        guard let block = try? SealedMemory(), (try? outcome.write(to: block)) != nil,
            (try? DecodeOutcome(reading: block, for: request)) != nil
        else {
            // Every answer must be readable.
            fatalError("the answer is invalid")
        }
        return decodeSmall(request) ? "\(word), and shared" : word
    }

    /// Decodes it like the shared process for small pictures, if suitable. Returns whether it was.
    private func decodeSmall(_ request: DecodeRequest) -> Bool {
        guard SmallPictureService.takes(bytes, for: request), let reply = Decoder.decodeSmall(bytes, request) else {
            return false
        }
        let block = DecodeOutcome.picture(reply).block
        guard block.count <= SmallPictureService.longestAnswer(to: request),
            (block.withUnsafeBytes { try? DecodeOutcome(reading: $0, for: request) }) != nil
        else { fatalError("the answer for a small picture is invalid") }
        return true
    }

    private static func decode(_ bytes: [UInt8], _ request: DecodeRequest) throws(DecodeFailure) -> DecodeReply {
        // Memory of exactly this length, so that the sanitizer notices reading beyond the end.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
        defer { memory.deallocate() }
        memory.copyBytes(from: bytes)
        return try Decoder.decode(UnsafeRawBufferPointer(rebasing: memory[..<bytes.count]), request)
    }

    private var request: DecodeRequest {
        var numbers = SeededNumbers(seed: bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
        let sides = [1, 3, 16, 61, 160]
        var request = DecodeRequest(
            box: PixelSize(
                width: sides.randomElement(using: &numbers) ?? 1, height: sides.randomElement(using: &numbers) ?? 1))
        request.product = [.pixels, .pixels, .pixels, .thumbnail, .facts].randomElement(using: &numbers) ?? .pixels
        request.fitting = Bool.random(using: &numbers) ? .inside : .cover
        request.enlarges = Bool.random(using: &numbers)
        request.pixelAspect = [1, 0.5, 0.75, 1.0 / 64, 64].randomElement(using: &numbers) ?? 1
        if Int.random(in: 0..<4, using: &numbers) == 0 {
            let (x, y) = (Double.random(in: 0..<0.9, using: &numbers), Double.random(in: 0..<0.9, using: &numbers))
            request.region =
                UnitRect(
                    x: x, y: y, width: Double.random(in: 0.001...1 - x, using: &numbers),
                    height: Double.random(in: 0.001...1 - y, using: &numbers)) ?? .whole
        }
        return request
    }
}
