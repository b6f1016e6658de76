import Cache
import Concurrency
import Formats
import Glibc
import HTTP
import Logging
import Model
import Numbers
import Scheduling
import Session

/// Fetches a gallery's list and updates the cache.
///
/// The list is an XML file, a feed, folders of a server or a photo library. ``ServerFolders`` reads folders, and
/// ``LibraryUpdate`` reads libraries. The first update finds out which of them the address holds, and the cache stores
/// this.
public struct GalleryListRequest: NetworkRequest {
    /// The gallery's list, the target of this request. Lists have no editions.
    public let identity: RequestIdentity
    /// The address of the gallery.
    public var address: Address { cache.address }
    /// The kind of transfer: a list, on which other requests depend.
    public var kind: TransferKind { .list }
    /// Always true: changes in the cache must never restart a list's request. The cache stores a failure with the
    /// gallery.
    public let hasFailedBefore = true
    /// Whether the cache holds a list. The server's list has then probably not changed.
    public let isAskedAfter: Bool
    private let cache: GalleryCache
    /// The credentials to send; nil for no credentials.
    private let signIn: SignIn?
    /// The credentials for the gallery's address with `https`. Many servers redirect to that address.
    private let secureSignIn: SignIn?
    private let context: RequestContext

    /// The maximum number of bytes of a list, enough for ten million photos. libxml2 does not detect some errors after
    /// 4 GiB.
    static let limit: ByteCount = 3 << 30
    /// The types of lists, in order of preference. Caddy's JSON has a seventh of the size of its web page.
    static let acceptedTypes = "application/xml, application/json;q=0.9, text/html;q=0.8, */*;q=0.1"

    /// Creates a request for a list. The request is always needed, because only the server knows whether the list has
    /// changed. Returns nil for a wish of another kind.
    public static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
        guard case .list(let gallery) = subject, let cache = context.caches.cache(gallery) else { return nil }
        return Self(
            identity: RequestIdentity(subject), isAskedAfter: try Self.validators(in: cache) != Validators(),
            cache: cache, context: context)
    }

    private init(identity: RequestIdentity, isAskedAfter: Bool, cache: GalleryCache, context: RequestContext) {
        self.identity = identity
        self.isAskedAfter = isAskedAfter
        self.cache = cache
        signIn = cache.signIn(for: cache.address)
        secureSignIn = cache.address.secured.flatMap { cache.signIn(for: $0) }
        self.context = context
    }

    /// Reads and compares the list, and commits the changes at its end.
    public func perform(over client: HTTPClient, with permit: TransferPermit) async throws {
        let (record, source) = try cache.read { (try $0.gallery(), try $0.source()) }
        let finder = PlaceFinder(cache, record, source, over: client)
        if source == nil, let library = context.lockedLibraries[cache.id] {
            do {
                return try await update(from: .library(library), record, finder, client, permit)
            } catch  where Self.mayBeOfAnotherKind(error) {
                context.lockedLibraries[cache.id] = nil
            }
        }
        guard let source, source.kind.isServer || source.library(of: cache.address) != nil else {
            do {
                return try await update(
                    from: try await finder.find(plan: listPlan(record, source, finder.publicity), with: permit), record,
                    finder, client, permit)
            } catch RequestError.status(400, _) where record.lastSuccess == nil && cache.address.scheme == .http {
                throw RequestError.perhapsInsecure
            }
        }
        do {
            try await update(from: source, at: source.root, finder.publicity, over: client, with: permit)
        } catch is PublishedBucket {
            let plan = listPlan(record, source, finder.publicity)
            try await update(
                from: try await finder.findGallery(inBucket: source.root, plan), record, finder, client, permit)
        } catch let failure {
            // The server may have begun to redirect to its secure address. The client follows such a redirect only for
            // a GET.
            let secured = failure as? HTTPError == .forbiddenRedirect ? source.root.secured : nil
            guard secured != nil || (source.kind.isServer && Self.mayBeOfAnotherKind(failure)) else { throw failure }
            do {
                if let secured {
                    try await update(
                        from: source, at: secured, finder.publicity, over: client, with: TransferPermit(.list))
                } else {
                    let found = try await finder.find(
                        plan: listPlan(record, source, finder.publicity), with: permit)
                    // The address may hold another kind of gallery by now. Only a sure sign of that counts, not an error
                    // page.
                    guard found.isSure(after: source) else { throw failure }
                    try await update(from: found, record, finder, client, permit)
                }
            } catch RequestError.signIn(let question) where secured != nil {
                throw RequestError.signIn(question)
            } catch _ {
                throw failure
            }
        }
    }

    /// Whether an error suggests that the address holds another kind of list, or that the list has moved.
    private static func mayBeOfAnotherKind(_ error: any Error) -> Bool {
        switch error {
        case is FormatError, RequestError.wrongType: true
        case RequestError.status(let status, _): [404, 405, 501].contains(status)
        default: false
        }
    }

    /// Updates the cache from the list, folders or library at the address.
    private func update(
        from found: sending PlaceFinder.Place, _ record: GalleryRecord, _ finder: PlaceFinder, _ client: HTTPClient,
        _ permit: TransferPermit
    ) async throws {
        switch found {
        case .list(var response, let beginning, let address):
            try await process(&response, beginning, from: address)
        case .folders(let place, let response):
            let site: BarrenSite
            do {
                try await update(from: place, after: nil, response, over: client, with: permit)
                return
            } catch let error as BarrenSite {
                site = error
            } catch FormatError.notAGallery(let description) where place.kind == .web {
                site = BarrenSite(description: description)
            }
            let feed = site.feed.map { listPlan(record, at: $0, finder.publicity) }
            guard let other = try await finder.findGallery(behindPageAt: place, feed: feed) else {
                throw FormatError.notAGallery(site.description)
            }
            try await update(from: other, record, finder, client, permit)
        case .library(let library):
            do {
                try await update(from: library, after: nil, finder.publicity, over: client, with: permit)
                context.lockedLibraries[cache.id] = nil
            } catch RequestError.signIn(let question) {
                context.lockedLibraries[cache.id] = library
                throw RequestError.signIn(question)
            }
        }
    }

    /// Updates the cache from a known server.
    ///
    /// - Parameter root: the known address, or another one of the same server.
    private func update(
        from source: ListSource, at root: Address, _ publicity: Publicity, over client: HTTPClient,
        with permit: TransferPermit
    ) async throws {
        if let library = source.kind.library(on: root, for: cache.address) {
            return try await update(from: library, after: source, publicity, over: client, with: permit)
        }
        let place = ServerPlace(source.kind, at: root, of: cache, publicity)
        try await update(from: place, after: root == source.root ? source : nil, nil, over: client, with: permit)
    }

    /// Updates the cache from a photo library.
    private func update(
        from library: any PhotoLibrary, after source: ListSource?, _ publicity: Publicity, over client: HTTPClient,
        with permit: TransferPermit
    ) async throws {
        var update = LibraryUpdate(
            library, of: cache, after: source, publicity, context, over: client, with: permit)
        if let summary = try await update.run() {
            log(summary)
        } else {
            context.log.info(.sync, "\(cache.address): unchanged")
        }
    }

    /// Returns a plan that fetches the list if the list has changed.
    private func listPlan(_ record: GalleryRecord, _ source: ListSource?, _ publicity: Publicity) -> FetchPlan {
        let known = source.flatMap { $0.isFile ? $0.root : nil }
        var plan = listPlan(record, at: cache.address.listFile ?? known ?? cache.address, publicity)
        if let source, source.isFile, source.wasSignedIn {
            plan.refusals = .asked(isOfBucket: true)
        } else if plan.isSigned {
            // Only a new list records that it needed the key.
            plan.validators = Validators()
        }
        return plan
    }

    private func listPlan(_ record: GalleryRecord, at address: Address, _ publicity: Publicity) -> FetchPlan {
        var plan = FetchPlan(
            address: address, signIn: address.origin == cache.address.origin ? signIn : cache.signIn(for: address),
            validators: Self.validators(in: record), limit: Self.limit,
            addressPolicy: cache.listAddressPolicy, isNamedByUser: cache.isNamedByUser(address),
            allowsCompression: true)
        plan.publicity = publicity
        if cache.address.scheme != .file {
            plan.headers = [("Accept", Self.acceptedTypes)]
            plan.refusals = record.kind == .list ? .asked(isOfBucket: false) : .explained
        }
        return plan
    }

    // MARK: - Folders of a server

    /// Reads the folders of a server and commits the changes.
    ///
    /// If the server stops answering, the changes in the folders read so far are committed.
    private func update(
        from place: ServerPlace, after source: ListSource?, _ first: sending Response?, over client: HTTPClient,
        with permit: TransferPermit
    ) async throws {
        if let source, place.hasClimbingValidators, let head = try await unchangedHead(place, source, over: client) {
            try await cache.writer.recordUnchanged(
                isPrivate: head.isPrivate, isPublic: head.beganPublic, at: context.now())
            return context.log.info(.sync, "\(cache.address): unchanged")
        }
        let comparer = try ListComparer(cache, address: place.root.address, log: context.log)
        var folders = ServerFolders(place, comparer, over: client, with: permit, after: source, context.clock)
        var rhythm = ListRhythm()
        do {
            try await folders.read(
                startingWith: first,
                onProgress: { count, head in
                    if rhythm.isProgressDue() {
                        context.activity.setPhase(.getting(Progress(done: 0), entries: count), of: cache.id)
                    }
                    if rhythm.isBeginningDue(count) {
                        try await comparer.commitBeginning(in: cache, after: head, at: context.now())
                    }
                }, wait: { try await context.wait($0, because: $1, for: cache) })
        } catch
            where !folders.parts.isEmpty
            && !(Task.isCancelled || error is FormatError || error is BarrenSite)
        {
            // The commit fails only if the disk does, and then the first error is enough to report.
            try? await commit(comparer, folders, place, isWhole: false)
            throw error
        }
        if await comparer.count == 0 {
            guard source == nil, place.kind == .web else { throw RequestError.wrongType("folders without photos") }
            throw BarrenSite(description: "a web site without photos", folders)
        }
        try await commit(comparer, folders, place, isWhole: true)
    }

    /// Returns the head of an answer that shows an unchanged gallery. Returns nil if the gallery has changed.
    private func unchangedHead(
        _ place: ServerPlace, _ source: ListSource, over client: HTTPClient
    ) async throws -> HTTPResponse? {
        guard let known = source.folders.first(where: { $0.path.isEmpty })?.validators.etag else { return nil }
        var response = try await Response.to(
            try place.plan(for: [], isAlone: true), over: client, with: TransferPermit(.list))
        let parser = ListingFormat.multistatus.makeParser(for: place.root)
        var etag: String?
        while let bytes = try await response.nextBytes() { etag = try parser.parse(bytes).etag ?? etag }
        return try parser.finish().etag ?? etag == known ? response.head : nil
    }

    private func commit(
        _ comparer: ListComparer, _ folders: ServerFolders, _ place: ServerPlace, isWhole: Bool
    ) async throws {
        let (changes, skipped) = try await comparer.finish(onlyWithin: isWhole ? nil : folders.parts)
        try Task.checkCancellation()
        context.activity.setPhase(.committing, of: cache.id)
        let summary = try await cache.writer.commit(
            changes, skipped: skipped, validators: Validators(), isPrivate: folders.head?.isPrivate,
            isPublic: folders.head?.beganPublic ?? false,
            source: ListSource(kind: place.kind, root: place.page, folders: folders.stored),
            at: context.now())
        log(summary)
    }

    // MARK: - A file

    /// Reads and compares the list in a file, and commits the changes at its end.
    ///
    /// - Parameters:
    ///   - beginning: the bytes that were read already.
    ///   - list: the address of the file.
    private func process(_ response: inout Response, _ beginning: [UInt8], from list: Address) async throws {
        guard !response.isUnchanged else {
            try await cache.writer.recordUnchanged(
                isPrivate: response.head.isPrivate, isPublic: response.head.beganPublic, at: context.now())
            return context.log.info(.sync, "\(cache.address): unchanged")
        }
        let wasFeed = try cache.read { try $0.gallery() }.kind == .feed
        let beginning = beginning.isEmpty && wasFeed ? try await response.beginning() : beginning
        let feed = Self.feedParser(beginning, at: response.address)
        // Another document must not replace the photos, which the feed itself may not contain any more.
        if wasFeed, feed == nil {
            throw RequestError.wrongType("a document that is not a feed")
        }
        let (changes, skipped, galleryName) =
            if let feed {
                try await read(feed, &response, beginning)
            } else {
                try await read(&response, beginning)
            }
        try Task.checkCancellation()
        context.activity.setPhase(.committing, of: cache.id)
        do {
            log(
                try await cache.writer.commit(
                    changes, skipped: skipped, validators: response.validators, isPrivate: response.head.isPrivate,
                    isPublic: response.head.beganPublic,
                    source: ListSource(
                        kind: feed == nil ? .list : .feed, root: cache.address.isLocalFolder ? cache.address : list,
                        folders: response.wasSigned ? ListSource.marked([]) : [], galleryName: galleryName),
                    at: context.now()))
        } catch CacheError.conflict {
            guard try isHeld(response.validators) else { throw CacheError.conflict }
            return context.log.info(.sync, "\(cache.address): another process has just stored this list")
        }
    }

    private func log(_ summary: SyncSummary) {
        context.log.info(
            .sync,
            """
            \(cache.address): \(summary.total) photos, \(summary.added) added, \(summary.changed) changed, \
            \(summary.removed) removed, \(summary.skipped) skipped
            """)
    }

    /// Reads the body piece by piece. Compares each piece while parsing the next.
    private func read(
        _ response: inout Response, _ beginning: [UInt8]
    ) async throws -> (changes: SyncChanges, skipped: Int, galleryName: String?) {
        let reader = ListReader(base: response.address)
        let comparer = try ListComparer(cache, address: response.address, log: context.log)
        var progress = Progress(done: 0, total: response.head.length)
        var count = 0
        var progressLimit = RateLimit(interval: .milliseconds(250))
        var photos: WrittenPhotos?
        var received = beginning.isEmpty ? try await response.nextBytes() : beginning
        while let bytes = received {
            async let next = reader.read(bytes)
            if let photos { count = try await comparer.add(photos) }
            photos = try await next
            progress.done += ByteCount(bytes.count)
            if progressLimit.isDue() { context.activity.setPhase(.getting(progress, entries: count), of: cache.id) }
            received = try await response.nextBytes()
        }
        if let photos { count = try await comparer.add(photos) }
        context.activity.setPhase(.parsing(entries: count), of: cache.id)
        try await comparer.add(try await reader.finish())
        let (changes, skipped) = try await comparer.finish()
        return (changes, skipped, await comparer.galleryName)
    }

    /// Returns a parser if a file is a feed.
    private static func feedParser(_ beginning: [UInt8], at address: Address) -> (any LibraryParser<LibraryPhoto>)? {
        if FeedParser.recognises(beginning) { return FeedParser(base: address) }
        return JSONFeedParser.recognises(beginning) ? JSONFeedParser(base: address) : nil
    }

    /// Reads a feed. A feed contains only the newest photos, so no photos are removed.
    private func read(
        _ feed: any LibraryParser<LibraryPhoto>, _ response: inout Response, _ beginning: [UInt8]
    ) async throws -> (changes: SyncChanges, skipped: Int, galleryName: String?) {
        let comparer = try ListComparer(cache, address: response.address, within: [], log: context.log)
        let digest = EntryDigest(base: response.address)
        var received: [UInt8]? = beginning
        while let bytes = received {
            try await comparer.add(LibraryListing(try feed.parse(bytes), digest))
            received = try await response.nextBytes()
        }
        try await comparer.add(LibraryListing(try feed.finish(), digest))
        if await comparer.count == 0, try cache.read({ try $0.gallery() }).photoCount == 0 {
            throw FormatError.notAGallery("a feed without pictures")
        }
        let (changes, skipped) = try await comparer.finish()
        return (changes, skipped, feed.galleryName)
    }

    /// Whether the cached list has these validators.
    private func isHeld(_ validators: Validators) throws -> Bool {
        try validators != Validators() && Self.validators(in: cache) == validators
    }

    /// Returns the server's validators for the cached list.
    private static func validators(in cache: GalleryCache) throws -> Validators {
        validators(in: try cache.read { try $0.gallery() })
    }

    private static func validators(in record: GalleryRecord) -> Validators {
        record.lastSuccess == nil ? Validators() : record.validators
    }

    /// Shows that an update runs.
    public func showStarted() {
        context.activity.setPhase(.getting(Progress(done: 0), entries: 0), of: cache.id)
    }

    /// Shows that the update has ended. The cache holds the result.
    public func showDone() {
        context.activity.endUpdate(of: cache.id)
    }

    /// Records the failure in the cache. The last success stays recorded, too.
    public func recordPostponement(_ failure: Failure) async {
        context.log.info(.network, "\(cache.address): \(failure); will retry")
        await record(failure)
    }

    /// Shows the wait for a retry, and the time when it ends.
    public func showWaiting(_ failure: Failure, until time: Timestamp?) {
        context.activity.setPhase(.waiting(failure, until: time), of: cache.id)
    }

    /// Records the failure in the cache. Asks the user for credentials if the server requires them.
    public func recordFailure(_ failure: Failure) async {
        context.log.error(.network, "\(cache.address): \(failure)")
        await record(failure)
        let isOwn = failure.question?.origin == cache.address.origin
        await context.ask(failure.question, afterSaying: isOwn ? signIn : secureSignIn, in: cache)
    }

    /// Shows that the user stopped the update.
    public func showCancelled() {
        context.activity.endUpdate(of: cache.id, cancelled: true)
    }

    private func record(_ failure: Failure) async {
        do {
            try await cache.writer.recordSyncFailure(failure)
        } catch {
            context.log.error(.cache, "\(error)")
            context.activity.setFailure(failure, of: cache.id)
        }
    }
}
