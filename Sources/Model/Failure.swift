import Text

/// Something that went wrong, as data: kept in the cache, shown in a status line, listed among the errors.
public struct Failure: Hashable, Sendable, CustomStringConvertible {
    /// What could make it go well.
    public enum Remedy: Int, Hashable, Sendable {
        /// Nothing that happens by itself: trying again gives the same.
        case none = 0
        /// Time: the server may come to answer differently.
        case time = 1
        /// A network. There is none at the moment.
        case network = 2
    }

    /// One short phrase for the user, without a final stop: “the server answered 404”.
    public let reason: String
    /// What could make it go well.
    public let remedy: Remedy
    /// What the user could be asked, if his answer could make it go well. It is not kept.
    public let question: SignInQuestion?

    /// States a failure. Secrets of addresses in the reason are left out of it.
    public init(_ reason: String, remedy: Remedy, question: SignInQuestion? = nil) {
        self.reason = reason.withoutSecrets
        self.remedy = remedy
        self.question = question
    }

    /// How a reason ends where the user is asked for a password as soon as he opens the photo.
    public static let askedOnOpening = "; opening the photo asks for it"

    /// Whether opening the photo is reason enough for another attempt.
    public var isAskedOnOpening: Bool { reason.hasSuffix(Self.askedOnOpening) }

    /// Whether trying again later, with nothing changed here, could help.
    public var isTemporary: Bool { remedy != .none }

    /// The ``reason``.
    public var description: String { reason }
}

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
