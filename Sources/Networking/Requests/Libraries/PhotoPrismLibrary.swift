import Cache
import Formats
import Model
import Numbers

/// A PhotoPrism server's library, or its favorites, an album or a search.
///
/// Months, folders, moments and states of the server's pages are albums, too.
struct PhotoPrismLibrary: PhotoLibrary {
    /// The photos that the gallery's address selects.
    enum Selection: Hashable {
        /// All photos, except those that the server hides from its own page of all photos.
        case all
        /// The photos that the user marked as favorites.
        case favorites
        /// The photos in the album with this id.
        case album(String)
        /// The photos that a search finds, such as those of a person. The text can be part of an address.
        case search(String)
    }

    let server: Address
    private let selection: Selection

    /// The most photos on a page.
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
        selection = Self.selection(gallery)
    }

    private static func selection(_ gallery: Address) -> Selection {
        let album = /\/(?:albums|calendar|folders|moments|states)\/(a[0-9a-z]{6,63})(?:\/|$)/
        if let match = gallery.path.firstMatch(of: album) { return .album(String(match.1)) }
        if let search = search(in: gallery) { return .search(search) }
        return gallery.path.contains(/\/favorites(\/|$)/) ? .favorites : .all
    }

    /// Returns the search in the address of a page, such as `subject:UID` for the photos of a person. Returns nil without
    /// a search.
    private static func search(in page: Address) -> String? {
        guard let text = page.formValue(of: "q") else { return nil }
        return text.allSatisfy { $0 == UInt8(ascii: " ") } ? nil : PercentEncoding.encodeAll(text, except: "")
    }

    /// Returns the server that may have a page. Returns nil for other pages: all pages of the library are below
    /// `library/`, to which the server also redirects.
    static func server(ofPage page: Address) -> Address? {
        guard let range = page.path.firstRange(of: /\/library(?:\/|$)/),
            let server = try? page.resolving(String(page.path[..<range.lowerBound]) + "/"),
            // A path that begins with two slashes leads to another host.
            server.origin == page.origin
        else { return nil }
        return server
    }

    /// The months of the library.
    ///
    /// Albums and favorites have no months. If the user puts a photo into an album, the photo's record does not change.
    var parts: (any LibraryParts)? { selection == .all ? PhotoPrismMonths(server: server) : nil }

    var albums: (any LibraryAlbums)? { PhotoPrismAlbums(server: server) }

    func photos(onPage page: String?, changedSince time: Timestamp?) throws -> LibraryRequest {
        // The server counts files, so only the main file of each photo is asked for. It is a JPEG or PNG.
        var fields = ["count=\(Self.pageSize)", "offset=\(Self.offset(page))", "order=oldest", "primary=true"]
        switch selection {
        case .all: fields.append(Self.visible)
        case .favorites: fields += [Self.visible, "favorite=true"]
        case .album(let id): fields.append("s=\(id)")
        // The server counts all photos of a person, except private ones.
        case .search(let text): fields += ["public=true", "q=\(text)"]
        }
        if let time { fields.append("updated=\(time.iso8601)") }
        return LibraryRequest(address: try server.resolving("\(PhotoPrismRules.list)?\(fields.joined(separator: "&"))"))
    }

    func makePhotoParser(forPage page: String?) -> any LibraryParser<LibraryPhoto> {
        PhotoPrismPhotoParser(server: server, offset: Self.offset(page), pageSize: Self.pageSize)
    }

    fileprivate static func offset(_ page: String?) -> Int {
        page.flatMap { Int(digits: $0, atMost: largestOffset) } ?? 0
    }

    /// A filter for the photos on the server's own page of all photos: no private ones, and none to be reviewed.
    fileprivate static let visible = "public=true&quality=3"
}

/// The months of a PhotoPrism server's library.
private struct PhotoPrismMonths: LibraryParts, LibraryMembers {
    let server: Address

    /// The most photos and videos that the server lists in one answer.
    private static let mostMembers = 100_000

    var members: (any LibraryMembers)? { self }

    func list() throws -> LibraryRequest { LibraryRequest(address: try server.resolving(PhotoPrismRules.months)) }

    func makeListParser() -> any LibraryParser<LibraryPart> { PhotoPrismMonthListParser() }

    func members(of month: String) throws -> LibraryRequest {
        let numbers = month.split(separator: "-").map { Int(digits: $0, atMost: 9_999) ?? 0 }
        let filter = "primary=true&\(PhotoPrismLibrary.visible)&year=\(numbers.first ?? 0)&month=\(numbers.last ?? 0)"
        return LibraryRequest(
            address: try server.resolving("\(PhotoPrismRules.list)?count=\(Self.mostMembers)&order=oldest&\(filter)"))
    }

    func makeMemberParser() -> any LibraryParser<LibraryMember> { PhotoPrismMemberParser() }
}

/// The albums of a PhotoPrism server: the favorites, all albums that the user may see, all people with names, and the labels.
///
/// On the server, months and places are albums, too. Vitrine leaves them out, because it divides lists into months itself.
private struct PhotoPrismAlbums: LibraryAlbums {
    let server: Address

    var coversAreRevisions: Bool { true }

    /// The most albums on a page.
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
    /// The path of lists of albums.
    static let albums = "api/v1/albums"
    /// The path of the list of people.
    static let people = "api/v1/subjects"
    /// The path of the list of labels.
    static let labels = "api/v1/labels"

    /// The name that the server's pages give to the passwords of other programs.
    static let secretName = "app password"

    /// Whether the server requires an app password for an address. The server names no scheme.
    static func wantsAppPassword(for address: Address) -> Bool {
        [list, months, albums, people, labels].contains { address.path.hasSuffix("/" + $0) }
    }

    /// Returns the server of a picture whose address lacks its token. Returns nil for other addresses.
    static func server(ofPicture address: Address) -> Address? {
        // Each picture's request asks this, so a regular expression would take long.
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
