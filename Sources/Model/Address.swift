import Text

/// A validated, normalised `http`, `https` or `file` URL.
///
///     let gallery = try Address("HTTP://example.org:80/album/index.xml")
///     let photo = try gallery.resolving("images/a photo.jpg")
///     photo.text      // "http://example.org/album/images/a%20photo.jpg"
///
/// An address never contains another scheme, a control character or a line break, and the length of a parsed URL is
/// limited. So code that receives an address need not check these things again. ``credentials`` holds the user and the
/// password of the URL. Vitrine never shows, logs, stores or compares these credentials.
public struct Address: Hashable, Sendable {
    /// The scheme of the URL, which determines how to fetch the bytes.
    public enum Scheme: String, Sendable {
        case http, https, file

        /// The port of a URL that states no port; nil for a file.
        var usualPort: Int? {
            switch self {
            case .http: 80
            case .https: 443
            case .file: nil
            }
        }
    }

    /// The user and password in a URL.
    public struct Credentials: Hashable, Sendable {
        /// The decoded user name.
        public let user: String
        /// The decoded password, which may be empty.
        public let password: String

        /// Creates credentials from their decoded parts.
        public init(user: String, password: String) {
            (self.user, self.password) = (user, password)
        }
    }

    /// The scheme of the URL, which determines how to fetch the bytes.
    public let scheme: Scheme
    /// The host in its form for DNS: ASCII, lower case, with brackets around an IPv6 address. Empty for a file.
    public let host: String
    /// The port, unless it is the scheme's default.
    public let port: Int?
    /// The percent-encoded path, with a leading slash and without `.` and `..`.
    public let path: String
    /// The text after the question mark; nil if the URL has none.
    public let query: String?
    /// The user and password. The credentials are not in ``text`` and do not count for `==`, because an address with
    /// another password still leads to the same gallery.
    public let credentials: Credentials?

    init(
        scheme: Scheme, host: String, port: Int?, path: String, query: String?, credentials: Credentials?
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port == scheme.usualPort ? nil : port
        self.path = path
        self.query = query
        self.credentials = credentials
    }

    /// Creates the address of a local file or folder from its absolute path.
    public init(filePath: String) {
        self.init(filePath: filePath.utf8)
    }

    /// Creates the address of a local file or folder from its path's bytes. The path is absolute and need not be UTF-8.
    public init(filePath: some Collection<UInt8>) {
        var path = PercentEncoding.encode(filePath, keepingEscapes: false, also: "/")
        path = AddressPath.withoutDotSegments(path.hasPrefix("/") ? path : "/" + path)
        // `/photos` and `/photos/` are the same folder, so they must be the same gallery.
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.init(scheme: .file, host: "", port: nil, path: path, query: nil, credentials: nil)
    }

    /// The URL in normal form, without credentials, for storage and requests. Screens show ``description``.
    public var text: String { beginning(host) + (query.map { "?" + $0 } ?? "") }

    /// The ``text`` without tokens in its query. Files and output that must not contain secrets use this text.
    public var textWithoutSecrets: String { beginning(host) + shownQuery }

    /// Whether this address lacks secrets, because it comes from a ``textWithoutSecrets``. Vitrine cannot use the
    /// address before ``restoringSecrets(of:)`` adds the secrets.
    public var lacksSecrets: Bool { query?.contains("=" + PercentEncoding.encode("…", keepingEscapes: false)) == true }

    private func beginning(_ host: String) -> String {
        "\(scheme.rawValue)://\(host)\(port.map { ":\($0)" } ?? "")\(path)"
    }

    private var shownQuery: String { query.map { "?" + $0.withoutSecrets } ?? "" }

    /// The host in the form for display; see ``HostName/shown(_:)``.
    public var shownHost: String { HostName.shown(host) }

    /// Whether this is the address of a file or folder on this machine.
    public var isLocal: Bool { scheme == .file }

    /// The local path of a `file` address. If the path is not UTF-8, use this text only for display.
    public var filePath: String? {
        isLocal ? PercentEncoding.decode(path) : nil
    }

    /// The bytes of the local path of a `file` address.
    public var filePathBytes: [UInt8]? {
        isLocal ? PercentEncoding.decodedBytes(path) : nil
    }

    /// The address of the folder that contains this file.
    public var folder: Address {
        Address(scheme: scheme, host: host, port: port, path: folderPath, query: nil, credentials: credentials)
    }

    /// This address with a slash at the end of its path, and without a query.
    public var asFolder: Address {
        Address(
            scheme: scheme, host: host, port: port, path: path.hasSuffix("/") ? path : path + "/", query: nil,
            credentials: credentials)
    }

    /// The folder of a local file, without a slash at its end. ``init(filePath:)`` creates addresses of the same form.
    public var folderAlone: Address { Address(filePath: PercentEncoding.decodedBytes(folderPath)) }

    /// Returns the address of a file or folder in this folder.
    public func appending(_ name: String) -> Address {
        let encoded = PercentEncoding.encode(name, keepingEscapes: false)
        let folder = path.hasSuffix("/") ? path : path + "/"
        return Address(
            scheme: scheme, host: host, port: port, path: folder + encoded, query: nil, credentials: credentials)
    }

    /// Compares scheme, host, port, path and query. The credentials do not count.
    public static func == (left: Address, right: Address) -> Bool {
        left.scheme == right.scheme && left.host == right.host && left.port == right.port
            && left.path == right.path && left.query == right.query
    }

    /// Hashes some of the values that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(path)
        hasher.combine(query)
    }
}

extension Address.Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed string without secrets.
    public var description: String { "credentials" }

    /// A fixed string without secrets.
    public var debugDescription: String { description }

    /// An empty mirror, so that dumps contain no secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Address: CustomStringConvertible {
    /// The address for screens and logs, without password and tokens. The host's name has a form that cannot be
    /// mistaken for another host's name.
    public var description: String { beginning(shownHost) + shownQuery }
}

extension Address {
    /// The longest accepted URL in bytes. This equals the longest request line that common servers accept.
    public static let maximumLength = 8192

    /// Parses an absolute URL. Drops a fragment (`#…`).
    public init(_ text: String) throws(AddressError) {
        let parts = try AddressParts(text)
        guard let schemeName = parts.scheme else { throw .relative(text) }
        guard let scheme = Scheme(rawValue: schemeName.lowercased()) else { throw .scheme(schemeName) }
        try self.init(scheme: scheme, parts: parts)
        try checkLength()
    }

    /// Throws if the normalised ``text`` is too long, because no other process could read it.
    public func checkLength() throws(AddressError) {
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
    }

    /// Resolves a reference in a document at this address (RFC 3986, section 5.2).
    ///
    ///     try gallery.resolving("../thumbnails/1.jpg")
    ///
    /// `..` never leaves the server's root. The result keeps this address's credentials only if the reference names no
    /// host.
    public func resolving(_ reference: String) throws(AddressError) -> Address {
        let address = try resolved(reference)
        try address.checkLength()
        return address
    }

    private func resolved(_ reference: String) throws(AddressError) -> Address {
        if PlainReference.isPlain(reference.utf8) {
            return Address(
                scheme: scheme, host: host, port: port, path: folderPath + reference, query: nil,
                credentials: credentials)
        }
        if scheme != .file, PlainReference.isPlainPath(reference.utf8) {
            return Address(
                scheme: scheme, host: host, port: port, path: reference, query: nil, credentials: credentials)
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
        // To the file system an encoded slash is a slash, so `..%2F` must be decoded before `..` is removed.
        if isLocal { return Address(filePath: PercentEncoding.decodedBytes(path)) }
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
            self.init(filePath: PercentEncoding.decodedBytes(path))
            return
        }
        let authority = try AddressAuthority(parts.authority ?? "")
        self.init(
            scheme: scheme, host: authority.host, port: authority.port, path: path,
            query: parts.query.map { PercentEncoding.encode($0, keepingEscapes: true, also: "/?") },
            credentials: authority.credentials)
    }
}

extension Address {
    /// Parses an address as a user types it. The text is a URL, a path, or a host and path without a scheme.
    ///
    ///     try Address(typed: " example.org/a.xml ", home: home, currentFolder: here)  // http://example.org/a.xml
    ///     try Address(typed: "~/Pictures", home: home, currentFolder: here)  // file:///home/…/Pictures
    ///
    /// A path begins with `/`, `~`, `./` or `../`. Other input without a scheme is a web address, even if the current
    /// folder contains a file of this name. The initialiser does not check whether the target exists.
    ///
    /// - Parameter buckets: the storage service to which `s3://` addresses refer. Other addresses do not evaluate it.
    public init(
        typed text: String, home: String, currentFolder: String,
        buckets: @autoclosure () -> BucketService = BucketService()
    ) throws(AddressError) {
        let trimmed = text.trimmed
        guard !trimmed.isEmpty else { throw .empty }
        if BucketService.isBucket(trimmed) {
            self = try buckets().address(trimmed)
        } else if trimmed.hasPrefix("/") {
            try self.init(typedPath: trimmed)
        } else if trimmed == "~" || trimmed.hasPrefix("~/") {
            try self.init(typedPath: home + trimmed.dropFirst())
        } else if trimmed == "." || trimmed == ".." || trimmed.hasPrefix("./") || trimmed.hasPrefix("../") {
            try self.init(typedPath: currentFolder + "/" + trimmed)
        } else if Self.hasScheme(trimmed) {
            try self.init(trimmed)
        } else {
            try self.init("http://" + trimmed)
        }
    }

    /// A path for lists and fields, or else the ``description``.
    ///
    /// ``init(typed:home:currentFolder:buckets:)`` makes the same address from the path. For some paths it does not, as
    /// for a path that ends with a space. The ``description`` replaces such a path.
    public var shownText: String {
        guard let filePath, (try? Address(typed: filePath, home: "", currentFolder: "")) == self else {
            return description
        }
        return filePath
    }

    private init(typedPath path: String) throws(AddressError) {
        guard path.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw .controlCharacter
        }
        self.init(filePath: path)
        try checkLength()
    }

    /// Whether a string begins with a scheme. In `localhost:8080/album` the colon precedes a port, so that text has no
    /// scheme.
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":") else { return false }
        let name = text[..<colon]
        guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return false }
        let rest = text[text.index(after: colon)...]
        if rest.hasPrefix("//") { return true }
        let port = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return port.isEmpty || !port.allSatisfy(\.isNumber)
    }
}

extension String {
    /// The string without white space at its ends.
    fileprivate var trimmed: String {
        let start = unicodeScalars.firstIndex { !$0.properties.isWhitespace } ?? unicodeScalars.endIndex
        guard let last = unicodeScalars.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
        return String(unicodeScalars[start...last])
    }
}

extension Address {
    /// Returns a copy of this address with other credentials.
    public func with(_ credentials: Credentials?) -> Address {
        Address(scheme: scheme, host: host, port: port, path: path, query: query, credentials: credentials)
    }

    /// Returns a copy of this address with the query of another address.
    public func with(queryOf other: Address) -> Address {
        Address(scheme: scheme, host: host, port: port, path: path, query: other.query, credentials: credentials)
    }

    /// Returns this address with its missing secrets. The secrets come from the parameters of the same names in another
    /// address's query.
    public func restoringSecrets(of other: Address) -> Address {
        guard lacksSecrets, let query, let held = other.query else { return self }
        func parameters(_ query: String) -> [Substring] {
            query.split(separator: "&", omittingEmptySubsequences: false)
        }
        func name(_ parameter: Substring) -> Substring { parameter.prefix { $0 != "=" } }
        let restored = parameters(query).map { parameter in
            guard parameter.hasSuffix("=" + PercentEncoding.encode("…", keepingEscapes: false)) else {
                return parameter
            }
            return parameters(held).first { name($0) == name(parameter) } ?? parameter
        }
        return Address(
            scheme: scheme, host: host, port: port, path: path, query: restored.joined(separator: "&"),
            credentials: credentials)
    }

    /// Removes credentials and query secrets from all addresses in a string.
    ///
    ///     Address.withoutCredentials("“http://me:s3cret@example.org/” is one too many")  // “http://example.org/” is …
    ///
    /// Call this function before you show or log a user's input.
    public static func withoutCredentials(_ text: String) -> String {
        let text = text.withoutSecrets
        guard text.contains("@") else { return text }
        var (result, rest) = ("", text[...])
        while let mark = rest.firstRange(of: "://") {
            result += rest[..<mark.upperBound]
            rest = rest[mark.upperBound...]
            let authority = rest.prefix { !"/?#".contains($0) && !$0.isWhitespace }
            if let end = authority.lastIndex(of: "@") { rest = rest[rest.index(after: end)...] }
        }
        return result + rest
    }
}

extension Address {
    /// Whether a gallery at this address may refer to a picture at another address.
    ///
    /// Galleries are untrusted. A remote gallery may not refer to local files. A local gallery may refer to files in
    /// its own folder and to remote pictures.
    public func mayName(_ other: Address) -> Bool {
        switch (scheme, other.scheme) {
        case (_, .http), (_, .https): true
        case (.file, .file): other.path.hasPrefix(folderPath)
        case (_, .file): false
        }
    }

    /// The part of the path up to and including the last slash.
    var folderPath: String {
        String(path[...(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)])
    }
}

/// The scheme, host and port of a web address (RFC 6454). Each password belongs to one origin.
///
///     try Address("HTTPS://example.org:443/album/index.xml").origin?.text      // "https://example.org"
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// The scheme: `http` or `https`.
    public let scheme: Address.Scheme
    /// The host in lower case, with brackets around an IPv6 address.
    public let host: String
    /// The port, unless it is the scheme's default.
    public let port: Int?

    /// Creates the origin of an address. Returns nil for a file.
    public init?(_ address: Address) {
        guard address.scheme != .file else { return nil }
        (scheme, host, port) = (address.scheme, address.host, address.port)
    }

    /// Parses an origin's ``text``. Returns nil for any other string.
    public init?(_ text: String) {
        guard let address = try? Address(text), let origin = Origin(address), origin.text == text else { return nil }
        self = origin
    }

    /// The origin as text, such as `https://example.org:8443`, with the host in its form for DNS.
    public var text: String { "\(scheme.rawValue)://\(host)\(ending)" }

    /// The host and port in the form for display; see ``HostName/shown(_:)``. The text may contain control characters.
    public var place: String { HostName.shown(host) + ending }

    /// The scheme, host and port in the form for display.
    public var description: String { "\(scheme.rawValue)://\(place)" }

    private var ending: String { port.map { ":\($0)" } ?? "" }

    /// Whether another origin is this `http` origin with `https`.
    ///
    /// Users leave out the scheme, which means `http`, and many servers redirect to `https`. The other direction does
    /// not count: a password for `https` must never go over `http`.
    public func isSecured(by other: Origin) -> Bool {
        scheme == .http && other.scheme == .https && host == other.host && port == nil && other.port == nil
    }
}

extension Address {
    /// The origin of the address; nil for a file.
    public var origin: Origin? { Origin(self) }
}

/// The reason why a string is not a valid address.
public enum AddressError: Error, Equatable, CustomStringConvertible {
    /// The text is empty.
    case empty
    /// The text, or the address in normal form, is longer than ``Address/maximumLength``.
    case tooLong
    /// The text contains a control character or line break. Such a character could end a request line early.
    case controlCharacter
    /// The scheme is not supported: `ftp:`, `javascript:` and others.
    case scheme(String)
    /// The address has no host.
    case noHost
    /// The host contains invalid characters.
    case host(String)
    /// The port is not a number from 1 to 65535.
    case port(String)
    /// The text is a relative reference.
    case relative(String)
    /// The endpoint of the storage service, from this variable or file, is not a web address.
    case endpoint(String, source: String)

    /// An error message for the user.
    public var description: String {
        switch self {
        case .empty: "The address is empty."
        case .tooLong: "The address is longer than \(Address.maximumLength) bytes in its encoded form."
        case .controlCharacter: "The address contains a control character."
        case .scheme(let scheme): "\(scheme): addresses are not supported; use http, https, file or a path."
        case .noHost: "The address has no host."
        case .host(let host): "“\(host)” is not a valid host name."
        case .port(let port): "“\(port)” is not a valid port."
        case .relative(let text): "“\(text)” is not an absolute address."
        case .endpoint(let text, let source):
            "The endpoint “\(text)” from \(source) is not a web address such as https://example.org."
        }
    }
}
