import Cells
import Dispatch
import Glibc

/// Reads keys and replies from the terminal.
@MainActor
final class InputReader {
    private let descriptor: Int32
    /// The event source. Not private, so that a test can check that the source is silenced and not cancelled; see
    /// ``DispatchSourceProtocol/silence()``.
    let source: any DispatchSourceRead
    private var isClosed = false
    private var isPaused = false
    private var parser: InputParser
    private let escapeWait: Int
    private let sequenceWait: Int
    /// The number of reads. A timer has no effect if this number has changed since the timer started.
    private var reads = 0
    /// The time at which the pending sequence started.
    private var sequenceStart: DispatchTime?
    /// Called with each event. The owner sets this closure before the first event.
    var onEvent: (InputEvent) -> Void = { _ in }
    /// Called with each reply, whether expected or not.
    var onReply: (TerminalReply) -> Void = { _ in }
    /// Returns whether the terminal may still answer a query.
    var isAnswerDue: () -> Bool = { false }
    /// Called when the terminal is gone.
    var onGone: () -> Void = {}
    /// Called when input cannot be read because this program is in the background, or was until just now. In the
    /// background, the owner calls ``pause()``.
    var onBackground: () -> Void = {}

    /// The milliseconds to wait after an escape byte while a reply is expected, because replies begin with an escape
    /// byte, too.
    static let answerWait = 250
    /// The milliseconds to wait for the rest of a sequence or a paste. The time counts from the start of a sequence, or
    /// from the last bytes of a paste. Afterwards, keys work again.
    static let usualSequenceWait = 2_000

    init(
        _ descriptor: Int32, sequences: KeySequences, escapeWait: Int, sequenceWait: Int = InputReader.usualSequenceWait
    ) {
        self.descriptor = descriptor
        self.escapeWait = escapeWait
        self.sequenceWait = sequenceWait
        parser = InputParser(sequences)
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.read() } }
        source.resume()
    }

    /// Stops reading. Further calls do nothing.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        source.silence()
    }

    /// Stops reading until ``resume()``. Further calls do nothing.
    func pause() {
        guard !isClosed, !isPaused else { return }
        isPaused = true
        source.suspend()
    }

    /// Continues reading after ``pause()``.
    func resume() {
        guard !isClosed, isPaused else { return }
        isPaused = false
        source.resume()
    }

    /// Discards incomplete input, because another program has read the rest.
    func discardPending() {
        reads += 1
        sequenceStart = nil
        parser.reset()
    }

    /// Reads expected replies for a limited time. Otherwise, the next program would read them as input. Drops keys
    /// typed meanwhile.
    func drain(milliseconds: Int) {
        let deadline = DispatchTime.now() + .milliseconds(milliseconds)
        while isAnswerDue() {
            let now = DispatchTime.now()
            guard now < deadline else { return }
            let left = (deadline.uptimeNanoseconds - now.uptimeNanoseconds) / 1_000_000
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, Int32(left) + 1) > 0, let bytes = readBytes() else { return }
            _ = parser.parse(bytes)
            for reply in parser.takeReplies() { onReply(reply) }
        }
    }

    /// Returns the bytes that have arrived; nil if the terminal is gone, or if this program is in the background.
    private func readBytes() -> ArraySlice<UInt8>? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return [] }
        return count > 0 ? buffer.prefix(count) : nil
    }

    private func read() {
        guard let bytes = readBytes() else {
            // Reading fails with EIO if the process "is in a background process group […] and […] is blocking SIGTTIN"
            // (read(2)), as Dispatch's threads do.
            if !isHungUp { return onBackground() }
            close()
            return onGone()
        }
        guard !bytes.isEmpty else { return }
        reads += 1
        let events = parser.parse(bytes)
        // Handle replies first: a key may depend on a reply that arrived with it.
        for reply in parser.takeReplies() { onReply(reply) }
        for event in events { onEvent(event) }
        waitForMore()
    }

    /// Whether the terminal is gone.
    private var isHungUp: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
    }

    private func waitForMore() {
        let deadline: DispatchTime
        switch parser.waiting {
        case .nothing:
            sequenceStart = nil
            return
        case .key:
            sequenceStart = nil
            deadline = .now() + .milliseconds(isAnswerDue() ? max(Self.answerWait, escapeWait) : escapeWait)
        case .sequence:
            let start = sequenceStart ?? .now()
            sequenceStart = start
            deadline = start + .milliseconds(sequenceWait)
        case .paste:
            sequenceStart = nil
            deadline = .now() + .milliseconds(sequenceWait)
        }
        let read = reads
        DispatchQueue.main.asyncAfter(deadline: deadline) { [weak self] in
            MainActor.assumeIsolated {
                guard let self, self.reads == read else { return }
                self.sequenceStart = nil
                for event in self.parser.parsePending() { self.onEvent(event) }
            }
        }
    }
}

extension DispatchSourceProtocol {
    /// Stops the source's events for good, before the program ends.
    ///
    /// This method does not cancel the source. On Linux, libdispatch frees its state for a descriptor or signal
    /// together with the last source, on the thread that cancels the source. libdispatch's own thread may still use
    /// that state, which occasionally crashed Vitrine when the terminal disappeared. The source is retained, because a
    /// suspended source must not be released.
    func silence() {
        suspend()
        _ = Unmanaged.passRetained(self as AnyObject)
    }
}
