/// A key for a storage service, with which Vitrine signs requests. Vitrine never sends the secret.
///
/// Printing a value reveals no part of the key.
public struct AccessKey: Hashable, Sendable {
    /// The public part of the key.
    public var id: String
    /// The secret part of the key.
    public var secret: String
    /// The token of a temporary key; nil for a permanent key.
    public var sessionToken: String?
    /// The region of the bucket, which is part of each signature.
    public var region: String

    /// The region of a bucket if no other region is stated.
    public static let usualRegion = "us-east-1"

    /// Creates a key. An invalid region becomes the usual region.
    public init(id: String, secret: String, sessionToken: String? = nil, region: String? = nil) {
        self.id = id
        self.secret = secret
        self.sessionToken = sessionToken
        self.region = region.flatMap { Self.isRegion($0) ? $0 : nil } ?? Self.usualRegion
    }

    /// Returns the same key for another region.
    public func with(region: String?) -> AccessKey {
        AccessKey(id: id, secret: secret, sessionToken: sessionToken, region: region)
    }

    /// Whether a string can be the name of a region.
    public static func isRegion(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }
}

extension AccessKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text without secrets.
    public var description: String { "access key" }

    /// A fixed text without secrets.
    public var debugDescription: String { description }

    /// An empty mirror, so that dumps contain no secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The storage service to which addresses such as `s3://photos/2024` refer.
public struct BucketService: Hashable, Sendable {
    /// The place of a service.
    public enum Endpoint: Hashable, Sendable {
        /// Amazon's service.
        case amazon
        /// The service at an address.
        case server(Address)
        /// A text that is not a web address, and the variable or file that contains it.
        case invalid(String, source: String)

        /// Reads an endpoint that a variable or file contains.
        ///
        /// - Parameter source: the name of the variable, or the path of the file.
        public init(_ text: String, source: String) {
            if let address = try? Address(text), address.scheme != .file {
                self = .server(address)
            } else {
                self = .invalid(Address.withoutCredentials(text), source: source)
            }
        }
    }

    /// The place of the service. With an invalid endpoint, no bucket has an address.
    public var endpoint: Endpoint
    /// The region of the buckets; nil if unknown.
    public var region: String?

    /// Creates a service.
    public init(endpoint: Endpoint = .amazon, region: String? = nil) {
        (self.endpoint, self.region) = (endpoint, region)
    }

    /// Whether a typed text is the address of a bucket.
    public static func isBucket(_ text: String) -> Bool { text.lowercased().hasPrefix("s3://") }

    /// Returns the web address of a text such as `s3://photos/2024`. As in other programs, a percent sign in the text
    /// begins no escape.
    public func address(_ text: String) throws(AddressError) -> Address {
        let rest = text.utf8.dropFirst("s3://".utf8.count)
        let bucket = rest.prefix { $0 != UInt8(ascii: "/") }
        guard !bucket.isEmpty else { throw .noHost }
        let key = PercentEncoding.encodeAll(rest.dropFirst(bucket.count + 1), except: "/")
        switch endpoint {
        case .amazon: break
        case .server(let address):
            return try address.asFolder.resolving("./" + PercentEncoding.encodeAll(bucket, except: "") + "/" + key)
        case .invalid(let text, let source): throw .endpoint(text, source: source)
        }
        let region = region.flatMap { AccessKey.isRegion($0) ? $0 : nil } ?? AccessKey.usualRegion
        // Amazon's regions in China have a domain of their own.
        let host = "s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")/"
        // Amazon's certificate covers only one label before its host. So a bucket whose name is no such label goes into
        // the path.
        let isLabel = bucket.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D }
        return isLabel
            ? try Address("https://\(String(Substring(bucket))).\(host)\(key)")
            : try Address("https://\(host)\(PercentEncoding.encodeAll(bucket, except: ""))/\(key)")
    }
}

/// A host of Amazon's storage service, such as `photos.s3.eu-west-1.amazonaws.com`.
public struct AmazonHost: Hashable, Sendable {
    /// The bucket in the host's name, with a dot at its end; empty if the bucket is in the path.
    private let bucket: String
    private let ending: String
    /// The region in the host's name; nil for the general host.
    public let region: String?

    /// Parses the name of a host of Amazon's storage service. Returns nil for other hosts.
    public init?(_ host: String) {
        // Most hosts are not Amazon's. Checking their endings first avoids the regular expression, which Swift parses
        // at each use.
        guard host.hasSuffix(".amazonaws.com") || host.hasSuffix(".amazonaws.com.cn"),
            let match = host.wholeMatch(of: /((?:.+\.)?)s3(?:[.-]([a-z0-9-]+))?\.(amazonaws\.com(?:\.cn)?)/)
        else {
            return nil
        }
        (bucket, region, ending) = (String(match.1), match.2.map(String.init), String(match.3))
    }

    /// Whether the host's name begins with the name of a bucket.
    public var hasBucket: Bool { !bucket.isEmpty }

    /// Returns the name of the same bucket's host in another region.
    public func name(in region: String) -> String { "\(bucket)s3.\(region).\(ending)" }

    /// Whether two hosts differ at most in the region. Amazon redirects requests between such hosts.
    public func isTwin(of other: AmazonHost) -> Bool { bucket == other.bucket && ending == other.ending }
}

extension Address {
    /// Returns this address with another Amazon region. Returns nil for an invalid region, and for hosts that are not
    /// Amazon's.
    public func moved(toRegion region: String) -> Address? {
        guard AccessKey.isRegion(region), let host = AmazonHost(host) else { return nil }
        return Address(
            scheme: scheme, host: host.name(in: region), port: port, path: path, query: query, credentials: credentials)
    }
}

extension Origin {
    /// Whether two origins are Amazon hosts of one bucket, over TLS. The regions of these hosts may differ.
    public func isTwin(of other: Origin) -> Bool {
        guard scheme == .https, other.scheme == .https, port == nil, other.port == nil, let host = AmazonHost(host),
            let otherHost = AmazonHost(other.host)
        else { return false }
        return host.isTwin(of: otherHost)
    }
}
