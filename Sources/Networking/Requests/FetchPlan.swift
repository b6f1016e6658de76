import Cache
import Glibc
import HTTP
import Model
import Numbers
import Synchronization

/// The details of one attempt of a request, and its limits.
public struct FetchPlan: Sendable {
    /// The address to request.
    public var address: Address
    /// The method of the request.
    public var method: HTTPRequest.Method
    /// The names and values of headers besides those for the validators.
    public var headers: [(name: String, value: String)]
    /// The body to send; nil for none. The headers must state its type.
    public var body: [UInt8]?
    /// The file to send; nil for none.
    public var upload: HTTPRequest.Upload?
    /// The credentials to send; nil to send none.
    public var signIn: SignIn?
    /// The validators to send. If the validators still match, the server may answer 304 (Not Modified).
    public var validators: Validators
    /// The addresses to which the transfer may connect.
    public var addressPolicy: HTTPRequest.AddressPolicy
    /// Whether the user has named the address's origin.
    public var isNamedByUser: Bool
    /// The bytes to fetch; nil for all bytes. See ``HTTPRequest/wantedBytes``.
    public var wantedBytes: Range<ByteCount>?
    /// The maximum number of bytes of the body.
    public var limit: ByteCount
    /// The file for the body; nil to pass the body on piece by piece.
    public var file: PartialFile?
    /// The received part of the body; nil to fetch the whole body. The file already holds this part.
    public var resumption: HTTPRequest.Resumption?
    /// Whether the server may compress the body.
    public var allowsCompression: Bool
    /// The way to treat refusals by a storage service.
    public var refusals: Refusals
    /// The tokens that some servers require in addresses of pictures; nil for other servers. Not public because only
    /// requests for pictures set the property.
    var tokens: PictureTokens?
    /// The shared link that provides the tokens; nil for other galleries.
    var share: PhotoPrismShare?
    /// The sessions of Piwigo users; nil for other galleries and credentials. Not public because only requests for
    /// pictures set the property.
    var sessions: PiwigoSessions?
    /// Whether a 401 from the secure address causes ``SecuredRefusal`` or ``RequestError/signInElsewhere(_:)``. Only a
    /// redirect leads the request there.
    var namesSecuredRefusals = false
    /// Whether the gallery's host had a public address before. If the host has a private address now, Vitrine refuses it
    /// and tells the user. The value is nil for requests that are not for a list.
    var publicity: Publicity?
    /// The secrets in the address, which the log must not contain.
    var secrets: [String] = []

    /// The ways to treat the documents with which storage services explain refusals.
    public enum Refusals: Equatable, Sendable {
        /// The error contains only the status. Vitrine ignores the document.
        case ignored
        /// The error contains the reason from the document.
        case explained
        /// The error contains the reason, or asks for an access key.
        case asked(isOfBucket: Bool)

        /// Whether a refusal may become a question.
        var mayAsk: Bool { if case .asked = self { true } else { false } }
    }

    /// Creates a plan.
    public init(
        address: Address, method: HTTPRequest.Method = .get, headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil, signIn: SignIn? = nil, validators: Validators = Validators(),
        wantedBytes: Range<ByteCount>? = nil, limit: ByteCount,
        file: PartialFile? = nil, resumption: HTTPRequest.Resumption? = nil,
        addressPolicy: HTTPRequest.AddressPolicy = .anywhere, isNamedByUser: Bool = false,
        allowsCompression: Bool = false, refusals: Refusals = .ignored
    ) {
        self.address = address
        self.method = method
        self.headers = headers
        self.body = body
        self.signIn = signIn
        self.validators = validators
        self.wantedBytes = wantedBytes
        self.limit = limit
        self.file = file
        self.resumption = resumption
        self.addressPolicy = addressPolicy
        self.isNamedByUser = isNamedByUser
        self.allowsCompression = allowsCompression
        self.refusals = refusals
    }

    /// Whether the request is signed with an access key.
    var isSigned: Bool { if case .accessKey = signIn { true } else { false } }

    /// The plan of a request for the web page at the address.
    ///
    /// Some sites, such as those with ActivityPub, send JSON of their own to all programs that accept JSON.
    var forPage: FetchPlan {
        var plan = self
        plan.headers = [("Accept", "text/html, application/xhtml+xml;q=0.9, */*;q=0.1")]
        return plan
    }

    func httpRequest() throws -> HTTPRequest {
        var headers = headers
        if let etag = validators.etag { headers.append(("If-None-Match", etag)) }
        if let lastModified = validators.lastModified { headers.append(("If-Modified-Since", lastModified)) }
        var request = HTTPRequest(
            url: address.text, method: method, headers: headers, body: body,
            credentials: signIn.map(HTTPRequest.Credentials.init),
            destination: try file.map { .file(try BodyFile(duplicating: $0.descriptor)) } ?? .stream,
            resumption: resumption, wantedBytes: wantedBytes, limit: limit,
            allowsFiles: address.scheme == .file, allowsCompression: allowsCompression,
            addressPolicy: publicity?.isPublic == true ? .publicOnly(except: nil) : addressPolicy,
            isNamedByUser: isNamedByUser)
        if allowsCompression { request.maximumExpansion = Self.maximumExpansion }
        request.wantsRefusals = refusals != .ignored || ImmichRules.explainsRefusals(at: address)
        request.upload = upload
        request.secrets = secrets
        request.hasCanonicalURL = refusals == .asked(isOfBucket: true)
        request.sendsPasswordUnasked = ServerPlace.lacksChallenges(address)
        return request
    }

    /// The maximum number of decompressed bytes per compressed byte of a text. The most regular lists measured expand
    /// 36 times with gzip and 118 times with the slowest zstd; a gzip bomb expands 1,000 times.
    private static let maximumExpansion = 200
}

extension GalleryCache {
    /// The addresses to which a request for the gallery's list may connect.
    ///
    /// Vitrine does not trust a gallery from the network. The request may connect to nothing in the user's own network,
    /// except the host that the user named. If a plan has a ``Publicity``, that host may lose this exception. A list
    /// file that the user named may be a link to any place. A list file found in a folder must stay in that folder.
    var listAddressPolicy: HTTPRequest.AddressPolicy {
        guard address.scheme == .file else { return .publicOnly(except: address.host) }
        return address.isLocalFolder ? .filesBelow(address.text) : .anywhere
    }

    /// Returns the addresses to which requests for the gallery's pictures may connect.
    ///
    /// A gallery in the user's own network may name its own host. A public gallery may name only public addresses,
    /// because the owner of its host's name could let the name lead anywhere later. Pictures of a local gallery must
    /// lie in its folder, because an unpacked folder may contain links to other places. A local gallery may name any
    /// host on the network, because the user chose the gallery. The folder may be missing, so its pictures' addresses
    /// show that the gallery is a folder.
    ///
    /// - Parameters:
    ///   - record: the gallery's record; nil for a local gallery, whose rules need no record.
    ///   - picture: the address of the picture.
    func pictureAddressPolicy(_ record: GalleryRecord?, for picture: Address) -> HTTPRequest.AddressPolicy {
        guard let record else {
            let isFolder = address.isLocalFolder || picture.text.hasPrefix(address.asFolder.text)
            return .filesBelow(isFolder ? address.text : address.folder.text)
        }
        // Lists fetched by older versions of Vitrine lack this value.
        let isPrivate = record.isPrivate ?? true
        return .publicOnly(except: isPrivate ? address.host : nil)
    }
}

/// Notes whether a gallery's host has had a public address, in this update or an earlier one.
///
/// Then the host must keep a public address, because the owner of its name could let the name lead into the user's
/// network. All requests of an update share one note.
final class Publicity: Sendable {
    private let host: String
    private let note: Mutex<Bool>

    /// Makes a note for a gallery.
    ///
    /// - Parameter wasPublic: whether the host had a public address in an earlier update.
    init(of gallery: Address, wasPublic: Bool) {
        host = gallery.host
        note = Mutex(wasPublic)
    }

    /// Whether the host has had a public address.
    var isPublic: Bool { note.withLock { $0 } }

    /// Takes note of an answer to a request for an address, whatever its status.
    func take(_ head: HTTPResponse, from address: Address) {
        if head.beganPublic, address.host == host { note.withLock { $0 = true } }
    }
}
