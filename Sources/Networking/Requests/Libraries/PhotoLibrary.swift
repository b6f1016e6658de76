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

    /// Returns the request for the server's settings; nil if the other requests depend on none.
    func settings() throws -> LibraryRequest?
    /// Returns this library of a server with these settings.
    ///
    /// - Parameter settings: the server's answer to the request for them.
    func with(settings: [UInt8]) throws -> any PhotoLibrary
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
    /// Whether the server answers guests with a list that lacks photos, instead of an error.
    var hidesPhotosFromGuests: Bool { get }
    /// Whether guests see no photos here at all, as with favorites.
    var needsSignIn: Bool { get }
    /// Whether credentials open a session, whose cookie the requests then carry.
    func opensSession(_ signIn: SignIn) -> Bool
    /// Returns the credentials to send; nil for none. They may be the key of a shared link.
    ///
    /// - Parameter entered: the credentials that the user has entered for the server.
    func credentials(entered: SignIn?) -> SignIn?
}

extension PhotoLibrary {
    /// By default, Vitrine cannot list the albums.
    var albums: (any LibraryAlbums)? { nil }
    /// By default, the requests depend on no settings.
    func settings() throws -> LibraryRequest? { nil }
    /// By default, the settings change nothing.
    func with(settings: [UInt8]) throws -> any PhotoLibrary { self }
    /// By default, the server answers guests with an error.
    var hidesPhotosFromGuests: Bool { false }
    /// By default, guests may see photos, or get an error.
    var needsSignIn: Bool { false }
    /// By default, requests carry the credentials themselves.
    func opensSession(_ signIn: SignIn) -> Bool { false }
    /// By default, returns the user's credentials.
    func credentials(entered: SignIn?) -> SignIn? { entered }
}

/// The parts of a library, such as months or albums. Their counts show which parts have changed since the last update.
protocol LibraryParts: Sendable {
    /// Returns the request for the list of parts.
    func list() throws -> LibraryRequest
    /// Creates a parser for the list of parts.
    func makeListParser() -> any LibraryParser<LibraryPart>
    /// The requests for the ids in a part. The value is nil if the server cannot list changed photos, or if a photo can
    /// be in several parts. Then an update reads all pages if any count differs.
    var members: (any LibraryMembers)? { get }
}

/// The requests for the ids in the parts of a library. Each photo is in one part.
protocol LibraryMembers: Sendable {
    /// Returns the request for the ids of everything in a part.
    func members(of part: String) throws -> LibraryRequest
    /// Creates a parser for the ids of everything in a part.
    func makeMemberParser() -> any LibraryParser<LibraryMember>
    /// The favorites, if the server does not report that photos became favorites; otherwise nil. Such a server leaves
    /// out other changes, too. Then an update reads all pages if the favorites differ or a week has passed.
    var favorites: (any PhotoLibrary)? { get }
}

extension LibraryMembers {
    /// By default, the server reports all changes.
    var favorites: (any PhotoLibrary)? { nil }
}

/// A request to a library's server.
struct LibraryRequest: Sendable {
    /// The address to request.
    var address: Address
    /// The JSON to send with a POST; nil for none.
    var json: String?
    /// The XML to send with a PROPFIND; nil for none.
    var xml: String?
    /// The fields of a form to send with a POST; nil for none.
    var form: String?
    /// The credentials of this request; nil for those of the gallery.
    var signIn: SignIn?
    /// Whether the request carries no credentials.
    var isAnonymous = false
    /// The names and values of additional headers.
    var headers: [(name: String, value: String)] = []
}

extension FetchPlan {
    /// Copies the method, the headers and the body of a library request.
    mutating func take(_ request: LibraryRequest) {
        headers += request.headers
        if let xml = request.xml {
            method = .propfind
            body = Array(xml.utf8)
            headers += [("Depth", "1"), ("Content-Type", "application/xml; charset=utf-8")]
            return
        }
        headers.append(("Accept", "application/json"))
        if let json = request.json {
            method = .post
            body = Array(json.utf8)
            headers.append(("Content-Type", "application/json"))
        } else if let form = request.form {
            method = .post
            body = Array(form.utf8)
            headers.append(("Content-Type", "application/x-www-form-urlencoded"))
        }
    }
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
        case .piwigo: PiwigoLibrary(server: server, gallery: gallery)
        case .list, .folder, .web, .webDAV, .nextcloud, .s3, .feed: nil
        }
    }
}

extension Address {
    /// Returns the bytes of a field in the query, as forms write it. Returns nil if the query has no such field.
    func formValue(of name: String) -> [UInt8]? {
        let field = query?.split(separator: "&").first { $0.hasPrefix(name + "=") }
        return field.map { field in
            PercentEncoding.decodedBytes(String(field.dropFirst(name.count + 1).map { $0 == "+" ? " " : $0 }))
        }
    }
}

/// The rules for refusals by photo libraries of all kinds.
enum LibraryRules {
    /// Returns the header for an API key. Returns nil if the address needs no key.
    ///
    /// This applies if the server answers 401 and names no scheme.
    static func keyHeader(for address: Address) -> String? {
        ImmichRules.keyHeader(for: address) ?? PiwigoRules.keyHeader(for: address)
    }
}
