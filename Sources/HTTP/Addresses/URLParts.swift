import CCurl

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
