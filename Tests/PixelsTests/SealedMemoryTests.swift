import Foundation
import PictureTestSupport
import Testing

@testable import Pixels

struct SealedMemoryTests {
    // From linux/fcntl.h; Glibc's Swift module does not have them.
    private static let (addSeals, getSeals): (CInt, CInt) = (1033, 1034)
    private static let (sealSeal, sealShrink, sealGrow, sealWrite): (CInt, CInt, CInt, CInt) = (1, 2, 4, 8)

    @Test func transfersBytes() throws {
        let memory = try SealedMemory()
        try memory.fill(with: [[1, 2, 3], [], [4]])
        #expect(try memory.withBytes(atMost: 4) { Array($0) } == [1, 2, 3, 4])
    }

    @Test func sealedBlocksCannotChange() throws {
        let memory = try SealedMemory(sealing: Array("picture".utf8))
        var byte: UInt8 = 0
        #expect(pwrite(memory.descriptor, &byte, 1, 0) == -1 && errno == EPERM)
        #expect(ftruncate(memory.descriptor, 0) == -1 && errno == EPERM)
        #expect(ftruncate(memory.descriptor, 100) == -1 && errno == EPERM)
        #expect(mmap(nil, 7, PROT_READ | PROT_WRITE, MAP_SHARED, memory.descriptor, 0) == MAP_FAILED)
        #expect(try memory.withBytes(atMost: 100) { String(decoding: $0, as: UTF8.self) } == "picture")
    }

    @Test func closesOnExec() throws {
        let memory = try SealedMemory()
        #expect(fcntl(memory.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test(arguments: [0, 2, 4, 6, 7, 8, 10, 12] as [CInt])
    func refusesBlocksWithoutAllSeals(seals: CInt) throws {
        let memory = try SealedMemory()
        #expect(ftruncate(memory.descriptor, 100) == 0)
        #expect(fcntl(memory.descriptor, Self.addSeals, seals) == 0)
        #expect(throws: PixelsError.unsealed) { try memory.withBytes(atMost: 100) { $0.count } }
    }

    @Test func refusesTooLongBlocks() throws {
        let memory = try SealedMemory()
        try memory.fill(with: [Array(repeating: 0, count: 5000)])
        #expect(throws: PixelsError.oversized(bytes: 5000, limit: 4999)) {
            try memory.withBytes(atMost: 4999) { $0.count }
        }
    }

    /// A block that shrinks after writing is never mapped: it lacks a seal, or it shrank before it was sealed.
    @Test func shrinkingIsHarmless() throws {
        let open = try SealedMemory()
        #expect(ftruncate(open.descriptor, 1 << 20) == 0)
        #expect(fcntl(open.descriptor, Self.addSeals, Self.sealGrow | Self.sealWrite) == 0)
        #expect(ftruncate(open.descriptor, 0) == 0)
        #expect(throws: PixelsError.unsealed) { try open.withBytes(atMost: 1 << 20) { $0.count } }

        let shrunk = try SealedMemory()
        #expect(ftruncate(shrunk.descriptor, 1 << 20) == 0 && ftruncate(shrunk.descriptor, 3) == 0)
        #expect(fcntl(shrunk.descriptor, Self.addSeals, Self.sealShrink | Self.sealGrow | Self.sealWrite) == 0)
        #expect(try shrunk.withBytes(atMost: 1 << 20) { $0.count } == 3)
    }

    @Test func readsEmptyBlocks() throws {
        let memory = try SealedMemory()
        try memory.fill(with: [])
        #expect(try memory.withBytes(atMost: 10) { $0.count } == 0)
        #expect(throws: PixelsError.self) {
            try DecodeOutcome(reading: memory, for: DecodeRequest(box: PixelSize(width: 1, height: 1)))
        }
    }

    @Test func refusesOrdinaryFiles() throws {
        let file = try #require(tmpfile())
        defer { fclose(file) }
        let memory = SealedMemory(adopting: dup(fileno(file)))
        #expect(throws: PixelsError.system(call: "fcntl", code: EINVAL)) {
            try memory.withBytes(atMost: 10) { $0.count }
        }
    }

    @Test func transfersOutcomes() throws {
        let request = DecodeRequest(box: PixelSize(width: 8, height: 6))
        let memory = try SealedMemory()
        try DecodeOutcome.failure(.outOfMemory).write(to: memory)
        #expect(try DecodeOutcome(reading: memory, for: request) == .failure(.outOfMemory))
        #expect(fcntl(memory.descriptor, Self.getSeals) & 15 == 15)
    }
}
