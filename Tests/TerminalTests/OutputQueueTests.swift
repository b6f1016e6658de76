import Foundation
import TestSupport
import Testing

@testable import Terminal

@MainActor @Suite(.unlessItHangs) struct OutputQueueTests {
    /// A clock set by the test.
    private final class Clock {
        var now: UInt64 = 0
    }

    /// A terminal that reads when the test does.
    private final class Line {
        let queue: OutputQueue
        private let ends = LastingPipe()

        let clock: Clock

        @MainActor init() {
            let clock = Clock()
            self.clock = clock
            queue = OutputQueue(ends.write, now: { clock.now })
        }

        /// The terminal's end of the pipe.
        var readEnd: Int32 { ends.read }

        /// Whether the pipe accepts bytes.
        var hasRoom: Bool {
            var entry = pollfd(fd: ends.write, events: Int16(POLLOUT), revents: 0)
            return poll(&entry, 1, 0) > 0
        }

        func read(_ count: Int = 1 << 20) -> [UInt8] {
            var buffer = [UInt8](repeating: 0, count: count)
            let count = buffer.withUnsafeMutableBytes { Glibc.read(ends.read, $0.baseAddress, $0.count) }
            return Array(buffer.prefix(max(0, count)))
        }
    }

    /// Reads a number of bytes on its own thread.
    private struct Reader: Sendable {
        let (end, count): (Int32, Int)

        init(_ end: Int32, _ count: Int) { (self.end, self.count) = (end, count) }

        func begin() {
            Thread.detachNewThread {
                var (left, buffer) = (count, [UInt8](repeating: 0, count: 4_096))
                while left > 0 {
                    var entry = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
                    guard poll(&entry, 1, -1) > 0 else { continue }
                    left -= max(0, Glibc.read(end, &buffer, buffer.count))
                }
            }
        }
    }

    private let pieces = (0..<400).map { [UInt8](repeating: UInt8($0 % 251), count: $0 % 7 == 0 ? 0 : 3 * $0 + 1) }

    @Test("Pieces arrive in order over a slow line") func order() {
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
            // The next test shows that the event source calls this.
            if !line.queue.isIdle { line.queue.flush() }
        }
        #expect(read == all && line.queue.isIdle && idle == 1)
    }

    @Test("The rest is written when the terminal accepts it") func continues() async {
        let line = Line()
        line.queue.send(pieces)
        #expect(!line.queue.isIdle)
        let (whenIdle, idle) = AsyncStream<Void>.makeStream()
        line.queue.onIdle = { idle.yield() }
        let count = pieces.reduce(0) { $0 + $1.count }
        // The queue writes whenever the pipe accepts bytes.
        Reader(line.readEnd, count).begin()
        for await _ in whenIdle { break }
        #expect(line.queue.isIdle)
    }

    @Test("Leaving does not wait for the rest of a picture") func leaving() {
        let line = Line()
        line.queue.send(pieces)
        line.queue.sendAndWait(Array("rest".utf8), short: Array("short".utf8))
        #expect(line.queue.isIdle)
        _ = line.read()
        #expect(line.read().isEmpty)
        // A terminal that reads gets everything.
        let other = Line()
        other.queue.send(Array("one ".utf8))
        other.queue.sendAndWait(Array("two".utf8), short: Array("short".utf8))
        #expect(other.read() == Array("one two".utf8))
    }

    /// Sends bytes and reads them at a given speed.
    private func send(_ count: Int, over line: Line, bytesPerSecond: Int) {
        line.queue.send([UInt8](repeating: 1, count: count))
        while !line.queue.isIdle {
            line.clock.now += 100_000_000
            _ = line.read(bytesPerSecond / 10)
            // The queue refills the pipe before more time passes.
            while !line.queue.isIdle, line.hasRoom { line.queue.flush() }
        }
        _ = line.read()
    }

    @Test("A slow line is measured") func measures() {
        let line = Line()
        #expect(line.queue.mostInHalfASecond == .max)
        send(200_000, over: line, bytesPerSecond: 10_000)
        #expect((3_000...8_000).contains(line.queue.mostInHalfASecond), "\(line.queue.mostInHalfASecond)")
        // Bytes that fit into buffers change nothing; a faster line is measured again.
        line.clock.now += 2_000_000_000
        line.queue.send([UInt8](repeating: 1, count: 2_000))
        #expect(line.queue.mostInHalfASecond <= 8_000)
        _ = line.read()
        send(2_000_000, over: line, bytesPerSecond: 1_000_000)
        #expect(line.queue.mostInHalfASecond > 200_000)
    }

    @Test("Sending nothing does nothing") func empty() {
        let line = Line()
        line.queue.onIdle = { Issue.record("nothing was sent") }
        line.queue.send([] as [UInt8])
        line.queue.send([[], []])
        #expect(line.queue.isIdle)
    }
}
