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

/// How fast a terminal takes what it is sent, as far as that shows: a value without a clock.
///
/// What it takes at once says little: that goes into buffers on the way, of which nobody knows how large they are. But when they
/// are full, there is room again for just as much as has gone out at the other end.
struct DrainRate {
    /// Bytes a second; nil as long as the terminal keeps nobody waiting.
    private var bytesPerSecond: Double?
    /// When that was found out.
    private var measured: UInt64 = 0
    /// What was taken while somebody waited, and in how long.
    private var taken: (bytes: Double, seconds: Double) = (0, 0)
    /// Until when that is counted; nil while nobody waits.
    private var counted: UInt64?
    /// What was taken at once, in the second that began then.
    private var atOnce: (bytes: Int, begun: UInt64) = (0, 0)

    /// Fewer bytes say nothing: a terminal may be busy with something else for a moment.
    private static let least = 16_384.0
    /// What is longer ago than so many bytes counts half.
    private static let memory = 131_072.0
    /// So many bytes a second that are taken at once are more than buffers hold.
    private static let plenty = 131_072
    /// Nanoseconds after which a line that nobody has waited for may be twice as fast.
    private static let patience: UInt64 = 5_000_000_000
    /// How often that is believed.
    private static let mostHopes: UInt64 = 2

    /// The most bytes that are gone within half a second, as far as can be told.
    ///
    /// When nobody has waited for five seconds, the line may be twice as fast, and four times when it is ten: so something a
    /// little larger is tried, and what comes of that is measured.
    func mostInHalfASecond(at now: UInt64) -> Int {
        guard let bytesPerSecond else { return .max }
        return Int(min(bytesPerSecond * Double(1 << hopes(at: now)) / 2, 1e15))
    }

    /// In how many nanoseconds more may be tried though nothing is known; nil if that is not so.
    func nextHope(at now: UInt64) -> UInt64? {
        guard bytesPerSecond != nil, hopes(at: now) < Self.mostHopes else { return nil }
        return Self.patience - (now &- measured) % Self.patience
    }

    private func hopes(at now: UInt64) -> UInt64 { min(Self.mostHopes, (now &- measured) / Self.patience) }

    /// The terminal takes no more for now.
    ///
    /// - Parameter now: nanoseconds, of any clock.
    mutating func noteFull(at now: UInt64) {
        if counted == nil { counted = now }
    }

    /// The terminal has taken something.
    mutating func noteTaken(_ bytes: Int, at now: UInt64) {
        guard let counted else { return noteTakenAtOnce(bytes, now) }
        self.counted = now
        taken.bytes += Double(bytes)
        // Who has stopped the output for a while has not made the line slower.
        taken.seconds += min(Double(now &- counted) / 1e9, 1)
        if taken.bytes > Self.memory { taken = (taken.bytes / 2, taken.seconds / 2) }
        guard taken.bytes >= Self.least else { return }
        bytesPerSecond = taken.bytes / max(taken.seconds, 0.001)
        measured = now
    }

    /// The terminal has taken everything.
    mutating func noteIdle() { counted = nil }

    private mutating func noteTakenAtOnce(_ bytes: Int, _ now: UInt64) {
        if now &- atOnce.begun > 1_000_000_000 { atOnce = (0, now) }
        atOnce.bytes += bytes
        guard atOnce.bytes >= Self.plenty else { return }
        bytesPerSecond = nil
        taken = (0, 0)
    }
}
