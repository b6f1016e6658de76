import Cells
import Dispatch
import Glibc

/// Reads what is typed, and what the terminal answers, when something is.
@MainActor
final class InputReader {
    private let descriptor: Int32
    /// Silenced at the end, and never cancelled: see ``DispatchSourceProtocol/silence()``.
    let source: any DispatchSourceRead
    private var isClosed = false
    private var parser: InputParser
    private let escapeWait: Int
    private let sequenceWait: Int
    /// Counts up with everything that is read: a wait that began before something came is void.
    private var reads = 0
    /// When what is pending has begun to be a sequence.
    private var sequenceStart: DispatchTime?
    var onEvent: (InputEvent) -> Void = { _ in }
    /// Called with what the terminal answers, asked or not.
    var onReply: (TerminalReply) -> Void = { _ in }
    /// Whether answers may be on their way.
    var isAnswerDue: () -> Bool = { false }
    /// Called when the terminal is gone.
    var onGone: () -> Void = {}

    /// Milliseconds after which an escape was the Escape key although an answer is due, which begins with one too.
    static let answerWait = 250
    /// Milliseconds for which the rest of a sequence is waited for, from its beginning; and the rest of a paste, from what came of
    /// it last. What has no end keeps the keyboard no longer.
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

    /// Reads nothing any more. It can be repeated.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        source.silence()
    }

    /// Forgets what has begun: while others had the terminal, they read its rest.
    func forget() {
        reads += 1
        sequenceStart = nil
        parser.forget()
    }

    /// Reads what still comes, for as long as an answer is due, up to a number of milliseconds: else it would be read by
    /// whoever has the terminal next. What is typed meanwhile is dropped.
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

    /// What there is; nil if the terminal is gone.
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
        // First: an answer may be what a key that came with it is to find.
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
                for event in self.parser.parseWhatIsPending() { self.onEvent(event) }
            }
        }
    }
}

extension DispatchSourceProtocol {
    /// Has it tell nothing any more, for good: for a program that is about to end.
    ///
    /// It is not cancelled. libdispatch for Linux gives up what it knows of a descriptor or a signal with its last source, on the
    /// thread that ends that one, while its own may still be going through it for the event that brought it about: now and
    /// then, that ended the program when its terminal went. So the source stays, and is kept: a suspended one must not be released.
    func silence() {
        suspend()
        _ = Unmanaged.passRetained(self as AnyObject)
    }
}
