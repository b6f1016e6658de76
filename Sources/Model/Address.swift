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
