import Cache
import Session
import Formats
import HTTP
import Model
import Scheduling

/// The reason why a request failed.
public enum RequestError: Error, Equatable {
    /// The transfer failed with this error.
    case transfer(HTTPError)
    /// The machine is on no network.
    case noNetwork
    /// The address of the gallery's host was public before and is private now.
    case noLongerPublic(String)
    /// The server refused with this status, and perhaps a number of seconds to wait.
    case status(Int, retryAfter: Int?)
    /// The server answered the first request for an `http` address with 400 (Bad Request). Servers that use TLS at that
    /// port answer so.
    case perhapsInsecure
    /// The server requests credentials that the user may have.
    case signIn(SignInQuestion)
    /// The server or the proxy offers only sign-ins that Vitrine does not know.
    case unknownSignIn(schemes: [String], isOfProxy: Bool)
    /// The server redirects to `https` at another port, and requests credentials at this address.
    case signInElsewhere(Address)
    /// The user's API key lacks a permission with this name.
    case missingPermission(String)
    /// The server refuses a shared link, because it has a password or because it is unknown.
    case sharedLink(hasPassword: Bool)
    /// The server has not made the thumbnail yet.
    case notMadeYet
    /// The sign-in with the browser failed for this reason.
    case browserSignIn(String)
    /// A storage service refused the request.
    case bucket(BucketRefusal)
    /// The server sent content of another type.
    case wrongType(String)
    /// The local file is no picture, for this reason.
    case wrongFile(String)
    /// The server answered 304 (Not Modified), but the cache holds no copy.
    case nothingHeld
    /// The server does not send the rest of a partial file. Vitrine drops the file, so the next attempt starts again.
    case noRest(String)
    /// Vitrine cannot read the gallery's list.
    case format(FormatError)
    /// Vitrine cannot read or write the cache.
    case cache(CacheError)

    /// Converts any error that a request threw.
    init(_ error: any Error) {
        switch error {
        case let error as RequestError: self = error
        case HTTPError.wrongRange(let reason): self = .noRest(reason)
        case HTTPError.refused(let status, let retryAfter):
            self = .status(status, retryAfter: retryAfter.flatMap { RetryAfter.seconds($0) })
        case let error as HTTPError: self = .transfer(error)
        case let error as FormatError: self = .format(error)
        default: self = CacheError(thrown: error).map { .cache($0) } ?? .transfer(.other("\(error)"))
        }
    }

    /// The failure as the user sees it and the cache stores it.
    public var failure: Failure {
        switch self {
        case .transfer(let error): Failure(error.description, remedy: error.isTransient ? .time : .none)
        case .noNetwork: Failure("there is no network", remedy: .network)
        case .noLongerPublic(let host):
            Failure(
                "\(host) had a public address and now has a private one; if that is intended, clear this gallery’s cache",
                remedy: .none)
        case .status(let code, _):
            Failure("the server answered \(code)\(Self.meaning(of: code))", remedy: isTransientStatus ? .time : .none)
        case .perhapsInsecure:
            Failure(
                "the server answered 400; if it requires https, begin the address with https://", remedy: .none)
        case .signIn(let question):
            Failure(Self.reason(question), remedy: .none, question: question)
        case .unknownSignIn(let schemes, let isOfProxy):
            Failure(
                "Vitrine knows none of the \(isOfProxy ? "proxy" : "server")’s sign-ins "
                    + "(\(schemes.joined(separator: ", ")))", remedy: .none)
        case .signInElsewhere(let address): Failure("a password is needed; open \(address) instead", remedy: .none)
        case .missingPermission(let name): Failure("the API key lacks the permission \(name)", remedy: .none)
        case .sharedLink(let hasPassword):
            Failure(
                hasPassword
                    ? "the shared link has a password, and Vitrine opens only links without a password"
                    : "the shared link is unknown to the server, or has expired", remedy: .none)
        case .notMadeYet: Failure("the server has not made this thumbnail yet", remedy: .time)
        case .browserSignIn(let reason): Failure(reason, remedy: .none)
        case .bucket(let refusal): Failure(refusal.reason, remedy: .none)
        case .wrongType(let what): Failure("the server sent \(what)", remedy: .none)
        case .wrongFile(let reason): Failure("the file \(reason)", remedy: .none)
        case .nothingHeld: Failure("the server sent nothing", remedy: .time)
        case .noRest(let reason): Failure("the server cannot continue the transfer: \(reason)", remedy: .time)
        case .format(let error): Failure(error.description.withoutStop, remedy: error.isTransient ? .time : .none)
        case .cache(let error): Failure(error.description.withoutStop, remedy: error.isTransient ? .time : .none)
        }
    }

    /// Whether the server or a proxy requires a sign-in, known to Vitrine or not.
    var wantsSignIn: Bool {
        switch self {
        case .signIn, .unknownSignIn: true
        default: false
        }
    }

    /// Throws ``wrongType(_:)`` or ``wrongFile(_:)`` unless a file that begins with these bytes may be a picture.
    static func checkIsPicture(_ bytes: some Collection<UInt8>, at address: Address) throws(RequestError) {
        guard PictureSignature(bytes) == nil else { return }
        if address.scheme == .file { throw .wrongFile(bytes.isEmpty ? "is empty" : "is not a picture") }
        throw .wrongType(PictureSignature.description(ofOther: bytes))
    }

    /// Throws ``wrongType(_:)`` or ``wrongFile(_:)`` unless a file that begins with these bytes may be a picture or a
    /// video.
    ///
    /// - Parameter address: the address of the file. Its ending shows whether the user expects a video.
    static func checkIsPictureOrVideo(_ bytes: some Collection<UInt8>, at address: Address) throws(RequestError) {
        guard VideoSignature(bytes) == nil else { return }
        guard PictureName.isVideo(path: address.path), PictureSignature(bytes) == nil else {
            return try checkIsPicture(bytes, at: address)
        }
        guard address.scheme == .file else { throw .wrongType("something that is not a video") }
        throw .wrongFile(bytes.isEmpty ? "is empty" : "is not a video")
    }

    /// This error, with its question postponed until the user opens the photo.
    var deferred: RequestError {
        guard case .signIn(var question) = self, !question.isProxy else { return self }
        question.isDeferred = true
        return .signIn(question)
    }

    /// The problem of the cache's disk that caused the failure; nil for another cause.
    var storageTrouble: StorageTrouble? {
        switch self {
        case .cache(let error): StorageTrouble(error)
        case .transfer(.disk(let code)): StorageTrouble(.file("", code: code))
        default: nil
        }
    }

    /// Whether the cache caused the failure, and not the server.
    var isOfCache: Bool {
        if case .cache = self { true } else { false }
    }

    /// The number of seconds to wait, if the server stated a number.
    var retryAfter: Int? {
        if case .status(_, let seconds) = self { seconds } else { nil }
    }

    /// The way in which the transfer ended, for the governor.
    var ending: TransferEvent.Ending {
        switch self {
        case .transfer(.unreachable), .transfer(.noRoute), .transfer(.unknownHost), .transfer(.connectTimedOut),
            .transfer(.lookupTimedOut), .transfer(.proxyUnreachable), .transfer(.silentBehindProxy), .noNetwork:
            .unreachable
        default: .failed
        }
    }

    /// Whether the connection broke during the transfer, so that the received part is usable.
    var isBreak: Bool {
        switch self {
        case .transfer(.broken), .transfer(.brokenOff), .transfer(.cut), .transfer(.stalled), .transfer(.noRoute): true
        default: false
        }
    }

    /// Whether a partial file remains useful after this error. The error came before any answer.
    var keepsPartialFile: Bool {
        if case .noRest = self { false } else { failure.isTemporary }
    }

    /// Whether the server answered that it has too much to do.
    var isRefusalOfBusyServer: Bool {
        if case .status(let status, _) = self { status == 429 || status == 503 } else { false }
    }

    /// Whether the error shows that the host is overloaded.
    var isComplaint: Bool {
        switch self {
        case .status(429, _), .status(503, _), .transfer(.broken): true
        default: false
        }
    }

    /// The number of seconds for which the host wants no requests (RFC 6585, section 4).
    ///
    /// A 503 may concern a single picture, so a 503 does not count. A server that limits its requests per second may
    /// state no time with its 429; nginx states none. Without a pause, it would refuse almost every picture twice.
    var silence: Int? {
        if case .status(429, let seconds) = self { seconds ?? 1 } else { nil }
    }

    /// Whether the server may answer with another status soon.
    private var isTransientStatus: Bool {
        guard case .status(let code, _) = self else { return false }
        return [408, 425, 429, 500, 502, 503, 504].contains(code)
    }

    private static func reason(_ question: SignInQuestion) -> String {
        if let proxy = question.proxy {
            return "the proxy \(proxy) \(question.wasRefused ? "refuses the password" : "wants a password")"
        }
        let what = question.secretName
        let article = what.first.map { "aeiouAEIOU".contains($0) } == true ? "an" : "a"
        let reason =
            question.wasRefused
            ? "\(question.origin.place) refuses the \(what)"
            : "\(article) \(what) is needed for \(question.origin.place)"
        return reason + (question.isDeferred ? Failure.askedOnOpening : "")
    }

    private static func meaning(of code: Int) -> String {
        switch code {
        case 401: " (a password is needed)"
        case 407: " (the proxy requires a password; you can put the password into the proxy’s address)"
        case 403: " (not allowed)"
        case 404: " (not found)"
        case 410: " (gone)"
        case 429: " (too many requests)"
        case 500...599: " (server error)"
        default: ""
        }
    }
}

extension String {
    /// The sentence without its full stop, for use in another sentence.
    fileprivate var withoutStop: String {
        hasSuffix(".") ? String(dropLast()) : self
    }
}
