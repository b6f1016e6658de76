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
