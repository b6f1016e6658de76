import Text

/// Where a gallery, a thumbnail or a photo lies: an `http`, `https` or `file` URL, checked and normalised.
///
///     let gallery = try Address("HTTP://example.org:80/album/index.xml")
///     let photo = try gallery.resolving("images/a photo.jpg")
///     photo.text      // "http://example.org/album/images/a%20photo.jpg"
///
/// Nothing else can be an address, so that whoever holds one need not ask again: no other scheme, no control
/// character, no line break, no length without bound. A password that was written into the URL is kept apart in
/// ``credentials`` and is part of no text that is shown, logged, stored or compared.
public struct Address: Hashable, Sendable {
    /// How the bytes are fetched.
    public enum Scheme: String, Sendable {
        case http, https, file

        /// The port a URL means when it names none.
        var usualPort: Int? {
            switch self {
            case .http: 80
            case .https: 443
            case .file: nil
            }
        }
    }

    /// A user and a password that stood in the URL.
    public struct Credentials: Hashable, Sendable {
        /// The user's name, decoded.
        public let user: String
        /// The password, decoded; empty where only a user was named.
        public let password: String
    }

    /// How the bytes are fetched.
    public let scheme: Scheme
    /// As it is looked up: in ASCII and lower case; brackets around an IPv6 address; empty for a file.
    public let host: String
    /// The port, unless it is the scheme's usual one.
    public let port: Int?
    /// Percent-encoded, beginning with a slash, without `.` and `..`.
    public let path: String
    /// What follows the question mark.
    public let query: String?
    /// Never part of ``text``, nor of equality: the same gallery with another password is the same gallery.
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

    /// Names a file or folder on this machine by its absolute path.
    public init(filePath: String) {
        var path = PercentEncoding.encode(filePath, keepingEscapes: false, also: "/")
        path = AddressPath.withoutDotSegments(path.hasPrefix("/") ? path : "/" + path)
        // `/photos` and `/photos/` are one folder and shall be one gallery.
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.init(scheme: .file, host: "", port: nil, path: path, query: nil, credentials: nil)
    }

    /// The URL in its normal form, without credentials. It is stored and sent; screens show the ``description``.
    public var text: String { beginning(host) + (query.map { "?" + $0 } ?? "") }

    /// The same without tokens and the like in its query: for files and output that are to hold no secrets.
    public var textWithoutSecrets: String { beginning(host) + shownQuery }

    /// Whether it was read from such a text, and leads nowhere without what was left out.
    public var lacksSecrets: Bool { query?.contains("=" + PercentEncoding.encode("…", keepingEscapes: false)) == true }

    private func beginning(_ host: String) -> String {
        "\(scheme.rawValue)://\(host)\(port.map { ":\($0)" } ?? "")\(path)"
    }

    private var shownQuery: String { query.map { "?" + $0.withoutSecrets } ?? "" }

    /// The host as people read it: see ``HostName/shown(_:)``.
    public var shownHost: String { HostName.shown(host) }

    /// The path on this machine, for a `file` address.
    public var filePath: String? {
        scheme == .file ? PercentEncoding.decode(path) : nil
    }

    /// The last part of the path, decoded: `index.xml`. Shown, and never used as a file's name.
    public var lastComponent: String {
        PercentEncoding.decode(String(path.split(separator: "/").last ?? ""))
    }

    /// The folder that this file lies in.
    public var folder: Address {
        Address(scheme: scheme, host: host, port: port, path: folderPath, query: nil, credentials: credentials)
    }

    /// The address of an entry of this folder.
    public func appending(_ name: String) -> Address {
        let encoded = PercentEncoding.encode(name, keepingEscapes: false)
        let folder = path.hasSuffix("/") ? path : path + "/"
        return Address(
            scheme: scheme, host: host, port: port, path: folder + encoded, query: nil, credentials: credentials)
    }

    /// Two addresses are the same if they fetch the same thing.
    public static func == (left: Address, right: Address) -> Bool {
        left.scheme == right.scheme && left.host == right.host && left.port == right.port
            && left.path == right.path && left.query == right.query
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(path)
        hasher.combine(query)
    }
}

extension Address.Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Nothing of them, wherever somebody prints them.
    public var description: String { "credentials" }

    /// Nothing of them.
    public var debugDescription: String { description }

    /// Nothing of them either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Address: CustomStringConvertible {
    /// The address as it is shown and logged: it gives away no password and no token, and its host passes for no other.
    public var description: String { beginning(shownHost) + shownQuery }
}

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

extension Address {
    /// Reads what a person typed: a URL, a path, or a host and path without a scheme.
    ///
    ///     try Address(typed: " example.org/album.xml ", home: home, currentFolder: folder)   // http://example.org/album.xml
    ///     try Address(typed: "~/Pictures", home: home, currentFolder: folder)                // file:///home/…/Pictures
    ///
    /// A path begins with `/`, `~`, `./` or `../`; anything else without a scheme is taken for a web address, so that
    /// what one types does not mean another thing in another folder. Whether the place exists is not asked here.
    public init(typed text: String, home: String, currentFolder: String) throws(AddressError) {
        let trimmed = text.trimmed
        guard !trimmed.isEmpty else { throw .empty }
        if trimmed.hasPrefix("/") {
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

    private init(typedPath path: String) throws(AddressError) {
        guard path.utf8.count <= Self.maximumLength else { throw .tooLong }
        guard path.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw .controlCharacter
        }
        self.init(filePath: path)
    }

    /// `localhost:8080/album` has a colon and no scheme: what follows the colon is a port.
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
    /// Without white space at either end.
    fileprivate var trimmed: String {
        let start = unicodeScalars.firstIndex { !$0.properties.isWhitespace } ?? unicodeScalars.endIndex
        guard let last = unicodeScalars.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
        return String(unicodeScalars[start...last])
    }
}

extension Address {
    /// The same address, asked for by somebody else.
    public func with(_ credentials: Credentials?) -> Address {
        Address(scheme: scheme, host: host, port: port, path: path, query: query, credentials: credentials)
    }

    /// The same address with the secrets that another has in its query, where this one lacks them.
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

    /// A text without who asks, in whatever addresses it holds, and without the secrets in their queries: what may be said of
    /// what somebody typed.
    ///
    ///     Address.withoutCredentials("“http://me:s3cret@example.org/” is one too many")  // “http://example.org/” is …
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
    /// Whether a gallery that was read from here may name that address as one of its pictures.
    ///
    /// A gallery is a stranger's text. One from the network names nothing on this machine; one from a folder names
    /// files of that folder only, or pictures on the network.
    public func mayName(_ other: Address) -> Bool {
        switch (scheme, other.scheme) {
        case (_, .http), (_, .https): true
        case (.file, .file): other.path.hasPrefix(folderPath)
        case (_, .file): false
        }
    }

    /// The path up to and including its last slash.
    var folderPath: String {
        String(path[...(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)])
    }
}

/// Scheme, host and port of an address (RFC 6454): what a password is for, and nothing beyond it.
///
///     try Address("HTTPS://example.org:443/album/index.xml").origin?.text      // "https://example.org"
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: Address.Scheme
    /// In lower case; brackets around an IPv6 address.
    public let host: String
    /// The port, unless it is the scheme's usual one.
    public let port: Int?

    /// The origin of an address; nil for a file, which nobody is asked for.
    public init?(_ address: Address) {
        guard address.scheme != .file else { return nil }
        (scheme, host, port) = (address.scheme, address.host, address.port)
    }

    /// Reads the ``text`` of one; nil if it is anything else.
    public init?(_ text: String) {
        guard let address = try? Address(text), let origin = Origin(address), origin.text == text else { return nil }
        self = origin
    }

    /// `https://example.org:8443`, with the host as it is looked up.
    public var text: String { "\(scheme.rawValue)://\(host)\(ending)" }

    /// Host and port, as they are shown: see ``HostName/shown(_:)``. A stranger's word, like all of an address.
    public var place: String { HostName.shown(host) + ending }

    /// The same with the scheme.
    public var description: String { "\(scheme.rawValue)://\(place)" }

    private var ending: String { port.map { ":\($0)" } ?? "" }
}

extension Address {
    /// Where a password for it is good; nil for a file.
    public var origin: Origin? { Origin(self) }
}

/// Why a text is not an address that Vitrine goes to.
public enum AddressError: Error, Equatable, CustomStringConvertible {
    /// There is nothing there.
    case empty
    /// More characters than any server takes.
    case tooLong
    /// A control character or a line break, which could end a request's line early.
    case controlCharacter
    /// A scheme that is not fetched: `ftp:`, `javascript:` and the like.
    case scheme(String)
    /// An `http` or `https` address without a host.
    case noHost
    /// A host with characters that no host has.
    case host(String)
    /// A port that is no number from 1 to 65535.
    case port(String)
    /// A relative reference where a whole address is needed.
    case relative(String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .empty: "The address is empty."
        case .tooLong: "The address is longer than \(Address.maximumLength) characters."
        case .controlCharacter: "The address contains a control character."
        case .scheme(let scheme): "\(scheme): addresses are not supported; use http, https, file or a path."
        case .noHost: "The address names no host."
        case .host(let host): "“\(host)” is not a valid host name."
        case .port(let port): "“\(port)” is not a valid port."
        case .relative(let text): "“\(text)” is not a whole address."
        }
    }
}
