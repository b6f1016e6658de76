import Text

/// A failure as a value that the cache stores and screens show.
public struct Failure: Hashable, Sendable, CustomStringConvertible {
    /// The condition under which a retry may succeed.
    public enum Remedy: Int, Hashable, Sendable {
        /// No condition, because a retry gives the same result.
        case none = 0
        /// The condition is time, because the server may answer differently later.
        case time = 1
        /// The condition is a network connection, which is missing now.
        case network = 2
    }

    /// A short phrase for the user without a full stop. An example is “the server answered 404”.
    public let reason: String
    /// The condition under which a retry may succeed.
    public let remedy: Remedy
    /// A question to the user whose answer could solve the problem. The cache does not store the question.
    public let question: SignInQuestion?

    /// Creates a failure. Removes secrets from addresses in the reason.
    public init(_ reason: String, remedy: Remedy, question: SignInQuestion? = nil) {
        self.reason = reason.withoutSecrets
        self.remedy = remedy
        self.question = question
    }

    /// The end of a reason if Vitrine asks for credentials later. Vitrine asks when the user opens the photo.
    public static let askedOnOpening = "; open the photo to enter it"

    /// Whether Vitrine asks for credentials when the user opens the photo. If so, opening the photo also retries the
    /// request.
    public var isAskedOnOpening: Bool { reason.hasSuffix(Self.askedOnOpening) }

    /// Whether a later retry may succeed without any action by the user.
    public var isTemporary: Bool { remedy != .none }

    /// The ``reason``.
    public var description: String { reason }
}

/// A failure that happened since the program started and has not been resolved.
public struct FailureReport: Hashable, Sendable {
    /// The requested data, such as a list or a picture.
    public var subject: Wish.Subject
    /// The reason of the last failure.
    public var failure: Failure
    /// The number of failed attempts.
    public var attempts: Int
    /// The time of the first failure.
    public var first: Timestamp
    /// The time of the last failure.
    public var last: Timestamp
    /// The time of the next automatic retry; nil if none is planned.
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
