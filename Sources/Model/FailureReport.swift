/// Something that failed in this run of the program, and has not succeeded since.
public struct FailureReport: Hashable, Sendable {
    /// What did not come.
    public var subject: Wish.Subject
    /// Why not, the last time.
    public var failure: Failure
    /// How often it was tried.
    public var attempts: Int
    /// When it failed first.
    public var first: Timestamp
    /// When it failed last.
    public var last: Timestamp
    /// When it will be tried again by itself, if it will be.
    public var next: Timestamp?

    /// Puts the facts together.
    public init(
        _ subject: Wish.Subject, _ failure: Failure, attempts: Int, first: Timestamp, last: Timestamp,
        next: Timestamp? = nil
    ) {
        self.subject = subject
        self.failure = failure
        self.attempts = attempts
        self.first = first
        self.last = last
        self.next = next
    }
}
