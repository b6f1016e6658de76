import Cache
import Formats
import Model
import Numbers

/// A PhotoPrism server's library, or its favorites or an album.
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
        return gallery.path.contains(/\/favorites(\/|$)/) ? .favorites : .all
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

    func photos(onPage page: String?, changedSince time: Timestamp?) throws -> LibraryRequest {
        // The server counts files, so only the main file of each photo is asked for. It is a JPEG or PNG.
        var fields = ["count=\(Self.pageSize)", "offset=\(Self.offset(page))", "order=oldest", "primary=true"]
        switch selection {
        case .all: fields.append(Self.visible)
        case .favorites: fields += [Self.visible, "favorite=true"]
        case .album(let id): fields.append("s=\(id)")
        }
        if let time { fields.append("updated=\(time.iso8601)") }
        return LibraryRequest(address: try server.resolving("\(PhotoPrismRules.list)?\(fields.joined(separator: "&"))"))
    }

    func makePhotoParser(forPage page: String?) -> any LibraryParser<LibraryPhoto> {
        PhotoPrismPhotoParser(server: server, offset: Self.offset(page), pageSize: Self.pageSize)
    }

    private static func offset(_ page: String?) -> Int { page.flatMap { Int(digits: $0, atMost: largestOffset) } ?? 0 }

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

    func makeMemberParser() -> any LibraryParser<String> { PhotoPrismMemberParser() }
}

/// PhotoPrism's rules for addresses and refusals.
enum PhotoPrismRules {
    /// The path of lists of photos, below the server's address.
    static let list = "api/v1/photos"
    /// The path of the list of months.
    static let months = "api/v1/moments/time"

    /// The name that the server's pages give to the passwords of other programs.
    static let secretName = "app password"

    /// Whether the server requires an app password for an address. The server names no scheme.
    static func wantsAppPassword(for address: Address) -> Bool {
        address.path.hasSuffix("/" + list) || address.path.hasSuffix("/" + months)
    }

    /// Returns the server of a picture whose address lacks its token. Returns nil for other addresses.
    static func server(ofPicture address: Address) -> Address? {
        guard
            let match = address.path.wholeMatch(
                of: /(.*\/)api\/v1\/(?:t\/[0-9A-Za-z]+\/-\/[a-z]+_[0-9]+|dl\/[0-9A-Za-z]+)/),
            let server = try? address.resolving(String(match.1)), server.origin == address.origin
        else { return nil }
        return server
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
