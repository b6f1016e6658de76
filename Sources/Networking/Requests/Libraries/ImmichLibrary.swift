import Cache
import Formats
import Model

/// The photos of an Immich server that an address selects. They are the timeline, an album, a person, a tag, the
/// favorites or a shared link.
///
/// Immich understands these requests since version 2.7.
struct ImmichLibrary: PhotoLibrary {
    /// The photos that the gallery's address selects.
    enum Selection: Hashable {
        /// All photos of the timeline.
        case all
        /// The photos that the user marked as favorites.
        case favorites
        /// The photos in the album with this id.
        case album(String)
        /// The photos that show the person with this id.
        case person(String)
        /// The photos with the tag at this path, or with a tag below it.
        case tag([UInt8])
        /// The photos behind a shared link.
        case share(ImmichShare)
    }

    let server: Address
    private let selection: Selection

    var kind: GalleryKind { .immich }

    /// Creates a library.
    ///
    /// - Parameters:
    ///   - server: the address of the server.
    ///   - gallery: the address that the user gave, such as that of an album in a browser.
    init(server: Address, gallery: Address) {
        self.server = server.asFolder
        selection = Self.selection(gallery)
    }

    /// Returns the key of the shared link; otherwise the user's own credentials.
    func credentials(entered: SignIn?) -> SignIn? { share?.signIn ?? entered }

    private var share: ImmichShare? { if case .share(let share) = selection { share } else { nil } }

    private static func selection(_ gallery: Address) -> Selection {
        if let share = ImmichShare(gallery) { return .share(share) }
        let id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.ignoresCase()
        if let match = gallery.path.firstMatch(of: /\/(albums|people)\//),
            let found = gallery.path[match.range.upperBound...].prefixMatch(of: id)
        {
            return match.1 == "albums" ? .album(found.0.lowercased()) : .person(found.0.lowercased())
        }
        if let value = tag(in: gallery) { return .tag(value) }
        return gallery.path.contains(/\/favorites(\/|$)/) ? .favorites : .all
    }

    /// Returns the tag's path in the address of a page. An example of an address is `/tags?path=Trips%2FRome`. Returns
    /// nil without a tag.
    private static func tag(in page: Address) -> [UInt8]? {
        guard page.path.contains(/\/tags(\/|$)/), let field = page.formValue(of: "path") else { return nil }
        let slash = UInt8(ascii: "/")
        let value = Array(field.drop { $0 == slash }.reversed().drop { $0 == slash }.reversed())
        return value.isEmpty ? nil : value
    }

    /// The months of the timeline.
    ///
    /// Albums, people, tags and favorites have no parts, so an update reads all their photos. If the user puts a photo
    /// into an album or names a face in it, the photo's record does not change.
    var parts: (any LibraryParts)? { selection == .all ? ImmichMonths(server: server) : nil }

    var albums: (any LibraryAlbums)? { share == nil ? ImmichAlbums(server: server) : nil }

    func photos(onPage page: String?, changedSince time: Timestamp?) throws -> LibraryRequest {
        let tagPage = page.flatMap { ImmichTagPage(name: $0) }
        var members = [#""page":\#(tagPage?.number ?? page ?? "1")"#, #""size":1000"#, #""order":"asc""#]
        // Descriptions, ratings and places come with `exifInfo`.
        members += [#""withExif":true"#, #""withPeople":true"#]
        switch selection {
        case .all: members.append(#""visibility":"timeline""#)
        case .favorites: members.append(#""isFavorite":true"#)
        case .album(let id): members.append(#""albumIds":["\#(id)"]"#)
        case .person(let id): members.append(#""personIds":["\#(id)"]"#)
        case .tag:
            // The gallery's address has the tag's path, but a search needs the tag's id. So the first request lists all
            // tags.
            guard let tagPage else { return LibraryRequest(address: try server.resolving(ImmichRules.tags)) }
            members.append(#""tagIds":["\#(tagPage.tag)"]"#)
        case .share: return try sharedPhotos(onPage: page)
        }
        if let time { members.append(#""updatedAfter":"\#(time.iso8601)""#) }
        return LibraryRequest(
            address: try server.resolving("api/search/metadata"), json: "{" + members.joined(separator: ",") + "}")
    }

    /// Returns the request for a page of a shared link. Searches need an account, so shared links have requests of
    /// their own.
    private func sharedPhotos(onPage name: String?) throws -> LibraryRequest {
        guard let page = ImmichSharePage(name: name) else { throw RequestError.wrongType("an unknown page") }
        let path =
            switch page {
            case .link: "api/shared-links/me"
            case .months(let album): "api/timeline/buckets?albumId=\(album.id)"
            case .month(let month, let album, _): "api/timeline/bucket?timeBucket=\(month)-01&albumId=\(album.id)"
            }
        return LibraryRequest(address: try server.resolving(path))
    }

    func makePhotoParser(forPage page: String?) -> any LibraryParser<LibraryPhoto> {
        switch selection {
        case .all, .album, .person: return ImmichPhotoParser(server: server)
        case .favorites: return ImmichPhotoParser(server: server, onlyFavorites: true)
        case .tag(let value):
            guard let page = page.flatMap({ ImmichTagPage(name: $0) }) else { return ImmichTagFinder(value: value) }
            return ImmichPhotoParser(server: server, tag: page.tag)
        case .share:
            return ImmichSharePage(name: page)?.makeParser(server: server) ?? ImmichPhotoParser(server: server)
        }
    }
}

/// A shared link of an Immich server, such as `/share/KEY` or `/s/NAME`. It needs no API key.
struct ImmichShare: Hashable {
    /// The header that opens the link.
    let signIn: SignIn

    /// Creates a link. Returns nil if the address is no such link.
    init?(_ gallery: Address) {
        let parts = gallery.path.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, parts[1] == "share" || parts[1] == "s", (1...256).contains(parts[2].count) else {
            return nil
        }
        let key = PercentEncoding.decodedBytes(String(parts[2]))
        guard key.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        signIn = .header(
            name: Self.headers[parts[1] == "share" ? 0 : 1], value: String(decoding: key, as: UTF8.self))
    }

    private static let headers = ["x-immich-share-key", "x-immich-share-slug"]

    /// Whether credentials are the key of a shared link. If the server refuses it, other credentials are of no use.
    static func isKey(_ signIn: SignIn?) -> Bool {
        if case .header(let name, _) = signIn { headers.contains(name) } else { false }
    }
}

/// The months of an Immich server's timeline.
private struct ImmichMonths: LibraryParts, LibraryMembers {
    let server: Address

    var members: (any LibraryMembers)? { self }

    /// A filter for the photos that searches find, including partners' photos.
    private static let filter = "visibility=timeline&withPartners=true"

    func list() throws -> LibraryRequest {
        LibraryRequest(address: try server.resolving("api/timeline/buckets?\(Self.filter)"))
    }

    func makeListParser() -> any LibraryParser<LibraryPart> { ImmichMonthListParser() }

    func members(of month: String) throws -> LibraryRequest {
        LibraryRequest(address: try server.resolving("api/timeline/bucket?timeBucket=\(month)-01&\(Self.filter)"))
    }

    func makeMemberParser() -> any LibraryParser<LibraryMember> { ImmichMonthParser() }
}

/// The albums of an Immich server. They are the favorites, all albums that the user may see, all people with names, and
/// all tags.
private struct ImmichAlbums: LibraryAlbums {
    let server: Address

    func fixedAlbums(isSignedIn: Bool) throws -> [Album] {
        [Album(.favorites, at: try server.resolving("favorites"), name: "Favorites")]
    }

    var lists: [LibraryAlbumList] {
        [
            LibraryAlbumList(
                kind: .album,
                request: { [server] _ in LibraryRequest(address: try server.resolving("api/albums")) },
                makeParser: { [server] _ in ImmichAlbumParser(server: server) }),
            // Before version 3, the first list lacks the albums that other users share. Later versions refuse this
            // request.
            LibraryAlbumList(
                kind: .album, isOptional: true,
                request: { [server] _ in LibraryRequest(address: try server.resolving("api/albums?shared=true")) },
                makeParser: { [server] _ in ImmichAlbumParser(server: server) }),
            LibraryAlbumList(
                kind: .person,
                request: { [server] page in
                    LibraryRequest(
                        address: try server.resolving("api/people?withHidden=false&size=1000&page=\(page ?? "1")"))
                },
                makeParser: { [server] page in ImmichPeopleParser(page: page, server: server) }),
            LibraryAlbumList(
                kind: .tag, isOptional: true,
                request: { [server] _ in LibraryRequest(address: try server.resolving(ImmichRules.tags)) },
                makeParser: { [server] _ in ImmichTagParser(server: server) }),
        ]
    }
}

/// Immich's rules for refusals, which also apply to requests for pictures.
enum ImmichRules {
    /// The path of the list of tags, below the server's address.
    static let tags = "api/tags"

    /// Whether a path is that of a request that needs an API key.
    ///
    /// Each request for a picture calls this. Swift would parse a regular expression each time, and that takes longer
    /// than the rest of the request.
    private static func isKeyed(_ path: String) -> Bool {
        guard path.hasPrefix("/api/") else { return false }
        let parts = path.dropFirst("/api/".count).split(separator: "/", omittingEmptySubsequences: false)
        switch (parts.first, parts.count) {
        case ("albums", 1), ("people", 1), ("tags", 1): return true
        case ("search", 2): return parts[1] == "metadata"
        case ("timeline", 2): return parts[1] == "bucket" || parts[1] == "buckets"
        case ("assets", 3): return isID(parts[1].utf8) && (parts[2] == "original" || parts[2] == "thumbnail")
        default: return false
        }
    }

    private static func isID(_ text: Substring.UTF8View) -> Bool {
        text.count == 36
            && text.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
    }

    /// Returns the header for an API key. Returns nil if the address needs no key.
    ///
    /// This applies if the server answers 401 and names no scheme.
    static func keyHeader(for address: Address) -> String? {
        isKeyed(address.path) ? "x-api-key" : nil
    }

    /// Returns the key of the shared link for a picture of the link's gallery. Returns nil in other galleries.
    static func shareSignIn(for picture: Address, in gallery: Address) -> SignIn? {
        guard keyHeader(for: picture) != nil, picture.origin?.isSame(as: gallery) == true else { return nil }
        return ImmichShare(gallery)?.signIn
    }

    /// Whether a refusal at an address may contain its reason.
    static func explainsRefusals(at address: Address) -> Bool {
        keyHeader(for: address) != nil || isSharedLinkRequest(address)
    }

    /// Whether an address asks the server about a shared link.
    static func isSharedLinkRequest(_ address: Address) -> Bool { address.path.hasSuffix("/api/shared-links/me") }

    /// Whether a refused link only lacks its password.
    ///
    /// - Parameter body: the beginning of the answer, such as `{"message":"Password required"}`.
    static func wantsPassword(_ body: [UInt8]) -> Bool {
        String(decoding: body.prefix(longestReason), as: UTF8.self).contains("Password required")
    }

    /// Whether an address is a thumbnail's. The server may not have made the thumbnail yet.
    static func isThumbnail(_ address: Address) -> Bool {
        keyHeader(for: address) != nil && address.path.hasSuffix("/thumbnail")
    }

    /// The maximum number of bytes of a refusal to search for its reason.
    private static let longestReason = 4_096

    /// Returns the missing permission that a refusal names. Returns nil if it names none.
    ///
    /// - Parameter body: the beginning of the answer, such as `{"message":"Missing required permission: asset.read"}`.
    static func missingPermission(_ body: [UInt8]) -> String? {
        let text = String(decoding: body.prefix(longestReason), as: UTF8.self)
        if let match = text.firstMatch(of: /Missing required permission: ([A-Za-z][A-Za-z.]{0,63})/) {
            return String(match.1)
        }
        return nil
    }
}
