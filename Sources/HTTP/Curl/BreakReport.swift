import CCurl
import Glibc

/// The facts about a failed exchange. curl's code names the failure. The other facts show how far the exchange had
/// progressed.
struct BreakReport {
    let code: CURLcode
    /// curl's general message for the code.
    var meaning = ""
    /// curl's message for this failure.
    var detail = ""
    /// The host and its port, for messages.
    let host: String
    /// The proxy for messages; nil if curl used no proxy.
    var proxy: String?
    /// Whether the name of the host or proxy was resolved.
    var isLookedUp = true
    /// The number of seconds until the failure.
    var seconds = 0.0
    /// Whether a connection to the host or proxy was established.
    var isConnected = false
    /// Whether curl sent the request.
    var isRequested = false
    /// Whether the server sent no answer.
    var isUnanswered = false
    /// Whether the head of the answer was complete.
    var isHeadComplete = false
    /// The system's error number for a failed attempt to connect.
    var systemError = 0
    /// Whether the process had no free file descriptor.
    var lacksDescriptors = false
    /// OpenSSL's error number for the server's certificate.
    var verdict = 0
    /// The code in a SOCKS proxy's answer.
    var proxyVerdict = 0

    /// The error that these facts indicate.
    var error: HTTPError {
        switch code {
        case _ where lacksDescriptors && !isRequested: .tooFewDescriptors
        case CURLE_OPERATION_TIMEDOUT where !isRequested: timeout
        case CURLE_OPERATION_TIMEDOUT: .stalled
        case CURLE_COULDNT_RESOLVE_HOST: seconds < Self.lookupPatience ? .unknownHost(host) : .lookupTimedOut(host)
        case CURLE_COULDNT_RESOLVE_PROXY: .unknownProxy
        case CURLE_COULDNT_CONNECT: unreachable
        case CURLE_PROXY: refusalBySOCKS
        case CURLE_PARTIAL_FILE: isUnanswered ? .noAnswer : .cut
        case CURLE_GOT_NOTHING: .noAnswer
        case CURLE_HTTP2, CURLE_HTTP2_STREAM: .brokenOff
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: broken
        // curl reports a header line that does not fit as a lack of memory.
        case CURLE_OUT_OF_MEMORY where isRequested && !isHeadComplete: .malformed("its headers are too long")
        case CURLE_UNSUPPORTED_PROTOCOL where isRequested, CURLE_WEIRD_SERVER_REPLY: .malformed(reason)
        case CURLE_BAD_CONTENT_ENCODING: .malformed("it cannot be decompressed")
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .url(reason)
        default: security ?? .other(reason)
        }
    }

    /// The seconds after which a failed lookup means a silent name server. For an unknown name, curl returns the same
    /// code, but after a shorter time. The C library waits five seconds, twice (resolv.conf(5)).
    private static let lookupPatience = 9.5

    private var reason: String { detail.isEmpty ? meaning : detail }

    private var timeout: HTTPError {
        if !isLookedUp { return proxy == nil ? .lookupTimedOut(host) : .unknownProxy }
        guard let proxy else { return .connectTimedOut(host) }
        return isConnected ? .silentBehindProxy(host) : .proxyUnreachable(proxy)
    }

    private var unreachable: HTTPError {
        if let proxy { return .proxyUnreachable(proxy) }
        let isLost = [ENETUNREACH, EHOSTUNREACH, ENETDOWN].contains(Int32(truncatingIfNeeded: systemError))
        return isLost ? .noRoute(host) : systemError == Int(ETIMEDOUT) ? .connectTimedOut(host) : .unreachable(host)
    }

    private var refusalBySOCKS: HTTPError {
        let asksForPassword = [Int(CURLPX_USER_REJECTED.rawValue), Int(CURLPX_NO_AUTH.rawValue)].contains(proxyVerdict)
        return asksForPassword ? .proxyRefused(407) : .proxyFailed(reason)
    }

    /// The error for a broken connection. curl uses the same code for some malformed answers.
    private var broken: HTTPError {
        if detail.holds("chunk") { return .malformed("its chunks are invalid") }
        if detail.holds("headers") { return .malformed("its headers are too long") }
        // In TLS 1.3 a server requests a client certificate only after the handshake.
        if detail.holds("alert"), !BrokenHandshake.isMeant(by: detail) { return .tls(reason) }
        return .broken
    }

    private var security: HTTPError? {
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS:
            .certificate(CertificateFlaw.reason(verdict, host: host, detail: reason))
        case CURLE_SSL_CONNECT_ERROR where BrokenHandshake.isMeant(by: reason): .broken
        case CURLE_SSL_CERTPROBLEM: .ownCertificate(reason)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_USE_SSL_FAILED:
            .tls(reason)
        default: nil
        }
    }
}

/// Distinguishes broken from refused TLS handshakes.
///
/// curl has one code for both, CURLE_SSL_CONNECT_ERROR: "A problem occurred somewhere in the SSL/TLS handshake. You
/// really want the error buffer and read the message there". A retry may help after a broken connection, but not after
/// a refusal.
enum BrokenHandshake {
    /// Parts of messages by which curl, OpenSSL and GnuTLS report a lost connection.
    private static let signs = [
        "Recv failure:", "Send failure:",
        // curl's text for an error of the system, for which OpenSSL gives no reason.
        "SSL_connect:",
        "unexpected eof",
        "non-properly terminated", "in the pull function", "in the push function",
    ]

    /// Returns whether a message of curl reports a lost connection. Other messages report a TLS error.
    static func isMeant(by message: String) -> Bool {
        signs.contains { message.holds($0) }
    }
}

/// Describes certificate errors so that the user can act on them.
enum CertificateFlaw {
    /// Returns the reason for a certificate error.
    ///
    /// The number is OpenSSL's X509_V_ERR_…, and the detail is curl's message. Without OpenSSL, curl itself checks the
    /// host's name.
    static func reason(_ number: Int, host: String, detail: String) -> String {
        // If curl itself compares the names, the number does not state the reason.
        if detail.holds("no alternative certificate subject name") || detail.holds("does not match target") {
            return wrongHost(host)
        }
        return switch number {
        case 10: "it has expired (or this machine’s clock is wrong)"
        case 9: "it is not valid yet (or this machine’s clock is wrong)"
        case 18: "it is self-signed"
        case 2, 19, 20, 21: "its issuer is not trusted"
        case 23: "it has been revoked"
        case 62, 64: wrongHost(host)
        default: detail
        }
    }

    private static func wrongHost(_ host: String) -> String {
        "it is not valid for \(host)"
    }
}

extension String {
    /// Returns whether the string contains another string, compared byte by byte.
    func holds(_ part: String) -> Bool {
        utf8.indices.contains { utf8[$0...].starts(with: part.utf8) }
    }
}
