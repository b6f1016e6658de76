import Glibc
import Numbers
import Text

/// The reason why a transfer failed, before or during the answer.
///
/// Answers with a status such as 404 or 407 are not errors here.
public enum HTTPError: Error, Equatable, CustomStringConvertible {
    /// The system cannot load libcurl; the text is the system's reason.
    case missingLibrary(file: String, package: String, reason: String)
    /// The URL is invalid.
    case url(String)
    /// The user, password or token contains control characters.
    case unusableCredentials

    /// The host's name does not exist.
    case unknownHost(String)
    /// The name server does not answer in time.
    case lookupTimedOut(String)
    /// The host refuses the connection or is down.
    case unreachable(String)
    /// The host does not answer the connection attempt.
    case connectTimedOut(String)
    /// No network leads to the host.
    case noRoute(String)
    /// The host has a private address, and the gallery may not lead there.
    case privateAddress(String)

    /// The proxy's address is invalid.
    case unusableProxy
    /// Vitrine does not support proxies with this scheme.
    case proxyScheme(String)
    /// The proxy's name does not exist.
    case unknownProxy
    /// The proxy refuses the connection or is down.
    case proxyUnreachable(String)
    /// The host does not answer through the proxy.
    case silentBehindProxy(String)
    /// The proxy refuses to connect and answers with this status.
    case proxyRefused(Int)
    /// The proxy could not connect to the host; the text is curl's reason.
    case proxyFailed(String)

    /// The TLS handshake failed; the text is the library's reason.
    case tls(String)
    /// Vitrine does not trust the server's certificate; the text is the reason.
    case certificate(String)
    /// Vitrine cannot use the client certificate; the text is the library's reason.
    case ownCertificate(String)

    /// The server closed the connection without an answer.
    case noAnswer
    /// The connection broke while it was in use.
    case broken
    /// The server reset an HTTP/2 stream or connection.
    case brokenOff
    /// The server sent almost no data for too long.
    case stalled
    /// The answer ended before it was complete.
    case cut
    /// The answer violates the protocol.
    case malformed(String)
    /// The server refused a later part of the file, because it has too much to do.
    ///
    /// The second value is the answer's `Retry-After` header; nil if the header is missing.
    case refused(status: Int, retryAfter: String?)
    /// The server sent another range than Vitrine requested.
    case wrongRange(String)
    /// The server redirected the request too many times.
    case tooManyRedirects
    /// A redirect leads to an address that Vitrine does not follow.
    case forbiddenRedirect
    /// The answer is larger than the limit.
    case tooLarge(limit: ByteCount)
    /// The answer expands more than any real text when decompressed.
    case tooCompressed(limit: Int)

    /// The process or the system has no free file descriptor.
    case tooFewDescriptors
    /// The system cannot read the local file; the code is its `errno`.
    case unreadable(code: Int32)
    /// The local file cannot be used for another reason.
    case file(String)
    /// The body cannot be written to its file; the code is the system's `errno`.
    case disk(code: Int32)
    /// The transfer failed for another reason, in curl's words.
    case other(String)

    /// The reason as a phrase for the user.
    public var description: String {
        switch self {
        case .missingLibrary(let file, let package, let reason):
            "\(file) cannot be loaded (\(reason)): install \(package)"
        case .url(let reason): "the address cannot be used: \(reason)"
        case .unusableCredentials: "the user, the password or the token contains control characters"
        case .unknownHost(let host): "the host \(HostName.shown(host)) is not known"
        case .lookupTimedOut(let host):
            "\(HostName.shown(host)) cannot be looked up: the name server does not answer"
        case .unreachable(let host):
            host.isEmpty ? "the server cannot be reached" : "\(HostName.shown(host)) cannot be reached"
        case .connectTimedOut(let host): "\(HostName.shown(host)) does not answer"
        case .noRoute(let host): "no network leads to \(HostName.shown(host))"
        case .privateAddress(let host):
            "\(HostName.shown(host)) is a private address, and this gallery may not lead there"
        case .unusableProxy: "the proxy’s address cannot be used"
        case .proxyScheme(let scheme): "the proxy’s scheme “\(scheme)” is not supported"
        case .unknownProxy: "the proxy’s host is not known"
        case .proxyUnreachable(let proxy): "the proxy \(HostName.shown(proxy)) cannot be reached"
        case .silentBehindProxy(let host): "\(HostName.shown(host)) does not answer through the proxy"
        case .proxyRefused(407): "the proxy wants a password"
        case .proxyRefused(let status): "the proxy refuses to connect (\(status))"
        case .proxyFailed(let reason): "the proxy cannot connect: \(reason)"
        // OpenSSL's words for an answer in plain HTTP.
        case .tls(let reason) where reason.contains("wrong version number"):
            "no secure connection: the server does not use TLS at this port"
        case .tls(let reason): "no secure connection: \(reason)"
        case .certificate(let reason): "the server’s certificate is not trusted: \(reason)"
        case .ownCertificate(let reason): "your certificate cannot be used: \(reason)"
        case .noAnswer: "the server closed the connection without an answer"
        case .broken: "the connection broke"
        case .brokenOff: "the server aborted the answer"
        case .stalled: "the server has stopped sending"
        case .cut: "the answer was cut short"
        case .malformed(let reason): "the answer breaks the protocol: \(reason)"
        case .refused(let status, _): "the server answered \(status)"
        case .wrongRange(let reason): "the server sent the wrong range: \(reason)"
        case .tooManyRedirects: "more than \(HTTPRequest.maximumRedirects) redirects"
        case .forbiddenRedirect: "a redirect leads to a forbidden address"
        case .tooLarge(let limit): "the file is larger than \(limit / (1 << 20)) MiB"
        case .tooFewDescriptors: "Vitrine has too few file descriptors: raise the limit with “ulimit -n”"
        case .tooCompressed(let limit): "the file expands to more than \(limit) times its compressed size"
        case .unreadable(let code): "the file cannot be read: \(String(cString: strerror(code)))"
        case .file(let reason): "the file cannot be read: \(reason)"
        // The cache has the same words for its own files.
        case .disk(code: ENOSPC), .disk(code: EDQUOT): "The disk is full"
        case .disk(let code): "the received file cannot be written: \(String(cString: strerror(code)))"
        case .other(let reason): reason
        }
    }

    /// Returns the error for an unreadable local file.
    public static func reading(_ code: Int32) -> HTTPError {
        DescriptorProbe.isShortage(code) ? .tooFewDescriptors : .unreadable(code: code)
    }

    /// Whether the same request may succeed later.
    public var isTransient: Bool {
        switch self {
        case .missingLibrary, .unknownHost, .lookupTimedOut, .unreachable, .connectTimedOut, .noRoute, .unknownProxy,
            .proxyUnreachable, .silentBehindProxy, .proxyFailed, .noAnswer, .broken, .brokenOff, .stalled, .cut, .disk,
            .tooFewDescriptors, .other:
            true
        case .unreadable(let code):
            [
                EIO, EINTR, EAGAIN, EBUSY, ENOMEM, ENOBUFS, ESTALE, ETIMEDOUT, ENOTCONN, ECONNRESET, ECONNABORTED,
                EHOSTDOWN, EHOSTUNREACH, ENETDOWN, ENETUNREACH, ENOLINK, EREMOTEIO,
            ].contains(code)
        case .proxyRefused(let status), .refused(let status, _):
            [408, 425, 429, 500, 502, 503, 504].contains(status)
        case .url, .unusableCredentials, .privateAddress, .unusableProxy, .proxyScheme, .tls, .certificate,
            .ownCertificate, .malformed, .wrongRange, .tooManyRedirects, .forbiddenRedirect, .tooLarge, .tooCompressed,
            .file:
            false
        }
    }
}
