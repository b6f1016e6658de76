import Cache
import Glibc
import HTTP
import Model
import Numbers

/// What a request is going to ask for, and within what bounds.
public struct FetchPlan: Sendable {
    /// Where.
    public var address: Address
    /// Who asks.
    public var signIn: SignIn?
    /// What a server may answer 304 to.
    public var validators: Validators
    /// What it may lead to.
    public var addressPolicy: HTTPRequest.AddressPolicy
    /// Whether the user himself has named its origin.
    public var isNamedByUser: Bool
    /// Whether the host had a public address before, so that a private one is a change that the user is told of.
    public var wasPublic: Bool
    /// The most bytes that will do.
    public var limit: ByteCount
    /// The file that the body goes into; without one it is handed over piece by piece.
    public var file: PartialFile?
    /// What of it the file holds.
    public var resumption: HTTPRequest.Resumption?
    /// Whether the server may compress it.
    public var allowsCompression: Bool

    /// States a plan.
    public init(
        address: Address, signIn: SignIn? = nil, validators: Validators = Validators(), limit: ByteCount,
        file: PartialFile? = nil, resumption: HTTPRequest.Resumption? = nil,
        addressPolicy: HTTPRequest.AddressPolicy = .anywhere, isNamedByUser: Bool = false,
        wasPublic: Bool = false, allowsCompression: Bool = false
    ) {
        self.address = address
        self.signIn = signIn
        self.validators = validators
        self.limit = limit
        self.file = file
        self.resumption = resumption
        self.addressPolicy = addressPolicy
        self.isNamedByUser = isNamedByUser
        self.wasPublic = wasPublic
        self.allowsCompression = allowsCompression
    }

    func httpRequest() throws -> HTTPRequest {
        var headers: [(name: String, value: String)] = []
        if let etag = validators.etag { headers.append(("If-None-Match", etag)) }
        if let lastModified = validators.lastModified { headers.append(("If-Modified-Since", lastModified)) }
        var request = HTTPRequest(
            url: address.text, headers: headers,
            credentials: signIn.map(HTTPRequest.Credentials.init),
            destination: try file.map { .file(try BodyFile(duplicating: $0.descriptor)) } ?? .stream,
            resumption: resumption, limit: limit,
            allowsFiles: address.scheme == .file, allowsCompression: allowsCompression, addressPolicy: addressPolicy,
            isNamedByUser: isNamedByUser)
        if allowsCompression { request.maximumExpansion = Self.maximumExpansion }
        return request
    }

    /// How many times as large as what comes a text may become. The most regular lists that were measured become 36 times
    /// as large with gzip and 118 times with zstd at its slowest; a bomb of gzip a thousand times.
    private static let maximumExpansion = 200
}

extension GalleryCache {
    /// What the way to the gallery's list may lead to.
    ///
    /// A gallery from the network is a stranger, and may lead to nothing in the user's own network but the host that the user
    /// has named himself. A list that the user has named may be a link to anywhere; one that is found in a folder stays in it.
    ///
    /// - Parameter wasPublic: whether that host had a public address before. It must have one then: whoever owns the name can
    ///   have it lead into the user's network later.
    func listAddressPolicy(wasPublic: Bool) -> HTTPRequest.AddressPolicy {
        guard address.scheme == .file else { return .publicOnly(except: wasPublic ? nil : address.host) }
        return isFolder ? .filesBelow(address.text) : .anywhere
    }

    /// Whether the gallery's address is that of a folder on this machine.
    var isFolder: Bool {
        guard let path = address.filePath else { return false }
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// What the gallery's pictures may lead to.
    ///
    /// One that lies in the user's own network may name its own host. One from the world may not, though it is the same name:
    /// who gives it out can let it lead anywhere, once the list is here. One on this machine has been copied there, or unpacked,
    /// with all links that came along: its pictures lie in its folder. Hosts that it names are the user's business.
    func pictureAddressPolicy() throws -> HTTPRequest.AddressPolicy {
        guard address.scheme != .file else { return .filesBelow(isFolder ? address.text : address.folder.text) }
        // Of a list that an older Vitrine has fetched it is not known.
        let isPrivate = try read { try $0.gallery() }.isPrivate ?? true
        return .publicOnly(except: isPrivate ? address.host : nil)
    }
}
