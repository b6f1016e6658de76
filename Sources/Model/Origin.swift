import Text

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
