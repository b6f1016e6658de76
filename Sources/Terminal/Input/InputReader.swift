import Cells
import Dispatch
import Glibc

/// Reads keys and replies from the terminal.
@MainActor
final class InputReader {
    private let descriptor: Int32
    /// Not private, so that a test can check that it is silenced and not cancelled; see
    /// ``DispatchSourceProtocol/silence()``.
    let source: any DispatchSourceRead
    private var isClosed = false
    private var parser: InputParser
    private let escapeWait: Int
    private let sequenceWait: Int
    /// Counts reads, so that a timeout from before the last read is ignored.
    private var reads = 0
    /// The start time of the pending sequence.
    private var sequenceStart: DispatchTime?
    /// Receives each event. The owner sets it before the first.
    var onEvent: (InputEvent) -> Void = { _ in }
    /// Called with each reply, expected or not.
    var onReply: (TerminalReply) -> Void = { _ in }
    /// Returns whether replies may still arrive.
    var isAnswerDue: () -> Bool = { false }
    /// Called when the terminal is gone.
    var onGone: () -> Void = {}

    /// Milliseconds to wait after an escape while a reply is expected, because replies begin with one too.
    static let answerWait = 250
    /// Milliseconds to wait for the end of a sequence, from its start, or of a paste, from its last bytes. After that,
    /// keys work again.
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

    /// Stops reading. May be called repeatedly.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        source.silence()
    }

    /// Discards incomplete input, because other programs have read its rest.
    func discardPending() {
        reads += 1
        sequenceStart = nil
        parser.reset()
    }

    /// Reads expected replies for a limited time, so that the next program does not read them. Keys typed meanwhile are
    /// dropped.
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

    /// Returns the available bytes; nil if the terminal is gone.
    private func readBytes() -> ArraySlice<UInt8>? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return [] }
        return count > 0 ? buffer.prefix(count) : nil
    }

    private func read() {
        guard let bytes = readBytes() else {
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
    /// Silences the source permanently before the program ends.
    ///
    /// The source is not cancelled. libdispatch on Linux frees its state for a descriptor or signal with the last
    /// source, on the thread that cancels it, while its own thread may still use that state for the current event. This
    /// occasionally crashed the program when its terminal disappeared. The source is retained, because a suspended
    /// source must not be released.
    func silence() {
        suspend()
        _ = Unmanaged.passRetained(self as AnyObject)
    }
}
