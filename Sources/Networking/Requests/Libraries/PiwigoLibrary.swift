import Cache
import Formats
import Model

/// A Piwigo server's whole gallery, or one of its albums with the albums in it.
struct PiwigoLibrary: PhotoLibrary {
    let server: Address
    private let selection: PiwigoAddress.Selection

    var kind: GalleryKind { .piwigo }

    /// Creates a library.
    ///
    /// - Parameters:
    ///   - server: the address of the server.
    ///   - gallery: the address that the user gave, such as that of an album in a browser.
    init(server: Address, gallery: Address) {
        self.server = server.asFolder
        selection = PiwigoAddress(gallery).selection
    }

    var parts: (any LibraryParts)? { PiwigoAlbums(library: self) }

    /// Returns the request for a page of photos. Piwigo cannot list changed photos only.
    ///
    /// A photo in several albums is listed once.
    func photos(onPage page: String?, changedSince time: Timestamp?) throws -> LibraryRequest {
        // New photos have greater ids, so they come last.
        try request("pwg.categories.getImages", "order=id&per_page=500&page=\(page ?? "0")")
    }

    func makePhotoParser(forPage page: String?) -> any LibraryParser<LibraryPhoto> { PiwigoPhotoParser(server: server) }

    /// Returns a request for something in the selection.
    ///
    /// With an API key, the server ignores all parameters in the address but the first two. So Vitrine sends a form.
    fileprivate func request(_ method: String, _ parameters: String? = nil) throws -> LibraryRequest {
        var fields = ["method=\(method)", "recursive=true"]
        switch selection {
        case .all: break
        case .album(let id): fields.append("cat_id=\(id)")
        case .other: throw FormatError.notAGallery("a Piwigo page that is not a numbered album")
        }
        if let parameters { fields.append(parameters) }
        return LibraryRequest(
            address: try server.resolving("ws.php?format=json&method=\(method)"), form: fields.joined(separator: "&"))
    }

    /// Returns the address of a server's state, which every user may read.
    static func status(of server: Address) throws(AddressError) -> Address {
        try server.resolving("ws.php?format=json&method=pwg.session.getStatus")
    }

    // MARK: - Credentials

    /// The server shows guests the public albums, which may be none.
    var headerForHiddenPhotos: String? { PiwigoRules.keyHeader }

    /// Returns the header with the API key that the user stated as a name and a password.
    ///
    /// An API key consists of an id and a secret, so it can stand in an address.
    func adapted(_ signIn: SignIn) -> SignIn {
        guard case .password(let id, let secret) = signIn, id.hasPrefix("pkid-") else { return signIn }
        return .header(name: PiwigoRules.keyHeader, value: id + ":" + secret)
    }
}

/// The albums of a Piwigo server.
///
/// A photo may be in several albums, so the albums have no lists of ids.
private struct PiwigoAlbums: LibraryParts {
    let library: PiwigoLibrary

    var members: (any LibraryMembers)? { nil }

    func list() throws -> LibraryRequest { try library.request("pwg.categories.getList") }

    func makeListParser() -> any LibraryParser<LibraryPart> { PiwigoAlbumListParser() }
}

/// Piwigo's rules for refusals.
enum PiwigoRules {
    /// The header for an API key. The server reads it only at the address of its programming interface.
    static let keyHeader = "X-PIWIGO-API"

    /// Returns the header for an API key. Returns nil if the address needs no key.
    static func keyHeader(for address: Address) -> String? {
        address.path.hasSuffix("/ws.php") && address.query?.contains("method=pwg.") == true ? keyHeader : nil
    }
}

/// The address of a page that a Piwigo server shows to browsers, such as `/index.php?/category/12-beach/start-15`.
struct PiwigoAddress {
    /// The photos that an address selects.
    enum Selection: Hashable {
        /// All photos that the user may see.
        case all
        /// The photos in the album with this id, and in the albums in it.
        case album(String)
        /// Others, such as the photos with a tag.
        case other
    }

    /// The address of the server, with a slash at its end.
    let server: Address
    /// The photos that the address selects.
    let selection: Selection

    /// The pages of a server. Their addresses begin with that of the server.
    private static var page: Regex<(Substring, Substring, Substring?, Substring?, Substring?)> {
        /(.*?\/)(?:(index|picture)(?:\.php)?(\/.*)?|(categor(?:y|ies)(?:\/.*)?)|[a-z_]+\.php)/
    }

    /// Returns the server that may have a page. Returns nil if the page's address is none of Piwigo's.
    static func server(ofPage page: Address) -> Address? {
        page.path.hasSuffix("/") || page.path.wholeMatch(of: Self.page) != nil ? PiwigoAddress(page).server : nil
    }

    /// Reads an address.
    ///
    /// Some servers write addresses without a question mark or `.php`.
    init(_ address: Address) {
        guard let match = address.path.wholeMatch(of: Self.page) else {
            server = address.server(atPath: address.asFolder.path)
            selection = .all
            return
        }
        server = address.server(atPath: String(match.1))
        let query = address.query.flatMap { $0.hasPrefix("/") ? $0.prefix { $0 != "&" } : nil }
        let names = (query ?? match.3 ?? match.4 ?? "").split(separator: "/").map(String.init)
        // The first name of a picture's page is the picture.
        selection = Self.selection(match.2 == "picture" ? names.dropFirst() : names[...])
    }

    private static func selection(_ names: ArraySlice<String>) -> Selection {
        guard let section = names.first, !isView(section) else { return .all }
        guard section.hasPrefix("categor") else { return .other }
        let albums = names.dropFirst().prefix { !isView($0) }
        guard let album = albums.first else { return .all }
        guard albums.count == 1, let match = album.wholeMatch(of: /([1-9][0-9]{0,17})(?:-.*)?/) else { return .other }
        return .album(String(match.1))
    }

    /// Whether a name only selects the way in which the server shows the photos.
    private static func isView(_ name: String) -> Bool {
        name == "flat" || ["start-", "startcat-", "created-", "posted-"].contains { name.hasPrefix($0) }
    }
}

extension Address {
    /// Returns the address of a server's folder. A path that begins with two slashes would lead to another host, so it
    /// counts as none.
    fileprivate func server(atPath path: String) -> Address {
        guard let server = try? resolving(path), server.origin == origin else { return self }
        return server
    }
}
