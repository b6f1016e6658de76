import CCurl
import Glibc

/// All that is known of an exchange that failed: curl's result says in which call, and the rest how far it had come.
struct BreakReport {
    let code: CURLcode
    /// What curl says of every such failure.
    var meaning = ""
    /// What curl says of this one.
    var detail = ""
    /// The host and its port.
    let host: String
    /// The proxy that was to lead there.
    var proxy: String?
    /// Whether the host's name, or the proxy's, is known.
    var isLookedUp = true
    /// How long it took till then.
    var seconds = 0.0
    /// Whether there was a connection, to the proxy if there is one.
    var isConnected = false
    /// Whether the request went out.
    var isRequested = false
    /// Whether nothing came in return.
    var isUnanswered = false
    /// Whether the head of the answer was there.
    var isHeadComplete = false
    /// The `errno` of a connect that failed.
    var systemError = 0
    /// Whether there was no file descriptor left for it.
    var lacksDescriptors = false
    /// OpenSSL's verdict on the certificate.
    var verdict = 0
    /// What a SOCKS proxy said.
    var proxyVerdict = 0

    /// What is said of it.
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
        // A line of a head for which there is no room, in curl's words.
        case CURLE_OUT_OF_MEMORY where isRequested && !isHeadComplete: .malformed("its headers are too long")
        case CURLE_UNSUPPORTED_PROTOCOL where isRequested, CURLE_WEIRD_SERVER_REPLY: .malformed(reason)
        case CURLE_BAD_CONTENT_ENCODING: .malformed("it cannot be decompressed")
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .url(reason)
        default: security ?? .other(reason)
        }
    }

    /// curl does not say whether a name server knows no such host, or is silent. The C library waits for five seconds, and asks
    /// twice (resolv.conf(5)): who is still without an answer then has heard of none.
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

    /// curl has one code for a connection that breaks, and for some of what comes over it.
    private var broken: HTTPError {
        if detail.holds("chunk") { return .malformed("its chunks make no sense") }
        if detail.holds("headers") { return .malformed("its headers are too long") }
        // In TLS 1.3 a server says only after the handshake that it wants to be shown a certificate.
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

/// Tells a handshake of TLS that was cut off from one that was refused.
///
/// curl has one code for both, CURLE_SSL_CONNECT_ERROR: "A problem occurred somewhere in the SSL/TLS handshake. You really
/// want the error buffer and read the message there". A refusal will be repeated, but a connection that breaks does so at
/// any moment, in a handshake too.
enum BrokenHandshake {
    /// What is said when bytes stopped coming, by curl, and by OpenSSL and GnuTLS through it.
    private static let signs = [
        "Recv failure:", "Send failure:",
        // What curl says in place of OpenSSL's reason, when OpenSSL gave none: the system had one.
        "SSL_connect:",
        "unexpected eof",
        "non-properly terminated", "in the pull function", "in the push function",
    ]

    /// Whether a message in curl's error buffer is about the connection and not about TLS.
    static func isMeant(by message: String) -> Bool {
        signs.contains { message.holds($0) }
    }
}

/// What is wrong with a certificate, in words that a user can act on.
enum CertificateFlaw {
    /// By OpenSSL's number for it, X509_V_ERR_…, and by what curl says, which looks at the host's name by itself.
    static func reason(_ number: Int, host: String, detail: String) -> String {
        // It is curl that compares names, and where they differ the number says nothing.
        if detail.holds("no alternative certificate subject name") || detail.holds("does not match target") {
            return wrongHost(host)
        }
        return switch number {
        case 10: "it has expired (or this machine’s clock is wrong)"
        case 9: "it is not valid yet (or this machine’s clock is wrong)"
        case 18: "it is signed by itself, and by nobody who is trusted"
        case 2, 19, 20, 21: "nobody who is trusted has signed it"
        case 23: "it has been revoked"
        case 62, 64: wrongHost(host)
        default: detail
        }
    }

    private static func wrongHost(_ host: String) -> String {
        "it belongs to another host than \(host)"
    }
}

extension String {
    /// Whether a text is part of this one, byte by byte.
    func holds(_ part: String) -> Bool {
        utf8.indices.contains { utf8[$0...].starts(with: part.utf8) }
    }
}
