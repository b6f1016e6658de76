import Cache
import Formats
import HTTP
import Model
import Numbers
import Synchronization

/// Finds out, with few requests, what kind of gallery an address holds.
///
/// One request for the address is usually enough. If the answer is a refusal, a few more requests look for a bucket or
/// a WebDAV server. If the answer is a web page without photos, they look for a WebDAV or Nextcloud server or a photo
/// library, all at the same time. The requests for photo libraries carry no credentials.
struct PlaceFinder {
    /// A gallery that an address holds.
    enum Place {
        /// A file that lists the photos, at this address. `beginning` contains the bytes that were already read.
        case list(Response, beginning: [UInt8], at: Address)
        /// Folders of a server, with the answer for the outermost folder if it has arrived.
        case folders(ServerPlace, Response?)
        /// A photo library.
        case library(any PhotoLibrary)

        /// Whether this place may replace the place of the last update. A web page may show an error or a sign-in form.
        /// So it counts only if just the scheme of its address has changed.
        func isSure(after source: ListSource) -> Bool {
            switch self {
            case .list(_, let beginning, _): PlaceFinder.listsPhotos(beginning)
            case .library: true
            case .folders(let place, _):
                place.kind != .web
                    || (source.kind == .web && place.page.path == source.root.path
                        && place.page.scheme != source.root.scheme)
            }
        }
    }

    private let cache: GalleryCache
    /// Whether the gallery's host has had a public address. The requests that follow the search need the note, too.
    let publicity: Publicity
    /// Whether the address held a file that lists the photos, or a feed. Then the address must hold the same again.
    private let wasList: Bool
    /// Whether no update has found out what the address holds.
    private let isNew: Bool
    private let client: HTTPClient

    init(_ cache: GalleryCache, _ record: GalleryRecord, _ source: ListSource?, over client: HTTPClient) {
        (self.cache, self.client) = (cache, client)
        publicity = Publicity(of: cache.address, wasPublic: record.wasPublic)
        isNew = source == nil
        // Older versions of Vitrine stored no source, and read only such files.
        wasList = source.map(\.isFile) ?? (record.lastSuccess != nil)
    }

    /// Whether the beginning of a file shows that the file lists photos.
    private static func listsPhotos(_ beginning: [UInt8]) -> Bool {
        String(decoding: beginning, as: UTF8.self).contains("<photo")
    }

    /// Finds out what the address holds.
    ///
    /// - Parameter plan: the plan of the request for the address itself, or for the known list.
    func find(plan: FetchPlan, with permit: TransferPermit) async throws -> sending Place {
        guard cache.address.scheme != .file, !wasList else {
            return list(try await answer(to: plan, with: permit), beginning: [], at: plan.address)
        }
        if let place = try await publicFolders() { return place }
        if let album = try await album(at: cache.address) { return .folders(album, nil) }
        if cache.address.path.firstMatch(of: ServerPlace.davPath) != nil {
            return try await nextcloudFolders(at: cache.address, with: permit)
        }
        do {
            return try await kind(of: try await answer(to: plan, with: permit), plan)
        } catch RequestError.bucket(let refusal) {
            if let list = try await publishedList(in: cache.address.asFolder, plan) { return list }
            return try await findBucket(after: refusal, to: plan)
        } catch RequestError.status(let status, let retryAfter)
            where [400, 403, 404, 405, 501].contains(status) && !ServerPlace.isPage(cache.address)
        {
            // WebDAV servers without lists for browsers answer with such a status.
            for address in [cache.address, cache.address.secured].compactMap({ $0 }) {
                let place = place(.webDAV, address)
                do {
                    return .folders(place, try await answer(from: place, with: TransferPermit(.list)))
                } catch let error as RequestError where error.wantsSignIn {
                    throw error
                } catch is CancellationError {
                    throw CancellationError()
                } catch {}
            }
            throw RequestError.status(status, retryAfter: retryAfter)
        }
    }

    /// Returns the answer to the request for the address itself, or for the known list.
    ///
    /// Many servers redirect `http` addresses to `https`, and want a password there. A redirected request carries no
    /// credentials, so after such a refusal this method repeats the request at the secure address.
    private func answer(to plan: FetchPlan, with permit: TransferPermit) async throws -> Response {
        var plan = plan
        plan.namesSecuredRefusals = true
        do {
            return try await Response.to(plan, over: client, with: permit)
        } catch let refusal as SecuredRefusal {
            (plan.address, plan.signIn) = (refusal.address, cache.signIn(for: refusal.address))
            plan.isNamedByUser = cache.isNamedByUser(refusal.address)
            return try await Response.to(plan, over: client, with: TransferPermit(.list))
        }
    }

    /// Returns a list at an address, or at its secure address if the server has redirected the request to that address.
    ///
    /// The next update then requests the list where it is. Validators are not sent after a redirect to another origin,
    /// so the server would send the whole list again.
    private func list(_ response: sending Response, beginning: [UInt8], at address: Address) -> sending Place {
        let isSecured = response.address == address.secured
        return .list(response, beginning: beginning, at: isSecured ? response.address : address)
    }

    /// Finds another kind of gallery behind a web site without photos. It is a WebDAV or Nextcloud server, a photo
    /// library or a feed. Returns nil if there is none.
    ///
    /// If there is only a WebDAV server that requires a sign-in, this method throws its question.
    ///
    /// - Parameter feed: the plan of a request for the feed that the page names; nil if it names none.
    func findGallery(behindPageAt page: ServerPlace, feed: FetchPlan?) async throws -> sending Place? {
        // The page may be a sign-in page, at the same server or at its secure address. So use the gallery's own path. A
        // reference that begins with two slashes would lead to another host.
        let address = try page.root.address.resolving(
            "/." + cache.address.path + (cache.address.query.map { "?" + $0 } ?? ""))
        if let album = try await album(at: address) { return .folders(album, nil) }
        let server = place(.webDAV, address)
        async let refusal = refusal(by: server)
        let (nextcloud, folder) = nextcloud(at: address)
        async let isNextcloud = isNextcloud(at: nextcloud)
        async let isImmich = isImmich(at: address)
        let photoPrism = PhotoPrismLibrary.server(ofPage: page.page)
        async let isPhotoPrism = isPhotoPrism(at: photoPrism)
        let piwigo = PiwigoAddress.server(ofPage: page.page)
        async let isPiwigo = isPiwigo(at: piwigo)
        if await isNextcloud {
            guard let folder else {
                throw FormatError.notAGallery("a page of Nextcloud’s Photos app that names no folder and no album")
            }
            if let root = try? nextcloud.resolving("remote.php/webdav/" + folder) {
                return .folders(place(.nextcloud, root), nil)
            }
        }
        if await isPiwigo, let piwigo { return library(.piwigo, on: piwigo) }
        if await isImmich, let root = try? address.resolving("/") { return library(.immich, on: root) }
        if await isPhotoPrism, let photoPrism { return library(.photoPrism, on: photoPrism) }
        guard let reason = await refusal else { return .folders(server, nil) }
        if let list = try await list(ofFeed: feed) { return list }
        // The server may send its list only after a sign-in.
        if let reason = reason as? RequestError, reason.wantsSignIn { throw reason }
        return nil
    }

    /// Returns the list that a feed holds. Returns nil if there is no feed.
    ///
    /// A feed never replaces a gallery that is already known.
    private func list(ofFeed feed: FetchPlan?) async throws -> sending Place? {
        guard isNew, let feed else { return nil }
        do {
            var response = try await Response.to(feed, over: client, with: TransferPermit(.list))
            let beginning = try await response.beginning()
            guard FeedParser.recognises(beginning) || JSONFeedParser.recognises(beginning) else { return nil }
            return .list(response, beginning: beginning, at: feed.address)
        } catch RequestError.status(let status, _) where status == 404 || status == 410 {
            // The page names a feed that is gone.
            return nil
        } catch RequestError.bucket(let refusal) where refusal.status == 404 {
            // The page names a feed in a bucket that is gone.
            return nil
        }
    }

    /// Reads the beginning of an answer and finds out its format.
    private func kind(of answer: sending Response, _ plan: FetchPlan) async throws -> sending Place {
        var response = answer
        guard !response.isUnchanged else { return list(response, beginning: [], at: cache.address) }
        let beginning = try await response.beginning {
            try await self.answer(to: plan.forPage, with: TransferPermit(.list))
        }
        if beginning.isEmpty, response.address.path.hasSuffix("/") {
            // Programs that show buckets as folders put an empty object at a folder's address.
            if let list = try await publishedList(in: response.address, plan) { return list }
            if let bucket = try? await findBucket(after: nil, to: plan) { return bucket }
        }
        guard
            let format = ListingFormat(contentType: response.head.headers["content-type"], beginning: beginning),
            format != .multistatus
        else { return list(response, beginning: beginning, at: cache.address) }
        // Another host answered, for example with the sign-in page of a network.
        guard response.address.host == cache.address.host else {
            throw FormatError.notAGallery("a page of another server")
        }
        if format == .bucket {
            // Such a list comes only from the address of a whole bucket.
            let isInPath = response.address.path != "/"
            guard let bucket = Bucket(response.address, isInPath: isInPath) else {
                return list(response, beginning: beginning, at: cache.address)
            }
            return try await publishedList(in: bucket.root, plan) ?? .folders(place(.s3, try bucket.list()), nil)
        }
        response.putBack(beginning)
        return .folders(place(.web, response.address), response)
    }

    /// Returns the gallery file in a bucket's folder, such as one from ``GalleryUpload``. Returns nil if there is none.
    ///
    /// The service may send the file to everyone and still refuse to list the folder.
    private func publishedList(in folder: Address, _ plan: FetchPlan) async throws -> sending Place? {
        guard !ServerPlace.isPage(cache.address) else { return nil }
        var plan = plan
        plan.address = try folder.resolving(BucketParser.galleryFile)
        // After a redirect, the folder may be on another server, which must not get the plan's credentials.
        plan.signIn = cache.signIn(for: plan.address)
        plan.isNamedByUser = cache.isNamedByUser(plan.address)
        do {
            var response = try await Response.to(plan, over: client, with: TransferPermit(.list))
            let beginning = try await response.beginning()
            // Some services answer with a page instead of an error.
            return Self.listsPhotos(beginning) ? .list(response, beginning: beginning, at: plan.address) : nil
        } catch is CancellationError {
            throw CancellationError()
        } catch  where RequestError(error).failure.isTemporary {
            // The file may be there, and its thumbnails must not become photos.
            throw error
        } catch {
            return nil
        }
    }

    /// Returns the gallery file in a known bucket, or the bucket's folders if the file lists no photos.
    ///
    /// - Parameter list: the address of the bucket's list.
    func findGallery(inBucket list: Address, _ plan: FetchPlan) async throws -> sending Place {
        let bucket = place(.s3, list)
        return try await publishedList(in: bucket.root.address, plan) ?? .folders(bucket, nil)
    }

    /// Finds the bucket at an address that a storage service refused.
    ///
    /// The service may have no object at the address, or may refuse to send it.
    ///
    /// - Parameter refusal: the refusal; nil if the service has an empty object at the address.
    private func findBucket(after refusal: BucketRefusal?, to plan: FetchPlan) async throws -> sending Place {
        let reason =
            refusal?.error(at: cache.address, after: plan.signIn, .asked(isOfBucket: true))
            ?? RequestError.wrongType("an empty file")
        // The address may be that of an object, such as a file that lists photos.
        if ServerPlace.isPage(cache.address) {
            throw reason
        }
        let isInHost = AmazonHost(cache.address.host)?.hasBucket
        // The bucket may be in another region of Amazon.
        let address = (refusal?.region).flatMap { cache.address.moved(toRegion: $0) } ?? cache.address
        var failure: RequestError?
        for isInPath in isInHost.map({ [!$0] }) ?? [true, false] {
            guard let bucket = Bucket(address, isInPath: isInPath), let list = try? bucket.list() else { continue }
            let place = place(.s3, list)
            do {
                var response = try await answer(from: place, with: TransferPermit(.list))
                let beginning = try await response.beginning()
                guard BucketParser.recognises(beginning) else { continue }
                // A key that the first requests did not have may open the gallery file, too.
                if plan.signIn == nil, cache.signIn(for: place.root.address) != nil,
                    let published = try await publishedList(in: place.root.address, plan)
                {
                    return published
                }
                response.putBack(beginning)
                return .folders(place, response)
            } catch let error as RequestError {
                // The first form is more likely, so report its error.
                failure = failure ?? error
                guard case .bucket(let refusal) = error, refusal.status == 404 else { throw failure ?? error }
            }
        }
        throw failure ?? reason
    }

    /// Returns the folders of a public share or album on a Nextcloud or ownCloud server. Returns nil if the address is
    /// not the link of one.
    private func publicFolders() async throws -> sending Place? {
        let page = /(.*?)(?:\/index\.php)?\/(s|apps\/photos\/public)\/([A-Za-z0-9-]{1,64})\/?/
        guard let match = cache.address.path.wholeMatch(of: page),
            let server = try? cache.address.resolving("\(match.1)/"),
            // A path that begins with two slashes leads to another host.
            server.origin == cache.address.origin
        else { return nil }
        // A public album has no password.
        guard match.2 == "s" else { return try? await folders("remote.php/dav/photospublic/\(match.3)/", of: server) }
        if let place = try await sharedFolders("public.php/dav/files/\(match.3)/", of: server) { return place }
        // An address typed without a scheme begins with http, which the server may redirect.
        for server in [server, server.secured].compactMap(\.self) {
            guard await isOwnCloud(at: server) else { continue }
            return try await sharedFolders("remote.php/dav/public-files/\(match.3)/", of: server)
        }
        return nil
    }

    private func folders(_ path: String, of server: Address) async throws -> sending Place {
        try await nextcloudFolders(at: try server.resolving(path), with: TransferPermit(.list))
    }

    /// Returns the folders of a share, which may have a password. Returns nil if the server, which may be of another
    /// kind, has no folder there.
    private func sharedFolders(_ path: String, of server: Address) async throws -> sending Place? {
        do {
            return try await folders(path, of: server)
        } catch let error as RequestError where error.wantsSignIn {
            throw error
        } catch {
            return nil
        }
    }

    /// Returns the folders of a Nextcloud server at an address, or at its secure address.
    ///
    /// Many servers redirect `http` addresses to `https`. The client follows such a redirect only for a GET, but this
    /// request is a PROPFIND.
    private func nextcloudFolders(at root: Address, with permit: TransferPermit) async throws -> sending Place {
        do {
            let place = place(.nextcloud, root)
            return .folders(place, try await answer(from: place, with: permit))
        } catch HTTPError.forbiddenRedirect {
            guard let secured = root.secured else { throw HTTPError.forbiddenRedirect }
            let place = place(.nextcloud, secured)
            return .folders(place, try await answer(from: place, with: permit))
        }
    }

    /// Returns the album of Nextcloud's Photos app that a web page shows. Returns nil if the address is not such a
    /// page.
    ///
    /// Albums lie below the user's id, which may differ from the name that the user signs in with.
    private func album(at address: Address) async throws -> ServerPlace? {
        let page = /(.*?)(?:\/index\.php)?\/apps\/photos\/((?:shared)?albums)\/(?:.*\/)?([^\/]+)\/?/
        guard let match = address.path.wholeMatch(of: page), let server = try? address.resolving("\(match.1)/"),
            // A path that begins with two slashes leads to another host.
            server.origin == address.origin,
            let account = try? NextcloudAlbums.account(of: server)
        else { return nil }
        var reader = LibraryReader(
            server: server, of: cache, publicity, over: client, with: TransferPermit(.list))
        do {
            guard let user = AccountAnswer(json: try await reader.readText(account))?.id else { return nil }
            let folder = PercentEncoding.encode(user, keepingEscapes: false)
            return place(.nextcloud, try server.resolving("remote.php/dav/photos/\(folder)/\(match.2)/\(match.3)/"))
        } catch let error as RequestError where error.wantsSignIn {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // A server of another kind has this address.
            return nil
        }
    }

    /// Returns the Nextcloud server and folder that an address may name. The folder is nil for pages that show neither
    /// a folder nor all photos.
    ///
    /// Browsers show addresses such as `/apps/files/files/7?dir=/Photos` and `/apps/photos/folders/Photos`.
    private func nextcloud(at address: Address) -> (server: Address, folder: String?) {
        guard let match = address.path.wholeMatch(of: /(.*?)\/(?:index\.php|apps\/[a-z]+|login)(?:\/.*)?/),
            let server = try? address.resolving(match.1 + "/"),
            // A path that begins with two slashes leads to another host.
            server.origin == address.origin
        else { return (address.asFolder, "") }
        if let page = address.path.wholeMatch(of: /.*?\/apps\/photos\/(?:folders(?:\/|$)(.*)|(?!photos\/?$).+)/) {
            return (server, page.1.map(String.init))
        }
        let field = address.query?.split(separator: "&").first { $0.hasPrefix("dir=") }?.dropFirst("dir=".count) ?? ""
        let path = PercentEncoding.decodedBytes(String(field.map { $0 == "+" ? " " : $0 }))
            .drop { $0 == UInt8(ascii: "/") }
        return (server, PercentEncoding.encode(path, keepingEscapes: false, also: "/"))
    }

    private func place(_ kind: GalleryKind, _ root: Address) -> ServerPlace {
        ServerPlace(kind, at: root, of: cache, publicity)
    }

    /// Returns the answer to a request for the outermost folder.
    private func answer(from place: ServerPlace, with permit: TransferPermit) async throws -> Response {
        try await Response.to(try place.plan(for: []), over: client, with: permit)
    }

    /// Returns the error of a request for the outermost folder. Returns nil if the server sends its list.
    private func refusal(by place: ServerPlace) async -> (any Error)? {
        do {
            _ = try await answer(from: place, with: TransferPermit(.list))
            return nil
        } catch {
            return error
        }
    }

    /// Whether a Nextcloud or ownCloud server answers below an address.
    private func isNextcloud(at address: Address) async -> Bool { await cloudStatus(at: address) != nil }

    /// Whether an ownCloud server answers below an address. The names of servers are the choice of their operators, but
    /// only Nextcloud states whether it has extended support.
    private func isOwnCloud(at address: Address) async -> Bool {
        await cloudStatus(at: address)?.contains("\"extendedSupport\"") == false
    }

    /// Returns the status of a Nextcloud or ownCloud server below an address. Returns nil if there is none.
    private func cloudStatus(at address: Address) async -> String? {
        guard let text = await text(at: try? address.resolving("status.php")),
            text.contains("\"installed\":true"), text.contains("\"productname\"")
        else { return nil }
        return text
    }

    private func library(_ kind: GalleryKind, on server: Address) -> Place? {
        kind.library(on: server, for: cache.address).map { .library($0) }
    }

    /// Whether the host of an address reports a version as Immich does. Vitrine does not ask for `.well-known/immich`,
    /// because some proxies answer for it themselves.
    private func isImmich(at address: Address) async -> Bool {
        guard let text = await text(at: try? address.resolving("/api/server/version")) else { return false }
        return text.hasPrefix("{") && ["major", "minor", "patch"].allSatisfy { text.contains("\"\($0)\":") }
    }

    /// Whether a PhotoPrism server answers at an address. Its settings may be long, but begin with the program's name.
    private func isPhotoPrism(at server: Address?) async -> Bool {
        guard let text = await text(at: try? server?.resolving(PhotoPrismRules.settings), isLong: true) else {
            return false
        }
        return text.contains(/^\s*\{[^{}]*"(?:name|about)"\s*:\s*"PhotoPrism/)
    }

    /// Whether a Piwigo server answers below an address.
    private func isPiwigo(at server: Address?) async -> Bool {
        guard let text = await text(at: try? server.map { try PiwigoLibrary.status(of: $0) }) else { return false }
        return text.contains(/"stat"\s*:\s*"ok"/) && text.contains("\"username\"")
            && text.contains("\"current_datetime\"")
    }

    /// Returns the text at an address. Sends no credentials. Returns nil if there is none.
    ///
    /// - Parameter isLong: whether the text may be long. Then only its beginning is read.
    private func text(at address: Address?, isLong: Bool = false) async -> String? {
        guard let address else { return nil }
        var plan = FetchPlan(
            address: address, limit: isLong ? 1 << 24 : 1 << 16, addressPolicy: cache.listAddressPolicy)
        plan.publicity = publicity
        guard var response = try? await Response.to(plan, over: client, with: TransferPermit(.list)),
            response.address.origin == address.origin,
            let bytes = try? await (isLong ? response.beginning() : response.allBytes())
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The photo libraries that were found and then asked for a sign-in.
///
/// The cache knows a library only after its first update. Without this record, the search would begin anew after the
/// sign-in.
final class LockedLibraries: Sendable {
    private let libraries = Mutex<[GalleryID: any PhotoLibrary]>([:])

    /// The library of a gallery. The value is nil if the library was not found yet, or has been read.
    subscript(gallery: GalleryID) -> (any PhotoLibrary)? {
        get { libraries.withLock { $0[gallery] } }
        set { libraries.withLock { $0[gallery] = newValue } }
    }
}

extension ListSource {
    /// Whether the list is one file: a gallery file or a feed.
    var isFile: Bool { kind == .list || kind == .feed }
}

extension GalleryKind {
    /// Whether the gallery consists of folders on a server.
    var isServer: Bool {
        switch self {
        case .web, .webDAV, .nextcloud, .s3: true
        case .list, .folder, .immich, .photoPrism, .piwigo, .feed: false
        }
    }
}

extension Address {
    /// The address with `https`, to which many servers redirect. The value is nil if the address already has `https`,
    /// or has a port.
    var secured: Address? {
        guard scheme == .http, port == nil else { return nil }
        return try? Address("https" + text.dropFirst("http".count))
    }
}
