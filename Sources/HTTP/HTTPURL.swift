import CCurl

/// An `http` or `https` URL, taken apart by curl: what is decided about it and where curl then goes cannot differ.
///
/// curl makes one of the many spellings of an address of version 4, 0x7f.1 or 2130706433, and of a name in other letters
/// than ASCII's what is looked up in the end.
struct HTTPURL: Equatable, Sendable {
    /// What has to be the same for a password to be sent.
    struct Origin: Hashable, Sendable {
        let scheme: String
        /// In lower case; an address of version 6 in brackets.
        let host: String
        let port: String
    }

    /// All of it, without credentials and without a fragment.
    let text: String
    let origin: Origin

    /// No server knows longer ones.
    private static let maximumLength = 1 << 16

    var isSecure: Bool { origin.scheme == "https" }

    /// The host, and its port if it is not the usual one, for a message.
    var place: String {
        origin.port == (isSecure ? "443" : "80") ? origin.host : "\(origin.host):\(origin.port)"
    }

    /// Reads the URL of a request. Credentials do not belong in it.
    init(_ text: String) throws(HTTPError) {
        guard text.utf8.count <= Self.maximumLength else { throw .url("it is too long") }
        guard let parts = curl_url() else { throw .other("out of memory") }
        defer { curl_url_cleanup(parts) }
        let code = curl_url_set(parts, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME))
        guard code == CURLUE_OK else { throw .url(String(cString: curl_url_strerror(code))) }
        guard Self.part(CURLUPART_USER, of: parts) == nil, Self.part(CURLUPART_PASSWORD, of: parts) == nil else {
            throw .url("a password does not belong in it")
        }
        guard let url = Self(parts) else { throw .url("it is no http or https URL of a host that can be looked up") }
        self = url
    }

    /// Takes over what curl took apart; nil if it is nowhere to go.
    private init?(_ parts: OpaquePointer) {
        curl_url_set(parts, CURLUPART_USER, nil, 0)
        curl_url_set(parts, CURLUPART_PASSWORD, nil, 0)
        curl_url_set(parts, CURLUPART_FRAGMENT, nil, 0)
        // Names in other letters are read in the locale's encoding: without one that has them there is no such name.
        let ascii = UInt32(vitrine_curl_punycode())
        guard let scheme = Self.part(CURLUPART_SCHEME, of: parts)?.lowercased(), ["http", "https"].contains(scheme),
            let host = Self.part(CURLUPART_HOST, ascii, of: parts)?.lowercased(), !host.isEmpty,
            let port = Self.part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT), of: parts),
            let text = Self.part(CURLUPART_URL, ascii, of: parts), text.utf8.count <= Self.maximumLength
        else { return nil }
        self.text = text
        origin = Origin(scheme: scheme, host: host, port: port)
    }

    /// Where a `Location` leads from here; nil if that is nowhere to go. Credentials in it are left out: they are a
    /// stranger's word on who asks.
    func resolving(_ location: String) -> HTTPURL? {
        guard let parts = curl_url() else { return nil }
        defer { curl_url_cleanup(parts) }
        // What curl allows where it follows by itself: servers send spaces and letters of all kinds.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE)
        guard curl_url_set(parts, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
            curl_url_set(parts, CURLUPART_URL, location, flags) == CURLUE_OK
        else { return nil }
        return HTTPURL(parts)
    }

    static func part(_ part: CURLUPart, _ flags: UInt32 = 0, of parts: OpaquePointer) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        guard curl_url_get(parts, part, &value, flags) == CURLUE_OK, let value else { return nil }
        defer { curl_free(value) }
        return String(cString: value)
    }
}
