import Text

/// A failure as data: stored in the cache and shown on screens.
public struct Failure: Hashable, Sendable, CustomStringConvertible {
    /// The condition under which a retry could succeed.
    public enum Remedy: Int, Hashable, Sendable {
        /// A retry gives the same result.
        case none = 0
        /// Time, because the server may answer differently later.
        case time = 1
        /// A network connection, which is missing now.
        case network = 2
    }

    /// A short phrase for the user, without a period: “the server answered 404”.
    public let reason: String
    /// The condition under which a retry could succeed.
    public let remedy: Remedy
    /// A question whose answer could solve the problem. It is not stored.
    public let question: SignInQuestion?

    /// Creates a failure. Secrets in the reason's addresses are removed.
    public init(_ reason: String, remedy: Remedy, question: SignInQuestion? = nil) {
        self.reason = reason.withoutSecrets
        self.remedy = remedy
        self.question = question
    }

    /// The end of a reason if the user gets the question on opening the photo.
    public static let askedOnOpening = "; opening the photo asks for it"

    /// Whether opening the photo justifies a retry.
    public var isAskedOnOpening: Bool { reason.hasSuffix(Self.askedOnOpening) }

    /// Whether a later retry could succeed without any change here.
    public var isTemporary: Bool { remedy != .none }

    /// The ``reason``.
    public var description: String { reason }
}

/// A failure of this run of the program that has not been resolved since.
public struct FailureReport: Hashable, Sendable {
    /// The request that failed.
    public var subject: Wish.Subject
    /// The last failure.
    public var failure: Failure
    /// The number of attempts.
    public var attempts: Int
    /// The time of the first failure.
    public var first: Timestamp
    /// The time of the last failure.
    public var last: Timestamp
    /// The time of the next automatic retry, if there will be one.
    public var next: Timestamp?

    /// Creates a report.
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
