extension Address {
    /// The longest text taken for an address; the longest request line that common servers accept.
    public static let maximumLength = 8192

    /// Reads a whole URL.
    ///
    /// Throws for what ``Address`` cannot be; a fragment (`#…`) is dropped, as it never reaches a server.
    public init(_ text: String) throws(AddressError) {
        let parts = try AddressParts(text)
        guard let schemeName = parts.scheme else { throw .relative(text) }
        guard let scheme = Scheme(rawValue: schemeName.lowercased()) else { throw .scheme(schemeName) }
        try self.init(scheme: scheme, parts: parts)
    }

    /// Reads a reference found in a document that was read from this address (RFC 3986, section 5.2).
    ///
    ///     try gallery.resolving("../thumbnails/1.jpg")
    ///
    /// `..` climbs on the server only, and never above its root. Credentials stay with their own host.
    public func resolving(_ reference: String) throws(AddressError) -> Address {
        if PlainReference.isPlain(reference.utf8) {
            return Address(
                scheme: scheme, host: host, port: port, path: folderPath + reference, query: nil,
                credentials: credentials)
        }
        let parts = try AddressParts(reference)
        if parts.scheme != nil { return try Address(reference) }
        if parts.authority != nil { return try Address(scheme: scheme, parts: parts) }
        var path = parts.path
        var query = parts.query
        if path.isEmpty {
            path = self.path
            query = query ?? self.query
        } else if !path.hasPrefix("/") {
            path = folderPath + path
        }
        // A slash is a slash to the file system, however it was written: so `..%2F` climbs, and is seen to.
        if scheme == .file { return Address(filePath: PercentEncoding.decode(path)) }
        return Address(
            scheme: scheme, host: host, port: port, path: AddressPath.normalised(path),
            query: query.map { PercentEncoding.encode($0, keepingEscapes: true, also: "/?") },
            credentials: credentials)
    }

    private init(scheme: Scheme, parts: AddressParts) throws(AddressError) {
        let path = AddressPath.normalised(parts.path)
        guard scheme != .file else {
            guard (parts.authority ?? "").isEmpty || parts.authority == "localhost" else {
                throw .host(parts.authority ?? "")
            }
            self.init(filePath: PercentEncoding.decode(path))
            return
        }
        let authority = try AddressAuthority(parts.authority ?? "")
        self.init(
            scheme: scheme, host: authority.host, port: authority.port, path: path,
            query: parts.query.map { PercentEncoding.encode($0, keepingEscapes: true, also: "/?") },
            credentials: authority.credentials)
    }
}
