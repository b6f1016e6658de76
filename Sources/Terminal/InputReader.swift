import Cells
import Dispatch
import Glibc

/// Reads what is typed, when something is.
@MainActor
final class InputReader {
    private let descriptor: Int32
    private let source: any DispatchSourceRead
    private var parser: InputParser
    private let escapeWait: Int
    /// Counts up with everything that is read: a wait that began before something came is void.
    private var reads = 0
    var onEvent: (InputEvent) -> Void = { _ in }
    /// Called when the terminal is gone.
    var onGone: () -> Void = {}

    init(_ descriptor: Int32, sequences: KeySequences, escapeWait: Int) {
        self.descriptor = descriptor
        self.escapeWait = escapeWait
        parser = InputParser(sequences)
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.read() } }
        source.resume()
    }

    func close() {
        source.cancel()
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) {
                source.cancel()
                onGone()
            }
            return
        }
        reads += 1
        for event in parser.parse(buffer.prefix(count)) { onEvent(event) }
        if parser.isWaiting { waitForMore() }
    }

    private func waitForMore() {
        let read = reads
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(escapeWait)) { [weak self] in
            MainActor.assumeIsolated {
                guard let self, self.reads == read else { return }
                for event in self.parser.parseWhatIsPending() { self.onEvent(event) }
            }
        }
    }
}
