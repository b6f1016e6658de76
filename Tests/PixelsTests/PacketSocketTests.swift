import Glibc
import Testing

@testable import Pixels

/// Packets between Vitrine and the decoder server.
struct PacketSocketTests {
    @Test func packetsKeepTheirBounds() throws {
        let (one, other) = try PacketSocket.pair()
        try one.send([1, 2])
        try one.send([3])
        #expect(try other.receive(atMost: 8).bytes == [1, 2])
        #expect(try other.receive(atMost: 8).bytes == [3])
        #expect(throws: PixelsError.system(call: "recvmsg", code: EAGAIN)) { try other.receive(atMost: 8) }
    }

    @Test func transfersDescriptors() throws {
        let (one, other) = try PacketSocket.pair()
        let memory = try SealedMemory(sealing: [7, 8, 9])
        try one.send([1], passing: [memory.descriptor, one.descriptor])
        let packet = try other.receive(atMost: 8)
        #expect(packet.descriptors.count == 2 && !packet.descriptors.contains(memory.descriptor))
        let adopted = packet.descriptors.map { SealedMemory(adopting: $0) }
        #expect(try adopted[0].withBytes(atMost: 3) { Array($0) } == [7, 8, 9])
        for descriptor in packet.descriptors { #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0) }
    }

    @Test func refusesTooLongPackets() throws {
        let (one, other) = try PacketSocket.pair()
        let memory = try SealedMemory()
        try one.send([1, 2, 3], passing: [memory.descriptor])
        #expect(throws: PixelsError.system(call: "recvmsg", code: EMSGSIZE)) { try other.receive(atMost: 2) }
        #expect(throws: PixelsError.system(call: "sendmsg", code: EINVAL)) {
            try one.send([1], passing: Array(repeating: memory.descriptor, count: 4))
        }
    }

    /// Packets sent before the end can still be received; then comes the end.
    @Test func receivesTheEndAfterAllPackets() throws {
        let (one, other) = try PacketSocket.pair()
        try one.send([1])
        one.finish()
        #expect(try !other.receive(atMost: 8).isEnd)
        #expect(try other.receive(atMost: 8).isEnd)
        try other.send([2])
        #expect(try one.receive(atMost: 8).bytes == [2])
        other.end()
        #expect(try one.receive(atMost: 8).isEnd)
        #expect(throws: PixelsError.self) { try one.send([3]) }
    }

    /// Sending never blocks: a client that does not read cannot stall the server.
    @Test func sendingNeverBlocks() throws {
        let (one, other) = try PacketSocket.pair()
        #expect(throws: PixelsError.system(call: "sendmsg", code: EAGAIN)) {
            for _ in 0..<100_000 { try one.send([UInt8](repeating: 0, count: 1_000)) }
        }
        #expect(try other.receive(atMost: 1_000).bytes.count == 1_000)
    }

    @Test(arguments: [0, 1, 256, -1, Int32.min, Int32.max]) func resultsAreReadAsWritten(number: Int32) {
        for end in [DecoderService.End.ended(number), .notBegun(number)] {
            #expect(DecoderService.End(bytes: end.bytes) == end)
            #expect(DecoderService.End(bytes: end.bytes + [0]) == nil)
        }
        #expect(DecoderService.End(bytes: [2, 0, 0, 0, 0]) == nil && DecoderService.End(bytes: []) == nil)
    }
}
