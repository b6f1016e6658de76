import Cache
import Formats
import HTTP
import Model
import Numbers

/// A gallery's outermost folder on a server. Makes the requests for lists of folders.
struct ServerPlace: Sendable {
    /// The kind of server.
    let kind: GalleryKind
    /// The address of the page that lists the outermost folder. The address may name a page in the folder, and may have
    /// a query.
    let page: Address
    /// The outermost folder.
    let root: ListedFolder
    /// The folder in a bucket; nil for other servers.
    let bucket: Bucket?
    private let cache: GalleryCache
    private let publicity: Publicity

    init(_ kind: GalleryKind, at page: Address, of cache: GalleryCache, _ publicity: Publicity) {
        self.kind = kind
        self.page = page
        self.cache = cache
        self.publicity = publicity
        bucket = kind == .s3 ? Bucket(list: page) : nil
        root = ListedFolder(bucket?.root ?? (kind == .web ? Self.folder(of: page) : page))
    }

    /// Returns the address of the folder that a page lists.
    private static func folder(of page: Address) -> Address {
        isPage(page) ? page.folder : page.asFolder
    }

    /// Whether an address ends like a page or list. Then the address names no folder.
    static func isPage(_ address: Address) -> Bool {
        address.path.contains(/\.(html?|php|aspx?|xml|json)$/.ignoresCase())
    }

    /// Whether an answer from an address is the list of a folder. After a redirect, the answer may be another page.
    func isAddress(_ address: Address, of path: [UInt8]) throws(AddressError) -> Bool {
        // A bucket lists all folders at one address.
        guard bucket == nil else { return address == (try self.address(of: path)) }
        guard !path.isEmpty else { return address == page || root.isItself(address) }
        return ListedFolder(try self.address(of: path)).isItself(address)
    }

    /// The credentials to send; nil for no credentials.
    var signIn: SignIn? { cache.signIn(for: root.address) }

    /// Whether a folder's validator changes with everything below the folder. Then an unchanged validator saves all
    /// requests for subfolders.
    var hasClimbingValidators: Bool { kind == .nextcloud }

    /// Returns the addresses of the server's small pictures in a folder. Returns nil if the server makes no small
    /// pictures.
    func previews(in folder: ListedFolder) -> WebDAVParser.Previews? {
        let path = folder.address.path
        guard kind == .nextcloud, let range = path.firstRange(of: Self.davPath),
            let server = try? folder.address.resolving(String(path[..<range.lowerBound]) + "/")
        else { return nil }
        if let match = path[range.upperBound...].prefixMatch(of: /photospublic\/([^\/]+)/) {
            return WebDAVParser.Previews(root: server, publicAlbum: String(match.1))
        }
        // ownCloud shows the previews of shares only to browsers.
        guard !path[range.upperBound...].hasPrefix("public-files/") else { return nil }
        guard Self.isShare(folder.address) else {
            return WebDAVParser.Previews(root: server, isAlbum: Self.isAlbum(folder.address))
        }
        // Nextcloud shows the previews of a share with a password only to browsers.
        guard signIn == nil, let match = path[range.upperBound...].prefixMatch(of: /files\/([^\/]+)\/(.*)/) else {
            return nil
        }
        return WebDAVParser.Previews(
            root: server, share: String(match.1), folder: PercentEncoding.decodedBytes(String(match.2)))
    }

    /// Returns a folder below the root.
    ///
    /// - Parameter path: the decoded path below the root, with a slash at its end; empty for the root.
    func folder(of path: [UInt8]) throws(AddressError) -> ListedFolder {
        path.isEmpty
            ? root
            : ListedFolder(
                try root.address.resolving("./" + PercentEncoding.encode(path, keepingEscapes: false, also: "/")))
    }

    /// Returns the address of the list of a folder below the root.
    ///
    /// - Parameter path: the decoded path below the root, with a slash at its end; empty for the root.
    func address(of path: [UInt8]) throws(AddressError) -> Address {
        if let bucket { return try bucket.list(of: path) }
        return path.isEmpty
            ? kind == .web ? page : root.address
            : try folder(of: path).address
    }

    /// Returns the plan of a request for the list of a folder.
    ///
    /// - Parameters:
    ///   - isAlone: whether to request only the folder's own properties. Servers without properties send the list.
    ///   - validators: if they still match, the server may answer 304 (Not Modified).
    ///   - token: the token of a page of the list; nil for the first page.
    func plan(
        for path: [UInt8], isAlone: Bool = false, validators: Validators = Validators(), page token: String? = nil
    ) throws -> FetchPlan {
        var plan = FetchPlan(
            address: try address(of: path), signIn: signIn, validators: kind == .web ? validators : Validators(),
            limit: Self.limit, addressPolicy: cache.listAddressPolicy,
            isNamedByUser: cache.isNamedByUser(root.address), allowsCompression: true)
        plan.publicity = publicity
        switch kind {
        case .webDAV, .nextcloud:
            plan.method = .propfind
            plan.headers = [
                ("Depth", isAlone ? "0" : "1"), ("Content-Type", "application/xml; charset=utf-8"),
            ]
            // Without this header, a public share of Nextcloud answers only browsers, unless the server is part of a
            // federation. With this header, ownCloud refuses every password, so other requests do not carry it.
            if Self.isShare(root.address) { plan.headers.append(("X-Requested-With", "XMLHttpRequest")) }
            plan.body = Array((kind == .nextcloud ? Self.nextcloudProperties : Self.properties).utf8)
        case .s3:
            plan.refusals = .asked(isOfBucket: true)
            if let token, let bucket { plan.address = try bucket.list(of: path, page: token) }
        case .list, .folder, .web, .immich, .photoPrism, .piwigo, .feed:
            plan.headers = [("Accept", GalleryListRequest.acceptedTypes)]
        }
        return plan
    }

    /// The maximum number of bytes of a folder's list. 100,000 files take 40 MB by WebDAV.
    static let limit: ByteCount = 1 << 28

    /// Matches the part of a path that leads to Nextcloud's WebDAV folders. This part follows the path of the server.
    static var davPath: Regex<Substring> { /\/(?:remote\.php\/(?:web)?dav|public\.php\/dav)\// }

    /// Whether Nextcloud refuses an address without naming an authentication scheme.
    static func lacksChallenges(_ address: Address) -> Bool {
        isShare(address) || address.path.hasSuffix("/index.php/core/preview")
            || address.path.contains("/index.php/apps/photos/api/v1/preview/")
            || address.path.hasSuffix("/" + accountPath)
    }

    /// Returns the address below which Nextcloud has its pages. Returns nil unless the address belongs to a user's
    /// files. Public shares and albums need no account.
    static func pages(for address: Address) -> Address? {
        let beginning =
            #//(?:remote\.php/(?:web)?dav/|index\.php/(?:core/preview$|apps/photos/api/v1/preview/)|ocs/v2\.php/cloud/user$)/#
        guard !isShare(address), !isPublic(address), let range = address.path.firstRange(of: beginning),
            let pages = try? address.resolving(String(address.path[..<range.lowerBound]) + "/"),
            pages.origin == address.origin
        else { return nil }
        return pages.with(nil)
    }

    /// The path of Nextcloud's data about the user, below the server's address.
    static let accountPath = "ocs/v2.php/cloud/user"

    /// Whether an address is that of an album of Nextcloud's Photos app.
    static func isAlbum(_ address: Address) -> Bool {
        address.path.contains(
            /\/remote\.php\/dav\/(?:photos\/[^\/]+\/(?:shared)?albums|photospublic)\/[^\/]+\/?$/)
    }

    /// Whether an address is that of a public album, or of a share on ownCloud.
    private static func isPublic(_ address: Address) -> Bool {
        address.path.contains(/\/remote\.php\/dav\/(?:photospublic|public-files)\//)
    }

    /// Whether an address is that of a share on Nextcloud.
    private static func isShare(_ address: Address) -> Bool { address.path.contains("/public.php/dav/files/") }

    /// The four properties that every server knows. A request for other properties makes servers answer with an error
    /// for each file.
    private static let properties = """
        <?xml version="1.0"?>
        <propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/><getetag/></prop></propfind>
        """

    private static let nextcloudProperties = """
        <?xml version="1.0"?>
        <propfind xmlns="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"><prop>\
        <resourcetype/><getcontentlength/><getlastmodified/><getetag/><oc:fileid/><nc:has-preview/>\
        <nc:metadata-photos-original_date_time/></prop></propfind>
        """
}
