import Model

/// Decides how many transfers run at once, and which of them have to make room.
///
/// A governor is a value without a clock: it is told what happens and what time it is, in seconds since whenever, and
/// answers. So a test drives it through thousands of networks, and what it does on each can be repeated.
///
///     var governor: any Governor = AdaptiveGovernor()
///     if case .now(let way) = governor.admit(candidate, at: now) {
///         governor.noteStart(of: 1, candidate, over: way, at: now)
///     }
///     governor.note(.answered(wait: 0.1, length: 12_000, isShared: false), of: 1, at: now)
///     for transfer in governor.advance(to: now, waiting: { queue.count(of: $0) }) { … interrupt it … }
public protocol Governor: Sendable {
    /// Whether something may start now. Whoever starts it says so by ``noteStart(of:_:over:at:)``.
    mutating func admit(_ candidate: TransferCandidate, at now: Double) -> Admission
    /// Notes that something was started, under a number of its own.
    mutating func noteStart(
        of transfer: Int, _ candidate: TransferCandidate, over way: Admission.Way, at now: Double
    )
    /// In what pieces something that comes in some is to be asked for by now.
    func pieces(of transfer: Int) -> TransferPieces
    /// Notes what happens to something that was started.
    mutating func note(_ news: TransferNews, of transfer: Int, at now: Double)
    /// Notes that a host wants to be asked less: 429, 503, or connections that it resets.
    ///
    /// - Parameter silence: seconds for which it does not want to be asked at all, but for what the user waits for.
    mutating func noteComplaint(of host: String, silence: Double, at now: Double)
    /// Notes that the user wants a host to be asked, whatever it said of that.
    mutating func endSilence(of host: String)
    /// Notes that the system has come to be on a network, or on another one.
    mutating func noteNetwork(at now: Double)
    /// Lets time pass. Returns what should be interrupted, and put back into the queue, for something more important.
    ///
    /// - Parameter waiting: how many wait for that host that could have been started.
    mutating func advance(to now: Double, waiting: (String) -> Int) -> [Int]
    /// What hangs, and is to be asked for once more beside it, each over such a way. It is named once; whoever asks says so by
    /// ``noteStart(of:_:over:at:)``, under another number, and what comes first counts.
    mutating func takeHanging(at now: Double) -> [Int: Admission.Way]
    /// Seconds after which something hangs if nothing comes of it before; nil if nothing does that is to be asked for once more.
    func patience(at now: Double) -> Double?
    /// Seconds after which ``advance(to:waiting:)`` should be called though nothing has happened; nil if it need not be.
    ///
    /// - Parameter waiting: how many wait for that host by now. More may do so than at the last look.
    func pace(at now: Double, waiting: (String) -> Int) -> Double?
    /// What it has found out about hosts, for the next run to begin with.
    var history: HostHistory { get }
    /// What there is to say about it.
    var report: GovernorReport { get }
}
