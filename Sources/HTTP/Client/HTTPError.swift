import Glibc
import Numbers
import Text

/// How a transfer can fail before it has an answer, or while the answer is coming.
///
/// An answer that says no, a 404, is not an error here: it is an answer. So is a 407, of whichever proxy.
public enum HTTPError: Error, Equatable, CustomStringConvertible {
    /// What everything goes through cannot be loaded; the system's reason.
    case missingLibrary(file: String, package: String, reason: String)
    /// The URL cannot be used.
    case url(String)
    /// A user, a password or a token holds what cannot be sent.
    case unusableCredentials

    /// The host's name is not known.
    case unknownHost(String)
    /// Nobody says where the host is.
    case lookupTimedOut(String)
    /// Nobody answers at the host.
    case unreachable(String)
    /// The host lets one wait.
    case connectTimedOut(String)
    /// No way leads to the host: there is no network, or not that one.
    case noRoute(String)
    /// The host is on this machine or in the user's own network, where a stranger's word does not lead.
    case privateAddress(String)

    /// The proxy's address cannot be used.
    case unusableProxy
    /// The proxy's name is not known.
    case unknownProxy
    /// Nobody answers at the proxy.
    case proxyUnreachable(String)
    /// The proxy is there, and through it the host lets one wait.
    case silentBehindProxy(String)
    /// The proxy does not let one through; its status.
    case proxyRefused(Int)
    /// The proxy could not reach the host; curl's reason.
    case proxyFailed(String)

    /// No secure connection could be made; the TLS library's reason.
    case tls(String)
    /// The server's certificate is not to be trusted; why.
    case certificate(String)
    /// The certificate of one's own cannot be used; the TLS library's reason.
    case ownCertificate(String)

    /// The connection was closed without an answer.
    case noAnswer
    /// The connection broke.
    case broken
    /// The server gave up on the answer, or on the connection, with others going on over it.
    case brokenOff
    /// Nothing, or next to nothing, has come for too long.
    case stalled
    /// The answer ended before all of it had come.
    case cut
    /// The answer breaks the protocol.
    case malformed(String)
    /// The server sends another part of the whole than the one that was asked for.
    case wrongRange(String)
    /// More redirects than anyone needs.
    case tooManyRedirects
    /// A redirect to a kind of address that is not followed from there.
    case forbiddenRedirect
    /// The answer is larger than it may be.
    case tooLarge(limit: ByteCount)
    /// The answer is compressed more than any text.
    case tooCompressed(limit: Int)

    /// The process, or the machine, has no file descriptor left: nothing is known of the other end.
    case tooFewDescriptors
    /// A local file cannot be read.
    case file(String)
    /// What came cannot be written; the system's number for the reason.
    case disk(code: Int32)
    /// Anything else, in curl's words.
    case other(String)

    /// A phrase for the user.
    public var description: String {
        switch self {
        case .missingLibrary(let file, let package, let reason):
            "\(file) cannot be loaded (\(reason)): install \(package)"
        case .url(let reason): "the address cannot be used: \(reason)"
        case .unusableCredentials: "the user, the password or the token holds control characters"
        case .unknownHost(let host): "the host \(HostName.shown(host)) is not known"
        case .lookupTimedOut(let host):
            "where \(HostName.shown(host)) is cannot be looked up: the name server does not answer"
        case .unreachable(let host):
            host.isEmpty ? "the server cannot be reached" : "\(HostName.shown(host)) cannot be reached"
        case .connectTimedOut(let host): "\(HostName.shown(host)) does not answer"
        case .noRoute(let host): "no network leads to \(HostName.shown(host))"
        case .privateAddress(let host):
            "\(HostName.shown(host)) is a private address, which a public gallery may not name"
        case .unusableProxy: "the proxy’s address cannot be used"
        case .unknownProxy: "the proxy’s host is not known"
        case .proxyUnreachable(let proxy): "the proxy \(HostName.shown(proxy)) cannot be reached"
        case .silentBehindProxy(let host): "\(HostName.shown(host)) does not answer through the proxy"
        case .proxyRefused(407): "the proxy wants a password"
        case .proxyRefused(let status): "the proxy refuses to connect (\(status))"
        case .proxyFailed(let reason): "the proxy cannot connect: \(reason)"
        case .tls(let reason): "no secure connection: \(reason)"
        case .certificate(let reason): "the server’s certificate is not trusted: \(reason)"
        case .ownCertificate(let reason): "your certificate cannot be used: \(reason)"
        case .noAnswer: "the server closed the connection without an answer"
        case .broken: "the connection broke"
        case .brokenOff: "the server broke the answer off"
        case .stalled: "the server has stopped sending"
        case .cut: "the answer was cut short"
        case .malformed(let reason): "the answer breaks the protocol: \(reason)"
        case .wrongRange(let reason): "the server sent another part than was asked for: \(reason)"
        case .tooManyRedirects: "more than \(HTTPRequest.maximumRedirects) redirects"
        case .forbiddenRedirect: "a redirect leads to an address that is not followed"
        case .tooLarge(let limit): "it is larger than \(limit / (1 << 20)) MiB"
        case .tooFewDescriptors: "Vitrine has too few file descriptors: raise the limit with “ulimit -n”"
        case .tooCompressed(let limit): "it becomes more than \(limit) times as large when it is decompressed"
        case .file(let reason): "the file cannot be read: \(reason)"
        case .disk(let code): "it cannot be stored: \(String(cString: strerror(code)))"
        case .other(let reason): reason
        }
    }

    /// Whether the same request may succeed later: nothing is wrong with what was asked for.
    public var isTransient: Bool {
        switch self {
        case .missingLibrary, .unknownHost, .lookupTimedOut, .unreachable, .connectTimedOut, .noRoute, .unknownProxy,
            .proxyUnreachable, .silentBehindProxy, .proxyFailed, .noAnswer, .broken, .brokenOff, .stalled, .cut, .disk,
            .tooFewDescriptors, .other:
            true
        case .proxyRefused(let status):
            [408, 425, 429, 500, 502, 503, 504].contains(status)
        case .url, .unusableCredentials, .privateAddress, .unusableProxy, .tls, .certificate, .ownCertificate,
            .malformed, .wrongRange, .tooManyRedirects, .forbiddenRedirect, .tooLarge, .tooCompressed, .file:
            false
        }
    }
}
