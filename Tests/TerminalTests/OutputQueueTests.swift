import Foundation
import Testing

@testable import Terminal

@MainActor @Suite(.timeLimit(.minutes(1))) struct OutputQueueTests {
    /// A terminal that reads when the test does.
    private final class Line {
        let queue: OutputQueue
        private let ends: (read: Int32, write: Int32)

        @MainActor init() {
            var pair: [Int32] = [0, 0]
            pipe(&pair)
            for end in pair { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
            ends = (pair[0], pair[1])
            queue = OutputQueue(ends.write)
        }

        deinit {
            close(ends.read)
            close(ends.write)
        }

        func read(_ count: Int = 1 << 20) -> [UInt8] {
            var buffer = [UInt8](repeating: 0, count: count)
            let count = buffer.withUnsafeMutableBytes { Glibc.read(ends.read, $0.baseAddress, $0.count) }
            return Array(buffer.prefix(max(0, count)))
        }
    }

    private let pieces = (0..<400).map { [UInt8](repeating: UInt8($0 % 251), count: $0 % 7 == 0 ? 0 : 3 * $0 + 1) }

    @Test func piecesComeInTheirOrderHoweverSlowlyTheyAreRead() async {
        let line = Line()
        var idle = 0
        line.queue.onIdle = { idle += 1 }
        line.queue.send(pieces)
        line.queue.send(Array("the end".utf8))
        #expect(!line.queue.isIdle && idle == 0)
        let all = pieces.flatMap { $0 } + Array("the end".utf8)
        var read: [UInt8] = []
        while read.count < all.count {
            read += line.read(10_000)
            await Task.yield()
        }
        #expect(read == all && line.queue.isIdle && idle == 1 && line.queue.written == all.count)
    }

    @Test func onTheWayOutWhatIsLeftOfAPictureIsNotWaitedFor() {
        let line = Line()
        line.queue.send(pieces)
        line.queue.sendAndWait(Array("rest".utf8), short: Array("short".utf8))
        #expect(line.queue.isIdle)
        _ = line.read()
        #expect(line.read().isEmpty)
        // Who reads gets all of it.
        let other = Line()
        other.queue.send(Array("one ".utf8))
        other.queue.sendAndWait(Array("two".utf8), short: Array("short".utf8))
        #expect(other.read() == Array("one two".utf8))
    }

    @Test func nothingIsNothing() {
        let line = Line()
        line.queue.onIdle = { Issue.record("nothing was sent") }
        line.queue.send([] as [UInt8])
        line.queue.send([[], []])
        #expect(line.queue.isIdle && line.queue.written == 0)
    }
}
