/// One thing that is fetched or is to be, as whoever fetches it sees it at one moment.
public struct TransferReport: Hashable, Sendable {
    /// How far it has come.
    public enum Stage: Hashable, Sendable {
        /// It is on its way: so much has arrived, and that many bytes come in a second, where that can be told.
        case running(Progress, speed: Double? = nil)
        /// Its turn has not come.
        case queued
        /// Nor this one's, and something is in its way: an attempt has failed, after so many, or its host cannot be reached, or
        /// does not want to be asked, which may be known of others alone.
        case heldBack(Failure, attempts: Int)
        /// An attempt failed. It was the so-and-so-many-th; the next one comes at that time, or, if there is none, when
        /// something else happens, such as the network's coming back.
        case waiting(Failure, attempts: Int, until: Timestamp?)
    }

    /// What is wished for. Where another thing is fetched in its place, as a photo is that a thumbnail is made from, it is
    /// still the wish that is named: so that it can be declined.
    public var subject: Wish.Subject
    /// Where it comes from; empty for a file. As it came: not yet made harmless for a screen.
    public var host: String
    /// How soon it is wanted.
    public var importance: Importance
    /// How far it has come.
    public var stage: Stage

    /// Puts the facts together.
    public init(_ subject: Wish.Subject, host: String, importance: Importance, stage: Stage) {
        self.subject = subject
        self.host = host
        self.importance = importance
        self.stage = stage
    }
}
