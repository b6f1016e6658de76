import Formats
import Model

/// The albums, people, tags and favorites of a server.
///
/// To support a kind of server, conform a type and return it from ``PhotoLibrary/albums``. ``AlbumListRequest`` sends
/// the requests and stores the albums.
protocol LibraryAlbums: Sendable {
    /// The address of the server, with a slash at its end.
    var server: Address { get }
    /// The lists to read, in the order of the screen.
    var lists: [LibraryAlbumList] { get }
    /// Whether lists name a cover by its photo's revision, not its id.
    var coversAreRevisions: Bool { get }

    /// Returns the albums that need no request, such as the favorites. They come first.
    ///
    /// - Parameter isSignedIn: whether the server recognizes the user.
    func fixedAlbums(isSignedIn: Bool) throws -> [Album]
}

extension LibraryAlbums {
    /// By default false, because lists name covers by ids.
    var coversAreRevisions: Bool { false }
}

/// A list of albums on a server, with one or more pages.
struct LibraryAlbumList: Sendable {
    /// The kind of albums in the list.
    let kind: Album.Kind
    /// Whether some versions of the server, or some of its users, lack the list.
    var isOptional = false
    /// Returns the request for a page; nil names the first page.
    let request: @Sendable (_ page: String?) throws -> LibraryRequest
    /// Creates a parser for a page; nil names the first page.
    let makeParser: @Sendable (_ page: String?) -> any LibraryParser<Album>
}

/// The albums of Nextcloud's Photos app. They are the user's own albums, and those that others share with the user.
struct NextcloudAlbums: LibraryAlbums {
    let server: Address
    /// The id of the user, which may differ from the name for signing in.
    let user: String

    func fixedAlbums(isSignedIn: Bool) throws -> [Album] { [] }

    var lists: [LibraryAlbumList] {
        [list("albums"), list("sharedalbums", isOptional: true)].compactMap { $0 }
    }

    private func list(_ name: String, isOptional: Bool = false) -> LibraryAlbumList? {
        let folder = "remote.php/dav/photos/\(PercentEncoding.encode(user, keepingEscapes: false))/\(name)/"
        guard let address = try? server.resolving(folder), let pages = try? server.resolving("apps/photos/\(name)/")
        else { return nil }
        return LibraryAlbumList(
            kind: .album, isOptional: isOptional,
            request: { _ in LibraryRequest(address: address, xml: Self.properties) },
            makeParser: { _ in NextcloudAlbumParser(folder: address, pages: pages) })
    }

    private static let properties = """
        <?xml version="1.0"?>
        <propfind xmlns="DAV:" xmlns:nc="http://nextcloud.org/ns"><prop><resourcetype/><nc:nbItems/></prop></propfind>
        """

    /// Returns the request for the facts about the user.
    ///
    /// - Parameter server: the address below which the server has its pages, with a slash at its end.
    static func account(of server: Address) throws -> LibraryRequest {
        LibraryRequest(
            address: try server.resolving(ServerPlace.accountPath + "?format=json"),
            headers: [("OCS-APIRequest", "true")])
    }
}
