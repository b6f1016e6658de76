import CCurl

/// An `http` or `https` URL, parsed by curl.
///
/// curl parses the URL for the checks as well as for the connection, so both use the same host. curl normalizes
/// spellings of IPv4 addresses such as 0x7f.1 or 2130706433, and converts international names to the form for name
/// servers.
struct HTTPURL: Equatable, Sendable {
    /// The scheme, host and port. All three must match before Vitrine sends credentials.
    struct Origin: Hashable, Sendable {
        let scheme: String
        /// The host in lower case. An IPv6 address is in brackets.
        let host: String
        let port: String
    }

    /// The URL without credentials and fragment.
    let text: String
    let origin: Origin
    /// The library that parsed the URL and resolves redirects.
    let curl: Curl

    /// The maximum number of bytes of a URL. Servers accept only shorter URLs.
    private static let maximumLength = 1 << 16

    var isSecure: Bool { origin.scheme == "https" }

    /// The host for messages, with the port unless it is the default.
    var place: String {
        origin.port == (isSecure ? "443" : "80") ? origin.host : "\(origin.host):\(origin.port)"
    }

    /// Parses the URL of a request. The URL must not contain credentials.
    init(_ text: String, _ curl: Curl) throws(HTTPError) {
        guard text.utf8.count <= Self.maximumLength else { throw .url("it is too long") }
        guard let parts = URLParts(curl) else { throw .other("out of memory") }
        let code = parts.set(CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME))
        guard code == CURLUE_OK else { throw .url(String(cString: ccurl_url_strerror(curl.functions, code))) }
        guard parts.text(CURLUPART_USER) == nil, parts.text(CURLUPART_PASSWORD) == nil else {
            throw .url("it must not contain a password")
        }
        guard let url = Self(parts) else { throw .url("it is not an http or https URL with a valid host") }
        self = url
    }

    /// Creates a URL from parsed parts. Returns nil if the parts are not a valid target.
    private init?(_ parts: borrowing URLParts) {
        parts.set(CURLUPART_USER, nil)
        parts.set(CURLUPART_PASSWORD, nil)
        parts.set(CURLUPART_FRAGMENT, nil)
        // curl converts international names from the locale's encoding. Without a suitable locale, such a name is
        // invalid.
        let ascii = UInt32(ccurl_punycode())
        guard let scheme = parts.text(CURLUPART_SCHEME)?.lowercased(), ["http", "https"].contains(scheme),
            let host = parts.text(CURLUPART_HOST, ascii)?.lowercased(), !host.isEmpty,
            let port = parts.text(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)),
            let text = parts.text(CURLUPART_URL, ascii), text.utf8.count <= Self.maximumLength
        else { return nil }
        curl = parts.curl
        self.text = text
        origin = Origin(scheme: scheme, host: host, port: port)
    }

    /// Resolves a `Location` header. Returns nil if the result is not a valid target. Removes credentials from the URL,
    /// because the server chose them.
    func resolving(_ location: String) -> HTTPURL? {
        guard let parts = URLParts(curl) else { return nil }
        // curl itself uses these flags for redirects, because servers send spaces and non-ASCII letters.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE)
        guard parts.set(CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
            parts.set(CURLUPART_URL, location, flags) == CURLUE_OK
        else { return nil }
        return HTTPURL(parts)
    }

    /// Compares texts and origins. The `curl` property does not count.
    static func == (left: HTTPURL, right: HTTPURL) -> Bool {
        left.text == right.text && left.origin == right.origin
    }
}

/// The parts of a URL. curl parses and composes them.
struct URLParts: ~Copyable {
    let curl: Curl
    private let pointer: OpaquePointer

    /// Creates an empty URL. Returns nil if memory is exhausted.
    init?(_ curl: Curl) {
        guard let pointer = ccurl_url(curl.functions) else { return nil }
        (self.curl, self.pointer) = (curl, pointer)
    }

    deinit {
        ccurl_url_cleanup(curl.functions, pointer)
    }

    /// Sets or removes a part. Setting the whole URL a second time resolves a relative reference.
    @discardableResult
    func set(_ part: CURLUPart, _ value: String?, _ flags: UInt32 = 0) -> CURLUcode {
        ccurl_url_set(curl.functions, pointer, part, value, flags)
    }

    /// Returns a part of the URL. Returns nil if the part is missing.
    func text(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        guard ccurl_url_get(curl.functions, pointer, part, &value, flags) == CURLUE_OK, let value else { return nil }
        defer { ccurl_free(curl.functions, value) }
        return String(cString: value)
    }
}

/// The percent escapes in URLs.
enum PercentEscape {
    /// Returns the byte for two hexadecimal digits. Returns nil for other characters.
    static func byte(_ digits: some Collection<UInt8>) -> UInt8? {
        let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return values.count == 2 ? UInt8(truncatingIfNeeded: values[0] << 4 | values[1]) : nil
    }
}
