import CCurl

/// A proxy, taken apart: what is said of it, in an error too, has no password in it.
struct Proxy: Equatable, Sendable {
    /// Scheme, host and port.
    let url: String
    /// Who asks it, as its address says.
    let credentials: HTTPRequest.Credentials?

    private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Reads a proxy's address; without a scheme it is an HTTP proxy. Nil if that cannot be one.
    init?(_ text: String, _ curl: Curl) {
        guard let parts = URLParts(curl) else { return nil }
        let isWhole = text.contains("://")
        guard
            parts.set(CURLUPART_URL, isWhole ? text : "http://" + text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
            let scheme = parts.text(CURLUPART_SCHEME)?.lowercased(), Self.schemes.contains(scheme),
            let host = parts.text(CURLUPART_HOST), !host.isEmpty
        else { return nil }
        let port = parts.text(CURLUPART_PORT).map { ":" + $0 } ?? ""
        url = "\(scheme)://\(host)\(port)"
        let decoded = UInt32(CURLU_URLDECODE)
        credentials = parts.text(CURLUPART_USER, decoded).map {
            .init(user: $0, password: parts.text(CURLUPART_PASSWORD, decoded) ?? "")
        }
    }

    /// The URL with who asks in it, for curl alone. Told of that by other options, curl before 8.8 takes `%41` for a letter
    /// each time that it looks for a connection, whatever its manual says.
    func url(telling credentials: HTTPRequest.Credentials?) -> String {
        url.replacing("://", with: "://" + Self.userInfo(credentials), maxReplacements: 1)
    }

    /// What curl says, who may have named the proxy as it was told of it.
    static func withoutCredentials(_ text: String, _ credentials: HTTPRequest.Credentials?) -> String {
        let secret = userInfo(credentials)
        return secret.isEmpty ? text : text.replacing(secret, with: "")
    }

    /// A user and a password as they stand in a URL, with every byte as `%41` that is neither a letter nor a digit.
    private static func userInfo(_ credentials: HTTPRequest.Credentials?) -> String {
        guard case .password(let user, let password) = credentials?.kind else { return "" }
        let escaped = [user, password].map { text in
            text.utf8.map { byte in
                let character = Character(UnicodeScalar(byte))
                if character.isASCII, character.isLetter || character.isNumber { return String(character) }
                return (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }.joined()
        }
        return escaped.joined(separator: ":") + "@"
    }
}
