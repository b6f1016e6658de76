import Cells
import Foundation
import TestSupport
import Testing

@testable import Terminal

@MainActor @Suite(.unlessItHangs) struct InputReaderTests {
    /// A pipe into which the test types.
    private final class Line {
        private let ends = LastingPipe()
        let reader: InputReader
        private(set) var events: [InputEvent] = []

        @MainActor init(sequenceWait: Int = 20) {
            reader = InputReader(
                ends.read, sequences: KeySequences { _ in nil }, escapeWait: 10, sequenceWait: sequenceWait)
            reader.onEvent = { [unowned self] in events.append($0) }
        }

        func type(_ text: String) {
            _ = Array(text.utf8).withUnsafeBytes { write(ends.write, $0.baseAddress, $0.count) }
        }

        /// Waits for a number of events and returns them.
        @MainActor func next(_ count: Int) async -> [InputEvent] {
            while events.count < count, !Task.isCancelled { await Task.yield() }
            defer { events = [] }
            return events
        }
    }

    @Test("A paste without an end is delivered after a while and keys work again") func unterminatedPaste() async {
        let line = Line()
        line.type("\u{1B}[200~some text")
        #expect(await line.next(1) == [.paste("some text")])
        line.type("q")
        #expect(await line.next(1) == [.key(.character("q"))])
        line.reader.close()
    }

    /// The wait restarts with every part of the paste.
    @Test("A slow paste is one event") func slowPaste() async {
        let line = Line(sequenceWait: 60_000)
        line.type("\u{1B}[200~")
        for _ in 0..<50 {
            line.type("a")
            await Task.yield()
        }
        #expect(line.events.isEmpty)
        line.type("\u{1B}[201~q")
        #expect(
            await line.next(2) == [.paste(String(repeating: "a", count: 50)), .key(.character("q"))])
        line.reader.close()
    }

    @Test("A terminal that hangs up is reported once, and its event source is silenced and not cancelled")
    func hangUp() async throws {
        for _ in 0..<20 {
            var (master, slave): (Int32, Int32) = (-1, -1)
            try #require(openpty(&master, &slave, nil, nil, nil) == 0)
            // A silenced source keeps its descriptor open, so use a number that nothing else gets.
            let descriptor = fcntl(slave, F_DUPFD_CLOEXEC, 500)
            Glibc.close(slave)
            let reader = InputReader(descriptor, sequences: KeySequences { _ in nil }, escapeWait: 10)
            var ends = 0
            reader.onGone = {
                ends += 1
                // The program does this when its terminal is gone.
                reader.close()
            }
            Glibc.close(master)
            while ends == 0, !Task.isCancelled { await Task.yield() }
            #expect(ends == 1 && !reader.source.isCancelled)
        }
    }

    /// The program was stopped during a paste and the shell has read the rest.
    @Test("Incomplete input can be discarded") func discard() async {
        let line = Line(sequenceWait: 60_000)
        line.type("k\u{1B}[200~some")
        #expect(await line.next(1) == [.key(.character("k"))])
        line.reader.discardPending()
        line.type("q")
        #expect(await line.next(1) == [.key(.character("q"))])
        line.reader.close()
    }
}
