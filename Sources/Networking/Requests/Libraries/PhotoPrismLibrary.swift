import Cache
import Formats
import HTTP
import Model
import Numbers

/// The photos of a PhotoPrism server that an address selects. They are the library, the favorites, an album, a search
/// or a shared link.
///
/// The months, folders, moments and states on the server's pages are albums, too.
struct PhotoPrismLibrary: PhotoLibrary {
    /// The photos that the gallery's address selects.
    enum Selection: Hashable {
        /// All photos, except those that the server hides from its own page of all photos.
        case all
        /// The photos that the user marked as favorites.
        case favorites
        /// The photos in the album with this id.
        case album(String)
        /// The photos that a search finds, such as those of a person. The text is encoded for use in an address.
        case search(String)
        /// The photos of the album behind a shared link.
        case share(PhotoPrismShare)
    }

    let server: Address
    private var selection: Selection
    /// Whether the server hides photos of low quality from its own pages until a user has reviewed them.
    private var hasReview = true

    /// The maximum number of photos on a page.
    private static let pageSize = 1_000
    /// The largest offset to ask for. The server has no limit itself.
    private static let largestOffset = 1_000_000_000

    var kind: GalleryKind { .photoPrism }

    /// Creates a library.
    ///
    /// - Parameters:
    ///   - server: the address of the server.
    ///   - gallery: the address that the user gave, such as that of an album in a browser.
    init(server: Address, gallery: Address) {
        self.server = server.asFolder
        selection = Self.selection(gallery, self.server)
    }

    private static func selection(_ gallery: Address, _ server: Address) -> Selection {
        if let share = PhotoPrismShare(gallery), share.isOn(server) { return .share(share) }
        let album = /\/(?:albums|calendar|folders|moments|states)\/(a[0-9a-z]{6,63})(?:\/|$)/
        if let match = gallery.path.firstMatch(of: album) { return .album(String(match.1)) }
        if let search = search(in: gallery) { return .search(search) }
        return gallery.path.contains(/\/favorites(\/|$)/) ? .favorites : .all
    }

    /// Returns the search in the address of a page. An example is `subject:UID`, for the photos of a person. Returns
    /// nil without a search.
    private static func search(in page: Address) -> String? {
        guard let text = page.formValue(of: "q") else { return nil }
        return text.allSatisfy { $0 == UInt8(ascii: " ") } ? nil : PercentEncoding.encodeAll(text, except: "")
    }

    /// Returns the server that may have a page. Returns nil for other pages: all pages of the library are below
    /// `library/`, to which the server also redirects, and shared links are below `s/`.
    static func server(ofPage page: Address) -> Address? {
        let library = page.path.firstRange(of: /\/library(?:\/|$)/).map { String(page.path[..<$0.lowerBound]) + "/" }
        guard let path = library ?? PhotoPrismShare(page)?.serverPath, let server = try? page.resolving(path),
            // A path that begins with two slashes leads to another host.
            server.origin == page.origin
        else { return nil }
        return server
    }

    /// The months of the library.
    ///
    /// Albums and favorites have no parts, so an update reads all their photos. If the user puts a photo into an album,
    /// the photo's record does not change. The server's counts leave out photos of low quality, even if no photo waits
    /// for a review. Then the months are no parts either.
    var parts: (any LibraryParts)? { selection == .all && hasReview ? PhotoPrismMonths(library: self) : nil }

    /// The favorites of the server.
    fileprivate var favorites: Self {
        var library = self
        library.selection = .favorites
        return library
    }

    var albums: (any LibraryAlbums)? { if case .share = selection { nil } else { PhotoPrismAlbums(server: server) } }

    /// Returns no credentials for a shared link, whose secret is enough. With the user's own password, the server would
    /// add the album to the user's account.
    func credentials(entered: SignIn?) -> SignIn? { if case .share = selection { nil } else { entered } }

    func settings() throws -> LibraryRequest? {
        guard selection == .all || selection == .favorites else { return nil }
        var request = LibraryRequest(address: try server.resolving(PhotoPrismRules.settings))
        // The server tells these settings to everyone. For a user, it would add long lists.
        request.isAnonymous = true
        return request
    }

    func with(settings: [UInt8]) throws -> any PhotoLibrary {
        var library = self
        library.hasReview = try PhotoPrismSettings(json: settings).hasReview
        return library
    }

    func photos(onPage page: String?, changedSince time: Timestamp?) throws -> LibraryRequest {
        var fields = Self.fields(from: Self.offset(page))
        switch selection {
        case .all: fields.append(visible)
        case .favorites: fields += [visible, "favorite=true"]
        case .album(let id): fields.append("s=\(id)")
        // The server's count of a person's photos leaves out only private photos, and so does this request.
        case .search(let text): fields += ["public=true", "q=\(text)"]
        case .share(let share): return try sharedPhotos(of: share, onPage: page)
        }
        if let time { fields.append("updated=\(time.iso8601)") }
        return try request(fields)
    }

    /// Returns the request for a page of a shared link's album. The first request opens the link.
    private func sharedPhotos(of share: PhotoPrismShare, onPage name: String?) throws -> LibraryRequest {
        guard let name else { return try share.visit(to: server) }
        guard let page = PhotoPrismSharePage(name: name) else { throw RequestError.wrongType("an unknown page") }
        var request = try request(Self.fields(from: page.offset) + ["s=\(page.album)"])
        request.signIn = PhotoPrismShare.signIn(page.session)
        return request
    }

    /// Returns the fields of a request for photos from an offset. The server counts files, so the request asks only for
    /// the main file of each photo, which is a JPEG or PNG.
    private static func fields(from offset: Int) -> [String] {
        ["count=\(pageSize)", "offset=\(offset)", "order=oldest", "primary=true"]
    }

    private func request(_ fields: [String]) throws -> LibraryRequest {
        LibraryRequest(address: try server.resolving("\(PhotoPrismRules.list)?\(fields.joined(separator: "&"))"))
    }

    func makePhotoParser(forPage page: String?) -> any LibraryParser<LibraryPhoto> {
        guard case .share(let share) = selection else {
            return PhotoPrismPhotoParser(server: server, offset: Self.offset(page), pageSize: Self.pageSize)
        }
        guard let shared = page.flatMap({ PhotoPrismSharePage(name: $0) }) else {
            return PhotoPrismVisitParser(album: share.album)
        }
        return PhotoPrismPhotoParser(server: server, offset: shared.offset, pageSize: Self.pageSize, share: shared)
    }

    fileprivate static func offset(_ page: String?) -> Int {
        page.flatMap { Int(digits: $0, atMost: largestOffset) } ?? 0
    }

    /// A filter for photos on the server's own page of all photos. That page shows no private photos, and none to
    /// be reviewed.
    private var visible: String { hasReview ? Self.reviewed : "public=true" }

    /// A filter for photos that need no review, and are not private.
    fileprivate static let reviewed = "public=true&quality=3"
}

/// A shared link of a PhotoPrism server, such as `/s/SECRET/summer`. It needs no password.
struct PhotoPrismShare: Hashable {
    /// The path of the server, with a slash at its end.
    let serverPath: String
    /// The part of the link after the secret; nil if missing. This part is the album's id, or a word from its title.
    let album: String?
    private let secret: String

    /// Creates a link. Returns nil if the address is no shared link.
    ///
    /// Each request for a picture calls this. So it uses no regular expression, which would take long.
    init?(_ gallery: Address) {
        let parts = gallery.path.split(separator: "/", omittingEmptySubsequences: false)
        guard let place = parts.firstIndex(of: "s"), (2...4).contains(parts.count - place),
            parts.count - place < 4 || parts[place + 3].isEmpty,
            (1...Self.longestSecret).contains(parts[place + 1].count), parts[place + 1].allSatisfy(Self.isPlain)
        else { return nil }
        serverPath = parts[..<place].joined(separator: "/") + "/"
        secret = String(parts[place + 1])
        album = parts.count - place > 2 && !parts[place + 2].isEmpty ? String(parts[place + 2]) : nil
    }

    private static let longestSecret = 160

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "-_:".contains(character))
    }

    /// Whether the link is on a server. The server itself may be below `/s/`, and then its pages look like links.
    func isOn(_ server: Address) -> Bool { server.path == serverPath }

    /// Returns the request that opens the link on a server.
    func visit(to server: Address) throws -> LibraryRequest {
        LibraryRequest(address: try server.resolving(PhotoPrismRules.visits), json: #"{"token":"\#(secret)"}"#)
    }

    /// The header for the session of an opened link. All versions of the server know this header.
    private static let header = "x-session-id"

    /// Returns the credentials of an opened link.
    static func signIn(_ session: String) -> SignIn { .header(name: header, value: session) }

    /// Whether an answer means that the server does not know a link. The server may have known it earlier.
    static func isRefused(_ head: HTTPResponse, _ plan: FetchPlan) -> Bool {
        // A refusal that names an authentication scheme comes from a proxy in front of the server.
        guard head.challenges.isEmpty else { return false }
        if case .header(header, _)? = plan.signIn { return head.status == 401 || head.status == 403 }
        return plan.method == .post && [401, 404].contains(head.status)
            && plan.address.path.hasSuffix("/" + PhotoPrismRules.visits)
    }
}

/// The months of a PhotoPrism server's library.
private struct PhotoPrismMonths: LibraryParts, LibraryMembers {
    let library: PhotoPrismLibrary

    /// The maximum number of photos and videos that the server lists in one answer.
    private static let mostMembers = 100_000

    var members: (any LibraryMembers)? { self }

    /// The favorites. The server reports no change if the user marks a favorite, or chooses the main file of a photo.
    var favorites: (any PhotoLibrary)? { library.favorites }

    func list() throws -> LibraryRequest {
        LibraryRequest(address: try library.server.resolving(PhotoPrismRules.months))
    }

    func makeListParser() -> any LibraryParser<LibraryPart> { PhotoPrismMonthListParser() }

    func members(of month: String) throws -> LibraryRequest {
        let numbers = month.split(separator: "-").map { Int(digits: $0, atMost: 9_999) ?? 0 }
        let filter = "primary=true&\(PhotoPrismLibrary.reviewed)&year=\(numbers.first ?? 0)&month=\(numbers.last ?? 0)"
        let fields = "count=\(Self.mostMembers)&order=oldest&\(filter)"
        return LibraryRequest(address: try library.server.resolving("\(PhotoPrismRules.list)?\(fields)"))
    }

    func makeMemberParser() -> any LibraryParser<LibraryMember> { PhotoPrismMemberParser() }
}

/// The albums of a PhotoPrism server. They are the favorites, all albums, moments and folders that the user may see,
/// all people with names, and the labels.
///
/// On the server, months and places are albums, too. Vitrine leaves them out, because it divides lists into months
/// itself.
private struct PhotoPrismAlbums: LibraryAlbums {
    let server: Address

    var coversAreRevisions: Bool { true }

    /// The maximum number of albums on a page.
    private static let pageSize = 1_000

    func fixedAlbums(isSignedIn: Bool) throws -> [Album] {
        [Album(.favorites, at: try server.resolving("library/favorites"), name: "Favorites")]
    }

    /// Labels and folders come last, because there may be many.
    var lists: [LibraryAlbumList] {
        [
            list(.album, .album, "\(PhotoPrismRules.albums)?type=album&order=favorites"),
            // The server refuses the optional lists to users without the permission.
            list(.moment, .album, "\(PhotoPrismRules.albums)?type=moment&order=newest", isOptional: true),
            list(.person, .person, "\(PhotoPrismRules.people)?type=person&files=1&order=relevance"),
            list(.label, .tag, "\(PhotoPrismRules.labels)?order=slug", isOptional: true),
            list(.folder, .album, "\(PhotoPrismRules.albums)?type=folder&order=name", isOptional: true),
        ]
    }

    private func list(
        _ type: PhotoPrismAlbumParser.Kind, _ kind: Album.Kind, _ path: String, isOptional: Bool = false
    ) -> LibraryAlbumList {
        LibraryAlbumList(
            kind: kind, isOptional: isOptional,
            request: { [server] page in
                let fields = "count=\(Self.pageSize)&offset=\(PhotoPrismLibrary.offset(page))"
                return LibraryRequest(address: try server.resolving("\(path)&\(fields)"))
            },
            makeParser: { [server] page in
                PhotoPrismAlbumParser(
                    type, server: server, offset: PhotoPrismLibrary.offset(page), pageSize: Self.pageSize)
            })
    }
}

/// PhotoPrism's rules for addresses and refusals.
enum PhotoPrismRules {
    /// The path of lists of photos, below the server's address.
    static let list = "api/v1/photos"
    /// The path of the list of months.
    static let months = "api/v1/moments/time"
    /// The path of the server's settings.
    static let settings = "api/v1/config"
    /// The path of lists of albums.
    static let albums = "api/v1/albums"
    /// The path of the list of people.
    static let people = "api/v1/subjects"
    /// The path of the list of labels.
    static let labels = "api/v1/labels"
    /// The path to which a visitor sends the secret of a shared link.
    static let visits = "api/v1/session"

    /// The name that the server's pages give to the passwords of other programs.
    static let secretName = "app password"

    /// Whether the server requires an app password for an address. The server names no scheme.
    static func wantsAppPassword(for address: Address) -> Bool {
        [list, months, albums, people, labels].contains { address.path.hasSuffix("/" + $0) }
    }

    /// Returns the server of a picture whose address lacks its token. Returns nil for other addresses.
    static func server(ofPicture address: Address) -> Address? {
        // Each request for a picture calls this. So it uses no regular expression, which would take long.
        let parts = address.path.split(separator: "/", omittingEmptySubsequences: false)
        let (preview, original) = (Array(parts.suffix(6)), Array(parts.suffix(4)))
        let count: Int
        if preview.starts(with: ["api", "v1", "t"]), parts.count > 6, isHash(preview[3]), preview[4] == "-",
            isSize(preview[5])
        {
            count = preview.count
        } else if original.starts(with: ["api", "v1", "dl"]), parts.count > 4, isHash(original[3]) {
            count = original.count
        } else {
            return nil
        }
        guard let server = try? address.resolving(parts.dropLast(count).joined(separator: "/") + "/"),
            server.origin == address.origin
        else { return nil }
        return server
    }

    private static func isHash(_ text: Substring) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// Whether a text is the name of a preview's size, such as `fit_2048`.
    private static func isSize(_ text: Substring) -> Bool {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isASCII) }
            && parts[0].allSatisfy { $0.isLetter && $0.isLowercase } && parts[1].allSatisfy(\.isNumber)
    }

    /// Returns the address of a picture with its token.
    static func address(of picture: Address, with tokens: PictureTokens.Pair) throws -> Address {
        guard picture.path.contains("/api/v1/t/") else {
            return picture.with(queryOf: try picture.resolving("?t=\(tokens.download)"))
        }
        // The server's own path may contain the placeholder, too.
        let path = picture.path
        guard let place = path.ranges(of: "/\(PhotoPrismPictures.placeholder)/").last else { return picture }
        return try picture.resolving("\(path[..<place.lowerBound])/\(tokens.preview)/\(path[place.upperBound...])")
    }
}
