import CCurl
import Glibc

/// How a transfer can fail before it has an answer, or while the answer is coming.
///
/// An answer that says no, a 404, is not an error here: it is an answer.
public enum HTTPError: Error, Equatable, CustomStringConvertible {
    /// The URL cannot be used.
    case url(String)
    /// The host's name is not known.
    case unknownHost(String)
    /// The proxy's name is not known.
    case unknownProxy
    /// The proxy's address cannot be used.
    case unusableProxy
    /// A user, a password or a token holds what cannot be sent.
    case unusableCredentials
    /// The proxy does not let one through; its status.
    case proxyRefused(Int)
    /// The host is on this machine or in the user's own network, where a stranger's word does not lead.
    case privateAddress(String)
    /// Nobody answers at the host.
    case unreachable(String)
    /// No way leads to the host: there is no network, or not that one.
    case noRoute(String)
    /// Nothing, or next to nothing, has come for too long.
    case stalled
    /// No secure connection could be made; the TLS library's reason.
    case tls(String)
    /// The server's certificate is not to be trusted; the TLS library's reason.
    case certificate(String)
    /// The connection broke.
    case broken
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
    case tooLarge(limit: Int64)
    /// A local file cannot be read.
    case file(String)
    /// What came cannot be written; the system's number for the reason.
    case disk(code: Int32)
    /// Anything else, in curl's words.
    case other(String)

    /// A phrase for the user.
    public var description: String {
        switch self {
        case .url(let reason): "the address cannot be used: \(reason)"
        case .unknownHost(let host): "the host \(host) is not known"
        case .unknownProxy: "the proxy’s host is not known"
        case .unusableProxy: "the proxy’s address cannot be used"
        case .unusableCredentials: "the user, the password or the token holds control characters"
        case .proxyRefused(let status): "the proxy refuses to connect (\(status))"
        case .privateAddress(let host): "\(host) is a private address, which a public gallery may not name"
        case .unreachable(let host): host.isEmpty ? "the server cannot be reached" : "\(host) cannot be reached"
        case .noRoute(let host): "no network leads to \(host)"
        case .stalled: "the server has stopped sending"
        case .tls(let reason): "no secure connection: \(reason)"
        case .certificate(let reason): "the server’s certificate is not trusted: \(reason)"
        case .broken: "the connection broke"
        case .cut: "the answer was cut short"
        case .malformed(let reason): "the answer breaks the protocol: \(reason)"
        case .wrongRange(let reason): "the server sent another part than was asked for: \(reason)"
        case .tooManyRedirects: "more than \(HTTPRequest.maximumRedirects) redirects"
        case .forbiddenRedirect: "a redirect leads to an address that is not followed"
        case .tooLarge(let limit): "it is larger than \(limit >> 20) MiB"
        case .file(let reason): "the file cannot be read: \(reason)"
        case .disk(let code): "it cannot be stored: \(String(cString: strerror(code)))"
        case .other(let reason): reason
        }
    }

    /// Whether the same request may succeed later: nothing is wrong with what was asked for.
    public var isTransient: Bool {
        switch self {
        case .unknownHost, .unknownProxy, .unreachable, .noRoute, .stalled, .broken, .cut, .disk, .other: true
        case .proxyRefused(let status): [408, 425, 429, 500, 502, 503, 504].contains(status)
        case .url, .unusableProxy, .unusableCredentials, .privateAddress, .tls, .certificate, .malformed, .wrongRange,
            .tooManyRedirects,
            .forbiddenRedirect, .tooLarge, .file:
            false
        }
    }

    /// Sorts curl's result codes.
    ///
    /// - Parameter systemError: the `errno` of a connect that failed.
    init(_ code: CURLcode, host: String, detail: String, systemError: Int) {
        let reason = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: self = .url(reason)
        case CURLE_COULDNT_RESOLVE_HOST: self = .unknownHost(host)
        case CURLE_COULDNT_RESOLVE_PROXY: self = .unknownProxy
        case CURLE_COULDNT_CONNECT:
            self =
                [ENETUNREACH, EHOSTUNREACH, ENETDOWN].contains(Int32(systemError)) ? .noRoute(host) : .unreachable(host)
        case CURLE_OPERATION_TIMEDOUT: self = .stalled
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS:
            self = .certificate(reason)
        case CURLE_SSL_CONNECT_ERROR where BrokenHandshake.isMeant(by: reason): self = .broken
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_USE_SSL_FAILED:
            self = .tls(reason)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            self = .broken
        case CURLE_PARTIAL_FILE: self = .cut
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: self = .malformed(reason)
        default: self = .other(reason)
        }
    }
}
