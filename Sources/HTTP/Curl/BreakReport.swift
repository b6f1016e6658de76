import CCurl
import Glibc

/// The facts about a failed exchange. curl's code names the call, the rest how far the exchange had come.
struct BreakReport {
    let code: CURLcode
    /// curl's general message for the code.
    var meaning = ""
    /// curl's message for this failure.
    var detail = ""
    /// The host and its port.
    let host: String
    /// The proxy; nil if none was used.
    var proxy: String?
    /// Whether the name of the host or proxy was resolved.
    var isLookedUp = true
    /// Seconds until the failure.
    var seconds = 0.0
    /// Whether a connection stood, to the proxy if there is one.
    var isConnected = false
    /// Whether the request was sent.
    var isRequested = false
    /// Whether no answer came.
    var isUnanswered = false
    /// Whether the head of the answer was complete.
    var isHeadComplete = false
    /// The `errno` of a failed connect.
    var systemError = 0
    /// Whether no file descriptor was available.
    var lacksDescriptors = false
    /// OpenSSL's verdict on the certificate.
    var verdict = 0
    /// The SOCKS proxy's answer.
    var proxyVerdict = 0

    /// The error for the user.
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

    /// curl does not tell an unknown name from a silent name server. The C library waits five seconds, twice
    /// (resolv.conf(5)), so a failure after that time means silence.
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

    /// curl uses one code for broken connections and for some malformed answers.
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

/// Tells a TLS handshake that was cut off from one that was refused.
///
/// curl has one code for both, CURLE_SSL_CONNECT_ERROR: "A problem occurred somewhere in the SSL/TLS handshake. You
/// really want the error buffer and read the message there". A refusal would be repeated, but a broken connection is
/// worth a retry.
enum BrokenHandshake {
    /// Messages of curl, OpenSSL and GnuTLS for a lost connection.
    private static let signs = [
        "Recv failure:", "Send failure:",
        // curl's text if OpenSSL gave no reason: the system had one.
        "SSL_connect:",
        "unexpected eof",
        "non-properly terminated", "in the pull function", "in the push function",
    ]

    /// Whether a message of curl is about the connection and not about TLS.
    static func isMeant(by message: String) -> Bool {
        signs.contains { message.holds($0) }
    }
}

/// Describes certificate errors so that the user can act on them.
enum CertificateFlaw {
    /// Returns the reason for OpenSSL's error number X509_V_ERR_… and curl's message. curl checks the host's name
    /// itself.
    static func reason(_ number: Int, host: String, detail: String) -> String {
        // curl compares the names, and the number says nothing then.
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
    /// Whether the text contains another, byte by byte.
    func holds(_ part: String) -> Bool {
        utf8.indices.contains { utf8[$0...].starts(with: part.utf8) }
    }
}
