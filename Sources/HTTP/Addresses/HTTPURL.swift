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
    /// What took it apart, and is asked where it leads to.
    let curl: Curl

    /// No server knows longer ones.
    private static let maximumLength = 1 << 16

    var isSecure: Bool { origin.scheme == "https" }

    /// The host, and its port if it is not the usual one, for a message.
    var place: String {
        origin.port == (isSecure ? "443" : "80") ? origin.host : "\(origin.host):\(origin.port)"
    }

    /// Reads the URL of a request. Credentials do not belong in it.
    init(_ text: String, _ curl: Curl) throws(HTTPError) {
        guard text.utf8.count <= Self.maximumLength else { throw .url("it is too long") }
        guard let parts = URLParts(curl) else { throw .other("out of memory") }
        let code = parts.set(CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME))
        guard code == CURLUE_OK else { throw .url(String(cString: ccurl_url_strerror(curl.functions, code))) }
        guard parts.text(CURLUPART_USER) == nil, parts.text(CURLUPART_PASSWORD) == nil else {
            throw .url("a password does not belong in it")
        }
        guard let url = Self(parts) else { throw .url("it is no http or https URL of a host that can be looked up") }
        self = url
    }

    /// Takes over what curl took apart; nil if it is nowhere to go.
    private init?(_ parts: borrowing URLParts) {
        parts.set(CURLUPART_USER, nil)
        parts.set(CURLUPART_PASSWORD, nil)
        parts.set(CURLUPART_FRAGMENT, nil)
        // Names in other letters are read in the locale's encoding: without one that has them there is no such name.
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

    /// Where a `Location` leads from here; nil if that is nowhere to go. Credentials in it are left out: they are a
    /// stranger's word on who asks.
    func resolving(_ location: String) -> HTTPURL? {
        guard let parts = URLParts(curl) else { return nil }
        // What curl allows where it follows by itself: servers send spaces and letters of all kinds.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE)
        guard parts.set(CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
            parts.set(CURLUPART_URL, location, flags) == CURLUE_OK
        else { return nil }
        return HTTPURL(parts)
    }

    /// What took them apart makes no difference.
    static func == (left: HTTPURL, right: HTTPURL) -> Bool {
        left.text == right.text && left.origin == right.origin
    }
}

/// A URL as curl takes it apart, and puts it together.
struct URLParts: ~Copyable {
    let curl: Curl
    private let pointer: OpaquePointer

    /// Begins with none of its parts; nil when memory is out.
    init?(_ curl: Curl) {
        guard let pointer = ccurl_url(curl.functions) else { return nil }
        (self.curl, self.pointer) = (curl, pointer)
    }

    deinit {
        ccurl_url_cleanup(curl.functions, pointer)
    }

    /// Sets a part, or takes it out. The whole, set a second time, is read as a reference from the first.
    @discardableResult
    func set(_ part: CURLUPart, _ value: String?, _ flags: UInt32 = 0) -> CURLUcode {
        ccurl_url_set(curl.functions, pointer, part, value, flags)
    }

    /// What a part says; nil where there is none.
    func text(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        guard ccurl_url_get(curl.functions, pointer, part, &value, flags) == CURLUE_OK, let value else { return nil }
        defer { ccurl_free(curl.functions, value) }
        return String(cString: value)
    }
}
