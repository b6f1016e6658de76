/// How many transfers a host puts up with at once.
///
/// It is halved when the host complains, and creeps up again while it does not. Where the host says for how long it does not
/// want to be asked at all, it is not.
struct HostCap {
    private(set) var value = HostPath.greatestCap
    /// Whether the host has not complained, or not for long.
    var isWhole: Bool { value == HostPath.greatestCap }
    private var changeTime = -Double.infinity
    /// Until when it does not want to be asked.
    private(set) var silenceEnd = -Double.infinity

    private static let clean = 30.0

    /// The host complained. Of what ran at once all may come to hear of it, so only one complaint a round trip counts.
    ///
    /// - Parameter silence: seconds for which it does not want to be asked.
    mutating func noteRefusal(at now: Double, roundTrip: Double, silence: Double) {
        silenceEnd = max(silenceEnd, now + silence)
        guard now - changeTime > roundTrip else { return }
        value = max(1, (value / 2).rounded(.down))
        changeTime = now
    }

    /// It was not the host that complained: there was none, or there was no network.
    mutating func forgive() {
        value = HostPath.greatestCap
    }

    /// The user wants it asked all the same.
    mutating func endSilence() { silenceEnd = -Double.infinity }

    /// Whether it has asked to be left alone.
    func wantsSilence(at now: Double) -> Bool { now < silenceEnd }

    mutating func advance(to now: Double) {
        guard value < HostPath.greatestCap, now - changeTime >= Self.clean else { return }
        value += 1
        changeTime = now
    }
}
