import Scheduling

/// A governor that passes each call to another governor. A conforming type replaces the calls that it watches.
package protocol GovernorWrapper: Governor {
    /// The governor that decides.
    var inner: any Governor { get set }
}

extension GovernorWrapper {
    package var history: HostHistory { inner.history }
    package var report: GovernorReport { inner.report }

    package mutating func admit(_ candidate: TransferCandidate, at now: Double) -> Admission {
        inner.admit(candidate, at: now)
    }

    package mutating func recordStart(
        of transfer: Int, _ candidate: TransferCandidate, over way: Admission.Way, at now: Double
    ) {
        inner.recordStart(of: transfer, candidate, over: way, at: now)
    }

    package func pieces(of transfer: Int) -> TransferPieces { inner.pieces(of: transfer) }

    package mutating func record(_ event: TransferEvent, of transfer: Int, at now: Double) {
        inner.record(event, of: transfer, at: now)
    }

    package mutating func recordComplaint(of host: String, silence: Double, at now: Double) {
        inner.recordComplaint(of: host, silence: silence, at: now)
    }

    package mutating func endSilence(of host: String) { inner.endSilence(of: host) }

    package mutating func recordNetworkChange(at now: Double) { inner.recordNetworkChange(at: now) }

    package mutating func advance(to now: Double, waiting: (String) -> Int) -> [Int] {
        inner.advance(to: now, waiting: waiting)
    }

    package mutating func takeHanging(at now: Double) -> [Int: Admission.Way] { inner.takeHanging(at: now) }

    package func timeUntilHanging(at now: Double) -> Double? { inner.timeUntilHanging(at: now) }

    package func timeUntilAdvance(at now: Double, waiting: (String) -> Int) -> Double? {
        inner.timeUntilAdvance(at: now, waiting: waiting)
    }
}
