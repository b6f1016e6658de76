import Cache
import Formats
import Model

/// A photo library on a server. The server lists its photos on pages, one after the other.
///
/// A library makes requests, and parsers for their answers. ``LibraryReader`` sends the requests and ``LibraryUpdate``
/// stores the photos. Both work for every kind of server.
protocol PhotoLibrary: Sendable {
    /// The kind of server.
    var kind: GalleryKind { get }
    /// The address of the server, with a slash at its end.
    var server: Address { get }
    /// The parts of the library; nil if the server has none. Then each update reads all pages.
    var parts: (any LibraryParts)? { get }
    /// The albums of the server; nil if Vitrine cannot list them.
    var albums: (any LibraryAlbums)? { get }

    /// Returns the request for a page of photos.
    ///
    /// New photos must come last, so that the other pages stay the same while they are read.
    ///
    /// - Parameters:
    ///   - page: the server's name for the page; nil for the first page.
    ///   - time: the request asks only for photos whose record has changed since this time; nil for all photos.
    func photos(onPage page: String?, changedSince time: Timestamp?) throws -> LibraryRequest
    /// Creates a parser for a page of photos.
    ///
    /// - Parameter page: the page's name; nil for the first page.
    func makePhotoParser(forPage page: String?) -> any LibraryParser<LibraryPhoto>
    /// The credentials that the gallery's address contains; nil if it contains none.
    var signIn: SignIn? { get }
}

extension PhotoLibrary {
    /// Nil, because most addresses contain no credentials.
    var signIn: SignIn? { nil }
    /// By default, Vitrine cannot list the albums.
    var albums: (any LibraryAlbums)? { nil }
}

/// The parts of a library, such as months. Their counts show which parts have lost photos since the last update.
protocol LibraryParts: Sendable {
    /// Returns the request for the list of parts.
    func list() throws -> LibraryRequest
    /// Creates a parser for the list of parts.
    func makeListParser() -> any LibraryParser<LibraryPart>
    /// Returns the request for the ids of everything in a part.
    func members(of part: String) throws -> LibraryRequest
    /// Creates a parser for the ids of everything in a part.
    func makeMemberParser() -> any LibraryParser<LibraryMember>
}

/// A request to a library's server.
struct LibraryRequest: Sendable {
    /// The address to request.
    var address: Address
    /// The JSON to send with a POST; nil for another method.
    var json: String?
    /// The XML to send with a PROPFIND; nil for another method.
    var xml: String?
    /// The names and values of additional headers.
    var headers: [(name: String, value: String)] = []
}

extension ListSource {
    /// Returns the photo library from which a gallery's list came. Returns nil for other places.
    func library(of gallery: Address) -> (any PhotoLibrary)? { kind.library(on: root, for: gallery) }
}

extension GalleryKind {
    /// Returns the photo library of this kind on a server. Returns nil for kinds that are no photo libraries.
    ///
    /// - Parameter gallery: the address that the user gave, which selects photos of the library.
    func library(on server: Address, for gallery: Address) -> (any PhotoLibrary)? {
        switch self {
        case .immich: ImmichLibrary(server: server, gallery: gallery)
        case .photoPrism: PhotoPrismLibrary(server: server, gallery: gallery)
        case .list, .folder, .web, .webDAV, .nextcloud, .s3, .feed: nil
        }
    }
}
