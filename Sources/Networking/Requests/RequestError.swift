import Cache
import Session
import Formats
import HTTP
import Model
import Scheduling

/// Why a request came to nothing.
public enum RequestError: Error, Equatable {
    /// The transfer failed.
    case transfer(HTTPError)
    /// There is no network to reach anything by.
    case noNetwork
    /// The gallery's host had a public address, and has a private one now.
    case noLongerPublic(String)
    /// The server said no; how many seconds it asks to be left alone, where it says so.
    case status(Int, retryAfter: Int?)
    /// The server wants to know who asks, and the user may have an answer.
    case signIn(SignInQuestion)
    /// The server sent something that is not what was asked for.
    case wrongType(String)
    /// The server said that nothing has changed, and nothing is held that could be unchanged.
    case nothingHeld
    /// Of what is here the server does not send the rest; why. What is here is let go, so the next attempt begins anew.
    case noRest(String)
    /// The gallery's list cannot be read.
    case format(FormatError)
    /// The cache cannot be read, or what came cannot be stored.
    case cache(CacheError)

    /// Takes whatever a request threw.
    init(_ error: any Error) {
        switch error {
        case let error as RequestError: self = error
        case HTTPError.wrongRange(let reason): self = .noRest(reason)
        case let error as HTTPError: self = .transfer(error)
        case let error as FormatError: self = .format(error)
        default: self = CacheError(thrown: error).map { .cache($0) } ?? .transfer(.other("\(error)"))
        }
    }

    /// The failure as the user is told, and as it is kept.
    public var failure: Failure {
        switch self {
        case .transfer(let error): Failure(error.description, remedy: error.isTransient ? .time : .none)
        case .noNetwork: Failure("there is no network", remedy: .network)
        case .noLongerPublic(let host):
            Failure(
                "\(host) was public and is at a private address now; if that is right, clear this gallery’s cache",
                remedy: .none)
        case .status(let code, _):
            Failure("the server answered \(code)\(Self.meaning(of: code))", remedy: isTransientStatus ? .time : .none)
        case .signIn(let question):
            Failure(Self.reason(question), remedy: .none, question: question)
        case .wrongType(let what): Failure("the server sent \(what)", remedy: .none)
        case .nothingHeld: Failure("the server sent nothing", remedy: .time)
        case .noRest(let reason): Failure("the server does not send the rest: \(reason)", remedy: .time)
        case .format(let error): Failure(error.description.withoutStop, remedy: error.isTransient ? .time : .none)
        case .cache(let error): Failure(error.description.withoutStop, remedy: error.isTransient ? .time : .none)
        }
    }

    /// The same, with its question put off until the user opens the photo.
    var deferred: RequestError {
        guard case .signIn(var question) = self, !question.isProxy else { return self }
        question.isDeferred = true
        return .signIn(question)
    }

    /// What it says of the disk that things are kept on, if that is what failed.
    var storageTrouble: StorageTrouble? {
        switch self {
        case .cache(let error): StorageTrouble(error)
        case .transfer(.disk(let code)): StorageTrouble(.file("", code: code))
        default: nil
        }
    }

    /// Seconds that the server asked to be left alone for.
    var retryAfter: Int? {
        if case .status(_, let seconds) = self { seconds } else { nil }
    }

    /// What it says of the host, to the one who decides how many transfers run at once.
    var ending: TransferNews.Ending {
        switch self {
        case .transfer(.unreachable), .transfer(.noRoute), .transfer(.unknownHost), .transfer(.connectTimedOut),
            .transfer(.lookupTimedOut), .transfer(.proxyUnreachable), .transfer(.silentBehindProxy), .noNetwork:
            .unreachable
        default: .failed
        }
    }

    /// Whether a transfer broke off, and nothing is wrong with what has come of it.
    var isBreak: Bool {
        switch self {
        case .transfer(.broken), .transfer(.brokenOff), .transfer(.cut), .transfer(.stalled), .transfer(.noRoute): true
        default: false
        }
    }

    /// Whether what is here of an earlier attempt is of use to the next one, when no answer came.
    var isForgiving: Bool {
        if case .noRest = self { false } else { failure.isTemporary }
    }

    /// Whether the host wants to be asked less.
    var isComplaint: Bool {
        switch self {
        case .status(429, _), .status(503, _), .transfer(.broken): true
        default: false
        }
    }

    /// Seconds for which it asks to be left alone by whoever asks, whatever it is asked for (RFC 6585, section 4). With 503 that
    /// may be meant of one picture, which it has not made yet.
    var silence: Int? {
        if case .status(429, let seconds) = self { seconds } else { nil }
    }

    /// The statuses that speak of the moment and not of the request.
    private var isTransientStatus: Bool {
        guard case .status(let code, _) = self else { return false }
        return [408, 425, 429, 500, 502, 503, 504].contains(code)
    }

    private static func reason(_ question: SignInQuestion) -> String {
        if let proxy = question.proxy {
            return "the proxy \(proxy) \(question.wasRefused ? "refuses the password" : "wants a password")"
        }
        let what = question.wantsToken ? "token" : "password"
        let reason =
            question.wasRefused
            ? "\(question.origin.place) refuses the \(what)" : "a \(what) is needed for \(question.origin.place)"
        return reason + (question.isDeferred ? Failure.askedOnOpening : "")
    }

    private static func meaning(of code: Int) -> String {
        switch code {
        case 401: " (a password is needed)"
        case 407: " (the proxy wants a password; it can stand in the proxy’s address)"
        case 403: " (not allowed)"
        case 404: " (not found)"
        case 410: " (gone)"
        case 429: " (too many requests)"
        case 500...599: " (it has a problem)"
        default: ""
        }
    }
}

extension String {
    /// A sentence, to be put into another.
    fileprivate var withoutStop: String {
        hasSuffix(".") ? String(dropLast()) : self
    }
}
