import Cache
import Formats
import Model

/// The photos of a Piwigo server that an address selects. They are the whole gallery, the user's favorites, the photos
/// with a tag, or an album with the albums in it.
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

    /// The albums as parts of the gallery; nil for favorites and tags.
    var parts: (any LibraryParts)? {
        switch selection {
        case .favorites, .tag: nil
        case .all, .album, .other: PiwigoAlbums(library: self)
        }
    }

    var albums: (any LibraryAlbums)? { PiwigoAlbums(library: Self(server: server, gallery: server)) }

    /// Returns the request for a page of photos. Piwigo cannot list changed photos only.
    ///
    /// A photo in several albums is listed once.
    func photos(onPage page: String?, changedSince time: Timestamp?) throws -> LibraryRequest {
        // New photos have greater ids, so they come last.
        let fields = "order=id&per_page=500&page=\(page ?? "0")"
        return switch selection {
        case .favorites: try request("pwg.users.favorites.getList", [fields])
        case .tag(let id): try request("pwg.tags.getImages", ["tag_id=\(id)", fields])
        case .all, .album, .other: try request("pwg.categories.getImages", selected() + [fields])
        }
    }

    func makePhotoParser(forPage page: String?) -> any LibraryParser<LibraryPhoto> {
        switch selection {
        case .favorites: PiwigoPhotoParser(server: server, total: .ofFavorites)
        case .tag: PiwigoPhotoParser(server: server, total: .unreliable)
        case .all, .album, .other: PiwigoPhotoParser(server: server)
        }
    }

    /// Returns a request.
    ///
    /// With an API key, the server ignores all parameters in the address but the first two. So Vitrine sends a form.
    fileprivate func request(_ method: String, _ fields: [String]) throws -> LibraryRequest {
        LibraryRequest(
            address: try server.resolving("ws.php?format=json&method=\(method)"),
            form: (["method=\(method)"] + fields).joined(separator: "&"))
    }

    /// Returns the fields of a request that select albums.
    fileprivate func selected() throws -> [String] {
        switch selection {
        case .all, .favorites, .tag: ["recursive=true"]
        case .album(let id): ["recursive=true", "cat_id=\(id)"]
        case .other: throw FormatError.notAGallery("a Piwigo page without a numbered album or tag")
        }
    }

    /// Returns the address of a server's state, which every user may read.
    static func status(of server: Address) throws(AddressError) -> Address {
        try server.resolving("ws.php?format=json&method=pwg.session.getStatus")
    }

    // MARK: - Credentials

    /// True, because guests see only the public albums. There may be none.
    var hidesPhotosFromGuests: Bool { true }

    /// Whether the address selects the favorites, which guests do not have.
    var needsSignIn: Bool { selection == .favorites }

    /// Returns a header if the user entered an API key. The user enters a key as a name and a password. Returns other
    /// credentials unchanged.
    func credentials(entered: SignIn?) -> SignIn? {
        guard case .password(let id, let secret) = entered, PiwigoRules.isKey(id) else { return entered }
        return .header(name: PiwigoRules.keyHeader, value: secret.isEmpty ? id : id + ":" + secret)
    }

    func opensSession(_ signIn: SignIn) -> Bool { PiwigoRules.opensSession(signIn) }
}

/// The albums of a Piwigo server, or those in one album.
///
/// A photo may be in several albums, so the albums have no lists of ids.
private struct PiwigoAlbums: LibraryParts, LibraryAlbums {
    let library: PiwigoLibrary

    var server: Address { library.server }

    var members: (any LibraryMembers)? { nil }

    func list() throws -> LibraryRequest { try library.request("pwg.categories.getList", library.selected()) }

    func makeListParser() -> any LibraryParser<LibraryPart> { PiwigoAlbumListParser() }

    func fixedAlbums(isSignedIn: Bool) throws -> [Album] {
        isSignedIn ? [Album(.favorites, at: try server.resolving("index.php?/favorites"), name: "Favorites")] : []
    }

    /// Each list has one page. The server puts the names of the outer albums before that of an album.
    var lists: [LibraryAlbumList] {
        [
            LibraryAlbumList(
                kind: .album,
                request: { [library] _ in
                    try library.request("pwg.categories.getList", library.selected() + ["fullname=true"])
                },
                makeParser: { [server] _ in PiwigoAlbumParser(.album, server: server) }),
            LibraryAlbumList(
                kind: .tag,
                request: { [library] _ in try library.request("pwg.tags.getList", []) },
                makeParser: { [server] _ in PiwigoAlbumParser(.tag, server: server) }),
        ]
    }
}

/// Piwigo's rules for refusals.
enum PiwigoRules {
    /// The header for an API key. The server reads it only at the address of its programming interface.
    static let keyHeader = "X-PIWIGO-API"

    /// Returns the header for an API key. Returns nil if the address needs no key.
    static func keyHeader(for address: Address) -> String? {
        address.path.hasSuffix("/ws.php") && address.query?.contains("method=pwg.") == true ? keyHeader : nil
    }

    /// The schemes of a question at an address that needs a key. A name and a password are as good as a key.
    static let schemes: Set<String> = ["basic"]

    /// Returns the question for a name and a password, or for an API key.
    static func question(at origin: Origin, wasRefused: Bool) -> SignInQuestion {
        SignInQuestion(origin: origin, keyHeader: keyHeader, schemes: schemes, wasRefused: wasRefused)
    }

    /// Whether a name is the id of an API key. The secret may follow after a colon.
    static func isKey(_ name: String) -> Bool { name.hasPrefix("pkid-") }

    /// Whether credentials are a name and a password, which open a session. An API key needs no session.
    static func opensSession(_ signIn: SignIn?) -> Bool {
        if case .password(let user, _)? = signIn { !isKey(user) } else { false }
    }

    /// Returns the server of an original that only permitted users may fetch. Returns nil for other addresses.
    static func server(ofOriginal address: Address) -> Address? {
        let page = "action.php"
        guard address.path.hasSuffix("/" + page),
            let server = try? address.resolving(String(address.path.dropLast(page.count))),
            server.origin == address.origin
        else { return nil }
        return server
    }

    /// Returns the cookies of an answer in the form for requests. Returns nil if there are none.
    ///
    /// - Parameter header: the values of the headers `Set-Cookie`, one a line. Of two cookies with the same name, the
    ///   last one counts.
    static func cookie(_ header: String) -> String? {
        var cookies: [(name: Substring, value: Substring)] = []
        for line in header.split(separator: "\n") {
            guard let match = line.prefixMatch(of: /([!#-'*+.0-9A-Z^-z|~-]+)=([!#-+.-:<-\[\]-~-]+)(?:;|$)/) else {
                continue
            }
            cookies.removeAll { $0.name == match.1 }
            // With this value, the server removes a cookie.
            if match.2 != "deleted" { cookies.append((match.1, match.2)) }
        }
        let text = cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
        return text.isEmpty || text.utf8.count > longestCookie ? nil : text
    }

    private static let longestCookie = 4_096
}

/// The address of a page that a Piwigo server shows to browsers, such as `/index.php?/category/12-beach/start-15`.
struct PiwigoAddress {
    /// The photos that an address selects.
    enum Selection: Hashable {
        /// All photos that the user may see.
        case all
        /// The photos in the album with this id, and in the albums in it.
        case album(String)
        /// The photos that the user marked as favorites.
        case favorites
        /// The photos with the tag that has this id.
        case tag(String)
        /// Another selection, such as the photos with two tags.
        case other
    }

    /// The address of the server, with a slash at its end.
    let server: Address
    /// The photos that the address selects.
    let selection: Selection

    /// Matches the path of a page. The first group is the path of the server.
    private static var page: Regex<(Substring, Substring, Substring?, Substring?, Substring?)> {
        /(.*?\/)(?:(index|picture)(?:\.php)?(\/.*)?|(categor(?:y|ies)(?:\/.*)?|tags\/[1-9][^\/]*(?:\/(?:start|created|posted)-[^\/]*)*)|[a-z_]+\.php)/
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
        if section == "favorites" { return .favorites }
        let isTag = section == "tags"
        guard isTag || section.hasPrefix("categor") else { return .other }
        let parts = names.dropFirst().prefix { !isView($0) }
        guard let part = parts.first else { return isTag ? .other : .all }
        guard parts.count == 1, let match = part.wholeMatch(of: /([1-9][0-9]{0,17})(?:-.*)?/) else { return .other }
        return isTag ? .tag(String(match.1)) : .album(String(match.1))
    }

    /// Whether a name only selects the way in which the server shows the photos.
    private static func isView(_ name: String) -> Bool {
        name == "flat" || ["start-", "startcat-", "created-", "posted-"].contains { name.hasPrefix($0) }
    }
}

extension Address {
    /// Returns the address of a server's folder. A path that begins with two slashes would lead to another host. The
    /// method then returns this address.
    fileprivate func server(atPath path: String) -> Address {
        guard let server = try? resolving(path), server.origin == origin else { return self }
        return server
    }
}
