import Dispatch
import Glibc

/// Bytes on their way to the terminal. It may read them as slowly as it likes: nobody waits for it here.
@MainActor
final class OutputQueue {
    private let descriptor: Int32
    /// What is to be written, piece by piece. They are not joined: a picture is as large as it is.
    private var pieces: [[UInt8]] = []
    /// The first piece that is not written, and how much of it is.
    private var (next, offset) = (0, 0)
    /// Tells when there is room again; there is one only while something waits for that.
    private var source: (any DispatchSourceWrite)?
    /// Whether the terminal takes nothing any more, ever.
    private var isGone = false
    /// Called when everything has been written.
    var onIdle: () -> Void = {}
    /// Called when the terminal is gone.
    var onGone: () -> Void = {}
    /// Everything that was ever written, in bytes. Tests count it.
    private(set) var written = 0
    private var rate = DrainRate()
    /// Nanoseconds, of any clock.
    private let now: () -> UInt64

    init(_ descriptor: Int32, now: @escaping () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }) {
        self.descriptor = descriptor
        self.now = now
    }

    /// The most bytes that the terminal takes within half a second, as far as that is known. Until something is taken, every
    /// frame waits for it.
    var mostInHalfASecond: Int { rate.mostInHalfASecond(at: now()) }

    /// In how many nanoseconds that may be more; nil if it will not be by itself.
    var nextHope: UInt64? { rate.nextHope(at: now()) }

    /// Whether the terminal has taken all that it was sent.
    var isIdle: Bool { pieces.isEmpty }

    /// Sends bytes, now as far as the terminal takes them, and the rest when it does.
    func send(_ bytes: [UInt8]) { send([bytes]) }

    /// Sends pieces that follow each other.
    func send(_ more: [[UInt8]]) {
        let wasIdle = isIdle
        pieces += more.lazy.filter { !$0.isEmpty }
        if wasIdle, !isIdle { flush() }
    }

    /// Sends the rest and these, waiting for the terminal: for the way out.
    ///
    /// A terminal that reads gets all of it. For one that does not, or takes too long, the rest of a frame is not worth
    /// waiting for, and cutting it off anywhere is safe: CAN ends a sequence that was begun.
    ///
    /// - Parameter short: what gives the terminal back by itself, wherever a frame stopped.
    func sendAndWait(_ bytes: [UInt8], short: [UInt8]) {
        pieces.append(bytes)
        if !drain() {
            forget()
            pieces = [[0x18] + short]
            _ = drain()
        }
        close()
    }

    /// Writes for as long as the terminal goes on reading, within a second. Returns whether all was written.
    private func drain() -> Bool {
        let deadline = ContinuousClock.now + .seconds(1)
        while true {
            writeSome()
            guard !isIdle else { return true }
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard ContinuousClock.now < deadline, poll(&entry, 1, 300) > 0 else { return false }
        }
    }

    /// Forgets what has not been sent, and waits for nothing any more.
    func close() {
        forget()
        setWaiting(false)
    }

    private func forget() {
        pieces = []
        (next, offset) = (0, 0)
    }

    /// Writes as much as the terminal takes. It is called whenever there may be room again.
    func flush() {
        writeSome()
        setWaiting(!isIdle)
        if isIdle { onIdle() }
    }

    private func writeSome() {
        while next < pieces.count {
            let count = pieces[next].withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                return write(descriptor, rest.baseAddress, rest.count)
            }
            if count > 0 {
                written += count
                rate.noteTaken(count, at: now())
                offset += count
                guard offset == pieces[next].count else { continue }
                // Its memory is given back now, and not with the last.
                pieces[next] = []
                (next, offset) = (next + 1, 0)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: return rate.noteFull(at: now())
            default:
                forget()
                isGone = true
                onGone()
                return
            }
        }
        rate.noteIdle()
        forget()
    }

    private func setWaiting(_ shall: Bool) {
        guard shall != (source != nil) else { return }
        if isGone { source?.silence() } else { source?.cancel() }
        source = nil
        guard shall else { return }
        let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: .main)
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.flush() } }
        source.resume()
        self.source = source
    }
}
