import Cache
import Formats
import HTTP
import Model
import Numbers

/// Fetches and parses the list of one folder on a server. Passes the photos to a comparer, which finds the changes.
struct ServerFolderReader: Sendable {
    /// The result of reading a folder.
    enum Outcome: Sendable {
        /// The folder was read whole. The number counts all photos of the gallery so far.
        case read(Contents, count: Int)
        /// The folder has not changed since the last update.
        case unchanged(ServerFolder, HTTPResponse)
        /// The folder was removed.
        case missing(ServerFolder)
        /// The folder cannot be read, but other folders may be readable.
        case unreadable(ServerFolder, Failure)
        /// The server is too busy, and may answer later.
        case refused(ServerFolder, RequestError)
        case failed(any Error)
    }

    /// The contents of a folder, except for its photos.
    struct Contents: Sendable {
        let folder: ServerFolder
        let head: HTTPResponse
        fileprivate(set) var subfolders: [ListedSubfolder] = []
        fileprivate(set) var validators = Validators()
        fileprivate(set) var fileCount = 0
        fileprivate var caddyEntryCount = 0
        /// A digest of all names and revisions. Folders with the same contents have the same digest.
        fileprivate(set) var signature = 0
        fileprivate var hasParentLink = false
        /// The feed that a web page names first; nil if it names none.
        fileprivate(set) var feed: Address?
        /// Whether a bucket's folder contains a published gallery's list.
        fileprivate(set) var hasGalleryFile = false

        /// Whether the server may have left out entries.
        ///
        /// Caddy reads 10,000 entries of a folder, in the order of the disk, and does not say that there are more. It
        /// lists fewer if it hides some of them.
        var mayBeCut: Bool { (9_990...10_000).contains(caddyEntryCount) }
    }

    /// The server.
    let place: ServerPlace
    /// The validators of the last update, by the folder's path.
    let known: [[UInt8]: Validators]
    private let comparer: ListComparer
    private let client: HTTPClient
    /// The permit of the update, which learns of refusals.
    private let permit: TransferPermit
    private let digest: EntryDigest
    private let clock: any NetworkClock

    init(
        _ place: ServerPlace, _ comparer: ListComparer, _ client: HTTPClient, _ permit: TransferPermit,
        _ known: [[UInt8]: Validators], _ clock: any NetworkClock
    ) {
        (self.place, self.comparer, self.client, self.known) = (place, comparer, client, known)
        (self.permit, self.clock) = (permit, clock)
        digest = EntryDigest(base: place.root.address)
    }

    /// Requests and reads the list of a folder.
    func read(_ folder: ServerFolder) async -> Outcome {
        do {
            let permit = folder.path.isEmpty ? permit : TransferPermit(.list)
            return await read(try await Response.to(try plan(for: folder), over: client, with: permit), of: folder)
        } catch {
            return outcome(error, of: folder)
        }
    }

    /// Returns the plan of the request for the list of a folder.
    private func plan(for folder: ServerFolder) throws -> FetchPlan {
        try place.plan(for: folder.path, validators: known[folder.path] ?? Validators())
    }

    /// Reads the list of a folder from an answer.
    func read(_ response: sending Response, of folder: ServerFolder) async -> Outcome {
        var response = response
        do {
            if place.kind == .web {
                response.putBack(
                    try await response.beginning {
                        try await Response.to(try plan(for: folder).forPage, over: client, with: TransferPermit(.list))
                    })
            }
            // The gallery's first request allowed more bytes, because the answer could have been a gallery file.
            response.limit(to: ServerPlace.limit)
            // A redirect may lead to a sign-in page or an error page.
            guard try place.isAddress(response.address, of: folder.path) else {
                throw RequestError.wrongType("a page other than the folder’s list")
            }
            guard !response.isUnchanged else { return .unchanged(folder, response.head) }
            return try await parse(&response, of: folder)
        } catch {
            return outcome(error, of: folder)
        }
    }

    /// Decides how an error of one folder affects the update.
    private func outcome(_ error: any Error, of folder: ServerFolder) -> Outcome {
        guard !folder.path.isEmpty else { return .failed(error) }
        switch error {
        case RequestError.status(404, _) where !folder.isListed, RequestError.status(410, _): return .missing(folder)
        case let error as RequestError where error.isRefusalOfBusyServer:
            permit.recordRefusal(error)
            return .refused(folder, error)
        case RequestError.status, RequestError.bucket, RequestError.wrongType, RequestError.signIn,
            RequestError.unknownSignIn, is FormatError:
            return .unreadable(folder, RequestError(error).failure)
        default: return .failed(error)
        }
    }

    /// Requests a later page of a folder. Tries again while the server is busy, because otherwise all earlier pages
    /// would be requested again.
    private func laterPage(_ plan: FetchPlan) async throws -> Response {
        var patience = Patience()
        while true {
            do {
                return try await Response.to(plan, over: client, with: TransferPermit(.list))
            } catch let error as RequestError where error.isRefusalOfBusyServer {
                permit.recordRefusal(error)
                try await clock.sleep(until: clock.now + patience.delay(after: error))
            }
        }
    }

    private func parse(_ response: inout Response, of folder: ServerFolder) async throws -> Outcome {
        let listed = try place.folder(of: folder.path)
        let beginning = try await response.beginning()
        if place.kind == .web, !folder.path.isEmpty, Self.isNull(response.head, beginning) {
            return .read(Contents(folder: folder, head: response.head, validators: Self.validators(response)), count: 0)
        }
        guard let format = ListingFormat(contentType: response.head.headers["content-type"], beginning: beginning),
            Self.isFormat(format, of: place.kind)
        else { throw FormatError.notAGallery("a document other than a folder’s list") }
        func makeParser() -> any ListingParser {
            format.makeParser(
                for: listed, previews: place.previews(in: listed), prefix: (place.bucket?.prefix ?? []) + folder.path)
        }
        var parser = makeParser()
        var contents = Contents(folder: folder, head: response.head, validators: Self.validators(response))
        if place.kind != .web { contents.validators = Validators(etag: folder.etag) }
        var count = 0
        var livePhotos = LivePhotoFilter()
        let isAlbum = place.kind == .nextcloud && ServerPlace.isAlbum(listed.address)
        func take(_ found: ListingPiece) async throws {
            var piece = found
            if isAlbum { for index in piece.files.indices { piece.files[index].hideAlbumNumber() } }
            contents.add(piece, digest)
            try await comparer.skip(piece.skipped)
            if place.kind != .web, let etag = piece.etag { contents.validators = Validators(etag: etag) }
            try await add(livePhotos.filter(piece.files))
        }
        func add(_ files: [ListedFile]) async throws {
            guard !files.isEmpty else { return }
            count = try await comparer.add(FolderListing(files, in: folder.path, at: listed, digest))
        }
        var bytes: [UInt8]? = beginning
        var ending: [UInt8] = []
        while let piece = bytes {
            try await take(try parser.parse(piece))
            ending = (ending + piece).suffix(Self.endingLength)
            bytes = try await response.nextBytes()
        }
        var last = try parser.finish()
        var pages = PageLimit()
        while let token = last.nextPage {
            guard pages.allows(token, isEmpty: last.files.isEmpty && last.folders.isEmpty) else {
                throw RequestError.transfer(.malformed("its pages never end"))
            }
            let plan = try place.plan(for: folder.path, page: token)
            // The server works on the next page while this one is compared.
            async let next = laterPage(plan)
            try await take(last)
            // The folder cannot be read again in this update, because its first photos were already added.
            var page: Response
            do { page = try await next } catch { return .failed(error) }
            guard page.address == plan.address else {
                throw RequestError.wrongType("a page other than the folder’s list")
            }
            parser = makeParser()
            while let bytes = try await page.nextBytes() { try await take(try parser.parse(bytes)) }
            last = try parser.finish()
        }
        try await take(last)
        try await add(livePhotos.finish())
        if format == .html, Self.isCut(response.head, beginning, ending) { throw RequestError.transfer(.cut) }
        // An emptied folder still has a link to the folder around it. The page of an error has none.
        if format == .html, contents.isEmpty, !contents.hasParentLink, !folder.path.isEmpty,
            !Self.isEmptyList(beginning)
        {
            throw RequestError.wrongType("a page without a list")
        }
        // The list of the next update may have other entries, so it must not count as unchanged.
        if contents.mayBeCut { contents.validators = Validators() }
        return .read(contents, count: count)
    }

    /// Returns the validators of a folder's list that show every later change.
    ///
    /// A file may still change within the second of the list. If the date of a file is in the future, Caddy calls the
    /// folder unchanged until then. So a date alone is a validator only if it is older than the answer.
    private static func validators(_ response: Response) -> Validators {
        var validators = response.validators
        let isOld = response.head.secondsSinceChange.map { $0 >= 2 } ?? false
        if validators.etag == nil, !isOld { validators.lastModified = nil }
        return validators
    }

    /// Whether servers of this kind list folders in this format.
    private static func isFormat(_ format: ListingFormat, of kind: GalleryKind) -> Bool {
        switch kind {
        case .s3: format == .bucket
        case .webDAV, .nextcloud: format == .multistatus
        case .web, .list, .folder, .immich, .photoPrism, .piwigo, .feed: format != .multistatus && format != .bucket
        }
    }

    /// Whether an answer is the JSON value `null`. Caddy before version 2.11.7 sends it for an empty folder.
    private static func isNull(_ head: HTTPResponse, _ beginning: [UInt8]) -> Bool {
        // Longer answers are not complete yet.
        guard ListingFormat.mediaType(head.headers["content-type"]) == "application/json",
            beginning.count < ListingFormat.beginningLength
        else { return false }
        return String(decoding: beginning, as: UTF8.self).split(whereSeparator: \.isWhitespace) == ["null"]
    }

    /// Whether a page without entries is a list of Python's `http.server` or of Go's `http.FileServer`. These servers
    /// never link to the parent folder.
    private static func isEmptyList(_ page: [UInt8]) -> Bool {
        let text = String(decoding: page, as: UTF8.self)
        let listOfGo = /(?:<!doctype html>\s*)?(?:<meta [^>]*>\s*)?<pre>\s*<\/pre>\s*/.ignoresCase()
        return text.contains("<title>Directory listing for ") || text.wholeMatch(of: listOfGo) != nil
    }

    /// Whether a page ends too early in an answer whose end only the end of the connection shows.
    private static func isCut(_ head: HTTPResponse, _ beginning: [UInt8], _ ending: [UInt8]) -> Bool {
        guard head.isHTTP1, head.headers["content-length"] == nil, head.headers["transfer-encoding"] == nil else {
            return false
        }
        func contains(_ tag: String, in bytes: [UInt8]) -> Bool {
            String(decoding: bytes, as: UTF8.self).lowercased().contains(tag)
        }
        return contains("<html", in: beginning) && !contains("</html", in: ending)
    }

    /// The number of bytes at the end of a page that contain its last tag.
    private static let endingLength = 4_096
}

/// Decides whether to read another page of a folder's list. A broken server could send pages forever.
struct PageLimit {
    private var tokens: Set<String> = []
    /// The number of pages in a row without an entry.
    private var emptyCount = 0

    /// The maximum number of pages of a folder: ten million objects.
    private static let maximumCount = 10_000
    /// The maximum number of pages in a row without an entry. Services send a few of them after many objects were
    /// removed.
    private static let maximumEmpty = 100

    /// Returns whether to read the page that a token names.
    ///
    /// - Parameter isEmpty: whether the page before had no entries.
    mutating func allows(_ token: String, isEmpty: Bool) -> Bool {
        emptyCount = isEmpty ? emptyCount + 1 : 0
        return tokens.count < Self.maximumCount && emptyCount <= Self.maximumEmpty && tokens.insert(token).inserted
    }
}

extension ServerFolderReader.Contents {
    fileprivate var isEmpty: Bool { fileCount == 0 && subfolders.isEmpty }

    /// Adds a piece of the folder's list. The signature does not depend on the order.
    fileprivate mutating func add(_ piece: ListingPiece, _ digest: EntryDigest) {
        // The update does not read more folders anyway.
        subfolders += piece.folders.prefix(max(0, ServerFolders.maximumFolders + 1 - subfolders.count))
        fileCount += piece.files.count
        caddyEntryCount += piece.caddyEntryCount
        hasParentLink = hasParentLink || piece.hasParentLink
        feed = feed ?? piece.feed
        hasGalleryFile = hasGalleryFile || piece.hasGalleryFile
        for file in piece.files { sign(file.name + [0] + file.revision.utf8, digest) }
        for folder in piece.folders { sign(folder.name + [UInt8(ascii: "/")], digest) }
    }

    private mutating func sign(_ bytes: [UInt8], _ digest: EntryDigest) {
        signature ^= bytes.withUnsafeBytes { Int(truncatingIfNeeded: digest.digest($0)) }
    }
}
