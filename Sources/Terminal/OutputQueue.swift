import Dispatch
import Glibc

/// Bytes on their way to the terminal. It may read them as slowly as it likes: nobody waits for it here.
@MainActor
final class OutputQueue {
    private let descriptor: Int32
    private var rest: ArraySlice<UInt8> = []
    private let source: any DispatchSourceWrite
    private var isResumed = false
    /// Called when everything has been written.
    var onIdle: () -> Void = {}
    /// Called when the terminal is gone.
    var onGone: () -> Void = {}
    /// Everything that was ever written, in bytes. Tests count it.
    private(set) var written = 0

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: .main)
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.flush() } }
    }

    /// Whether the terminal has taken all that it was sent.
    var isIdle: Bool { rest.isEmpty }

    /// Sends bytes, now as far as the terminal takes them, and the rest when it does.
    func send(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        let wasIdle = isIdle
        rest += bytes
        if wasIdle { flush() }
    }

    /// Sends the rest and these, waiting for the terminal, but not longer than a second: for the way out.
    func sendAndWait(_ bytes: [UInt8]) {
        rest += bytes
        var attempts = 0
        while !rest.isEmpty, attempts < 10 {
            writeSome()
            guard !rest.isEmpty else { break }
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&entry, 1, 100)
            attempts += 1
        }
        rest = []
        setResumed(false)
    }

    /// Lets go of the event source, which must be resumed to be let go.
    func close() {
        setResumed(true)
        source.cancel()
    }

    private func flush() {
        writeSome()
        setResumed(!rest.isEmpty)
        if rest.isEmpty { onIdle() }
    }

    private func writeSome() {
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                written += count
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: return
            default:
                rest = []
                onGone()
                return
            }
        }
        // Give back the memory that the slice still holds on to.
        rest = []
    }

    private func setResumed(_ shall: Bool) {
        guard shall != isResumed else { return }
        isResumed = shall
        if shall { source.resume() } else { source.suspend() }
    }
}
