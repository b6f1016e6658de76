import Glibc
import TestSupport
import Testing

@testable import Pixels

/// The packets and the memory between Vitrine and the decoder that plays.
struct VideoServiceTests {
    @Test("Orders and answers are read as they were written")
    func packets() throws {
        for time: Int64 in [0, 1, 59_999_999, VideoService.latest] {
            let order = VideoService.Order(number: 7, microseconds: time)
            #expect(try VideoService.Order(packet: order.packet) == order)
            #expect(order.packet.count == VideoService.Order.length)
            let answer = VideoService.Answer(
                number: .max, kind: .picture, count: 3_000, microseconds: time, next: time, isLast: true)
            #expect(try VideoService.Answer(packet: answer.packet) == answer)
            #expect(answer.packet.count == VideoService.Answer.length)
            #expect(answer.next == (time == 0 ? nil : time))
        }
    }

    @Test("Times beyond the bounds are limited when written, and refused when read")
    func bounds() throws {
        #expect(VideoService.Order(number: 1, microseconds: .min).microseconds == 0)
        #expect(VideoService.Order(number: 1, microseconds: .max).microseconds == VideoService.latest)
        var wire = WireWriter()
        wire.append(1 as UInt32)
        wire.append(Int64.min)
        #expect(throws: PixelsError.self) { try VideoService.Order(packet: wire.bytes) }
    }

    @Test("No bytes crash the readers, and what they accept is within bounds")
    func anyBytes() {
        var random = SeededNumbers(seed: 5)
        let right = VideoService.Answer(number: 1, kind: .same, count: 9, microseconds: 40_000, isLast: false).packet
        var accepted = 0
        for round in 0..<5_000 {
            var bytes = round % 2 == 0 ? right : (0..<Int.random(in: 0...20, using: &random)).map { _ in 0 }
            if !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            if let answer = try? VideoService.Answer(packet: bytes) {
                accepted += 1
                #expect(0...VideoService.latest ~= answer.microseconds)
                #expect(1...VideoService.latest ~= answer.next ?? 1)
            }
            _ = try? VideoService.Order(packet: bytes)
        }
        #expect(accepted > 100)
    }

    @Test("A shared block shows what another holder writes, and keeps its length")
    func sharedBlock() throws {
        let block = try SharedBlock(count: 100)
        #expect(try block.copy(100) == [UInt8](repeating: 0, count: 100))
        #expect(pwrite(block.descriptor, [1, 2, 3] as [UInt8], 3, 0) == 3)
        #expect(try block.copy(4) == [1, 2, 3, 0])
        #expect(throws: PixelsError.oversized(bytes: 101, limit: 100)) { try block.copy(101) }
        #expect(throws: PixelsError.self) { try block.copy(-1) }
        #expect(ftruncate(block.descriptor, 10) != 0 && ftruncate(block.descriptor, 1_000) != 0)
        #expect(pwrite(block.descriptor, [1] as [UInt8], 1, 4_096) != 1)
    }

    @Test("Impossible facts about a video are dropped")
    func facts() {
        let facts = VideoFacts(codec: "H.264", durationMilliseconds: 5_000, framesPerSecond: 29.97)
        #expect(facts.bounded == facts)
        let wild = VideoFacts(codec: "H.264", durationMilliseconds: .max, framesPerSecond: .nan)
        #expect(wild.bounded == VideoFacts(codec: "H.264", durationMilliseconds: nil, framesPerSecond: nil))
        for codec in ["", "a\u{1B}[2J", "ä", String(repeating: "x", count: 33)] {
            #expect(VideoFacts(codec: codec, durationMilliseconds: 1, framesPerSecond: 1).bounded == nil)
        }
    }
}
