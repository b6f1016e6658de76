import Cache
import Formats
import HTTP
import Logging
import Model
import Scheduling
import Session

/// Fetches the albums, people, tags and favorites of a gallery's server. Replaces those in the cache.
///
/// If the user's key does not allow a list, or a list is too long, the request stores the rest and the reason.
public struct AlbumListRequest: NetworkRequest {
    /// The albums of the gallery's server, the target of this request. They have no editions.
    public let identity: RequestIdentity
    /// The address of the server.
    public var address: Address { source.root }
    /// The kind of transfer: a list, on which other requests depend.
    public var kind: TransferKind { .list }
    /// Always true: changes in the cache must never restart this request. The cache stores a failure with the gallery.
    public let hasFailedBefore = true
    private let cache: GalleryCache
    /// The place from which the gallery's list came.
    private let source: ListSource
    private let context: RequestContext

    /// Creates a request for the albums of a gallery's server.
    ///
    /// Returns nil for a wish of another kind, and for a gallery whose server has no albums.
    public static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
        guard case .albums(let gallery) = subject, let cache = context.caches.cache(gallery),
            let source = try cache.read({ try $0.source() }), source.kind.canListAlbums
        else { return nil }
        return Self(identity: RequestIdentity(subject), cache: cache, source: source, context: context)
    }

    /// Reads all lists, and replaces the albums in the cache.
    public func perform(over client: HTTPClient, with permit: TransferPermit) async throws {
        let library = source.library(of: cache.address)
        var reader = LibraryReader(
            server: source.root, library: library, of: cache,
            Publicity(of: cache.address, wasPublic: try cache.read { try $0.gallery() }.wasPublic),
            in: context.sessions, over: client, with: permit)
        // A guest may see fewer albums than the user.
        if source.wasSignedIn, !reader.hasCredentials, let question = reader.question {
            throw RequestError.signIn(question)
        }
        var albums: [Album] = []
        var missing = MissingLists()
        if let server = try await server(library, &reader) {
            for list in server.lists {
                do {
                    let found = try await reader.readAlbums(of: list)
                    albums += found.albums
                    // There may be far more tags than anyone reads, so the user does not miss the rest.
                    if found.isCut, list.kind != .tag { missing.addRest(of: list.kind) }
                } catch RequestError.missingPermission(let permission) {
                    missing.addPermission(permission, of: list.kind)
                } catch RequestError.status(let status, _) where list.isOptional && [400, 403, 404].contains(status) {
                    // This version of the server has no such list, or this user may not see it.
                } catch RequestError.status(403, _) {
                    missing.add(list.kind)
                } catch is FormatError where list.kind == .tag {
                    // Piwigo refuses with the status 200. A refused list of tags must not prevent the list of albums.
                    missing.add(list.kind)
                }
            }
            if source.wasSignedIn, !reader.isSignedIn, let question = reader.question {
                throw RequestError.signIn(question)
            }
            albums = try server.fixedAlbums(isSignedIn: reader.isSignedIn) + albums
            if server.coversAreRevisions { albums = try cache.read { try $0.resolvingCovers(of: albums) } }
            // For a missing list, the albums of the earlier update stay.
            albums += try cache.albums().albums.filter { missing.kinds.contains($0.kind) }
        }
        try Task.checkCancellation()
        var known: Set<Address> = []
        albums = albums.filter { known.insert($0.address).inserted }
        try await cache.writer.replaceAlbums(albums, trouble: missing.trouble, at: context.now())
        context.log.info(.sync, "\(source.root): \(albums.count) albums")
    }

    /// Returns the albums of the server. Returns nil for a shared link, because it has no account.
    private func server(
        _ library: (any PhotoLibrary)?, _ reader: inout LibraryReader
    ) async throws -> (any LibraryAlbums)? {
        if let library { return library.albums }
        guard let server = ServerPlace.pages(for: source.root) else { return nil }
        guard let user = AccountAnswer(json: try await reader.readText(try NextcloudAlbums.account(of: server)))?.id
        else {
            throw RequestError.wrongType("no name of the user")
        }
        return NextcloudAlbums(server: server, user: user)
    }

    /// Shows that the albums are being read.
    public func showStarted() { context.activity.setReadingAlbums(true, of: cache.id) }

    /// Shows that the reading has ended. The cache holds the result.
    public func showDone() { context.activity.setReadingAlbums(false, of: cache.id) }

    /// Records the failure. The albums of the last success stay in the cache.
    public func recordPostponement(_ failure: Failure) async {
        context.log.info(.network, "\(address): the albums: \(failure); will retry")
        await record(failure)
    }

    /// Shows that nothing is being read. The list of failures has the time of the next attempt.
    public func showWaiting(_ failure: Failure, until time: Timestamp?) { showDone() }

    /// Records the failure, and asks the user for credentials if the server requires them.
    public func recordFailure(_ failure: Failure) async {
        context.log.error(.network, "\(address): the albums: \(failure)")
        await record(failure)
        await context.ask(failure.question, afterSaying: cache.signIn(for: source.root), in: cache)
    }

    /// Shows that the user stopped the request.
    public func showCancelled() { showDone() }

    private func record(_ failure: Failure) async {
        do {
            try await cache.writer.recordAlbumTrouble(failure.reason)
        } catch {
            context.log.error(.cache, "\(error)")
        }
    }
}

/// The lists of albums that the server does not show to the user, and the lists that are too long.
private struct MissingLists {
    /// The kinds of albums in the lists that the server does not show.
    private(set) var kinds: Set<Album.Kind> = []
    /// The permissions that the user's key lacks.
    private var permissions: [String] = []
    /// The names of lists that the server refused without a reason. An example is “tags”.
    private var names: [String] = []
    /// The names of lists whose last albums Vitrine left out.
    private var cutNames: [String] = []

    mutating func addPermission(_ permission: String, of kind: Album.Kind) {
        kinds.insert(kind)
        if !permissions.contains(permission) { permissions.append(permission) }
    }

    mutating func add(_ kind: Album.Kind) {
        kinds.insert(kind)
        names.append(Self.name(of: kind))
    }

    /// Records that Vitrine left out the rest of a list.
    mutating func addRest(of kind: Album.Kind) {
        let name = Self.name(of: kind)
        if !cutNames.contains(name) { cutNames.append(name) }
    }

    private static func name(of kind: Album.Kind) -> String {
        kind == .person ? "people" : kind == .tag ? "tags" : "albums"
    }

    /// The reason why lists or albums are missing; nil if none are.
    var trouble: String? {
        let rest =
            cutNames.isEmpty
            ? nil : "the server has more than \(LibraryReader.maximumAlbums) \(Self.joined(cutNames))"
        let reasons = [refusal, rest].compactMap { $0 }
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }

    /// The reason why lists are missing; nil if none are.
    private var refusal: String? {
        switch permissions.count {
        case 0: names.isEmpty ? nil : "the server does not let you see its \(Self.joined(names))"
        case 1: RequestError.missingPermission(permissions[0]).failure.reason
        default: "the API key lacks the permissions \(Self.joined(permissions))"
        }
    }

    /// Returns a text such as `albums, people and tags`.
    private static func joined(_ words: [String]) -> String {
        let beginning = words.dropLast().joined(separator: ", ")
        return beginning.isEmpty ? words.joined() : "\(beginning) and \(words[words.count - 1])"
    }
}
