import Cache
import Formats
import HTTP
import Logging
import Model
import Session

/// Updates the cache from a photo library.
///
/// The first update reads all pages. Later updates of a library with parts read only changed photos, and the ids in
/// parts that may have lost photos. Without lists of ids, an update reads all pages if a part has changed or a week has
/// passed. If the server does not report all changes, an update also reads all pages after a week.
struct LibraryUpdate {
    private var library: any PhotoLibrary
    private let cache: GalleryCache
    private let context: RequestContext
    /// The source of the last update; nil before the first update.
    private let source: ListSource?
    private var reader: LibraryReader
    /// The parts of the library; nil if it has none, or if the user may not see them.
    private var parts: (any LibraryParts)?

    init(
        _ library: any PhotoLibrary, of cache: GalleryCache, after source: ListSource?, _ publicity: Publicity,
        _ context: RequestContext, over client: HTTPClient, with permit: TransferPermit
    ) {
        (self.library, self.cache, self.context) = (library, cache, context)
        self.source = source.map { $0.root == library.server ? $0 : $0.moved(to: library.server) }
        reader = LibraryReader(
            server: library.server, library: library, of: cache, publicity, in: context.sessions,
            over: client, with: permit, wait: { try await context.wait($0, because: $1, for: cache) })
    }

    /// The changes of a library, and the state that the cache stores.
    private struct Outcome {
        let comparer: ListComparer
        var state: LibraryState
        /// Whether the library stayed the same while it was read. Otherwise a page may lack a photo.
        var isSteady = true
    }

    /// Reads and commits the changes. Returns the commit's summary; nil if nothing has changed.
    mutating func run() async throws -> SyncSummary? {
        // The counts are read first, so that the next update notices a change during this update.
        let known = source.flatMap(LibraryState.init)
        // A guest may see fewer photos than the user. The others must not be removed.
        if known?.isSignedIn == true || library.needsSignIn, !reader.hasCredentials, let question = reader.question {
            throw RequestError.signIn(question)
        }
        library = try await reader.readSettings(of: library)
        parts = library.parts
        let counts = try await readCounts()
        if known?.isSignedIn == true, !reader.isSignedIn, let question = reader.question {
            throw RequestError.signIn(question)
        }
        if let parts, let known {
            if let members = parts.members {
                if members.favorites == nil || isRecent(known.readAt),
                    let outcome = try await readChanges(of: members, since: known, counts)
                {
                    if outcome.state == known, await !outcome.comparer.hasChanges { return try await keepAll() }
                    try await checkIsNotEmpty(outcome.comparer)
                    return try await commit(outcome)
                }
            } else if known.counts == counts, !counts.isEmpty, isRecent(known.readAt) {
                return try await keepAll()
            }
        }
        var outcome = try await readAll(counts)
        if try await !reader.isStillSignedIn() {
            outcome.isSteady = false
            outcome.state.readAt = nil
        }
        try await checkIsNotEmpty(outcome.comparer)
        return try await commit(outcome)
    }

    /// Returns the counts of the parts, or no counts if the library has no parts.
    private mutating func readCounts() async throws -> [String: String] {
        guard let parts else { return [:] }
        do {
            return try await reader.readCounts(of: parts)
        } catch RequestError.status(let status, _) where [403, 404].contains(status) && parts.members != nil {
            // The user may see photos but no parts, or the server is older. All pages are read instead.
            self.parts = nil
            return [:]
        }
    }

    /// Records that nothing has changed.
    private func keepAll() async throws -> SyncSummary? {
        try await cache.writer.recordUnchanged(
            isPrivate: reader.head?.isPrivate, isPublic: reader.head?.beganPublic ?? false, at: context.now())
        return nil
    }

    /// Whether all pages were read so recently that equal counts, or the server's reports of changes, are enough.
    /// Counts do not show a renamed photo, and some servers do not report all changes.
    private func isRecent(_ time: Timestamp?) -> Bool {
        guard let time else { return false }
        // The clock may have been set back.
        return time <= context.now() && context.now() < time.advanced(by: Self.secondsBetweenFullReads)
    }

    /// One week.
    private static let secondsBetweenFullReads = 604_800.0

    /// Throws if the library has no photos. The server may have lost its database, for example.
    private func checkIsNotEmpty(_ comparer: ListComparer) async throws {
        guard await comparer.count == 0 else { return }
        if !reader.hasCredentials, let question = reader.question { throw RequestError.signIn(question) }
        throw RequestError.wrongType(
            source == nil ? "a library without photos" : "no photos; if that is intended, clear this gallery’s cache")
    }

    // MARK: - All photos

    /// Reads all pages. If the server fails midway, the photos received so far are stored.
    private mutating func readAll(_ counts: [String: String]) async throws -> Outcome {
        let comparer = try ListComparer(cache, address: library.server, log: context.log)
        let digest = EntryDigest(base: library.server)
        let start = context.now()
        var latest: Timestamp?
        var isAllInParts = true
        var rhythm = ListRhythm()
        let pageCount: Int
        do {
            pageCount = try await reader.readPhotos(of: library) { [cache, context, library] photos, answer in
                latest = Self.latest(latest, photos)
                isAllInParts = isAllInParts && photos.allSatisfy { $0.part != LibraryPhoto.noPart }
                let count = try await comparer.add(LibraryListing(photos, digest))
                if rhythm.isProgressDue() {
                    context.activity.setPhase(.getting(Progress(done: 0), entries: count), of: cache.id)
                }
                if rhythm.isBeginningDue(count) {
                    let source = ListSource(
                        kind: library.kind, root: library.server,
                        folders: answer.isSignedIn ? ListSource.marked([]) : [])
                    try await comparer.commitBeginning(in: cache, from: source, after: answer.head, at: context.now())
                }
            }
        } catch  where !Task.isCancelled && !(error is FormatError) {
            // If this commit fails, too, the first error is enough to report.
            if await comparer.count > 0 { _ = try? await commit(comparer, nil, removes: false) }
            throw error
        }
        // If a photo is removed meanwhile, the next page skips a photo. So a later update reads all pages again.
        var isSteady = true
        if pageCount > 1, parts != nil { isSteady = try await readCounts() == counts }
        let hasMembers = parts?.members != nil
        // If the server removes a photo without a part, no count changes. So later updates read all pages, too.
        let canSkipPages = isSteady && (isAllInParts || !hasMembers)
        return Outcome(
            comparer: comparer,
            state: LibraryState(
                counts: counts, latestChange: canSkipPages && hasMembers ? bounded(latest) : nil,
                readAt: canSkipPages ? start : nil, isSignedIn: reader.isSignedIn),
            isSteady: isSteady)
    }

    /// Whether the server has answered, and recognizes the user.
    private var isRecognized: Bool { reader.head != nil && reader.isSignedIn }

    // MARK: - Changes

    /// Reads changed photos, and ids in parts that may have lost photos.
    ///
    /// Returns nil if the update must read all pages instead.
    private mutating func readChanges(
        of parts: any LibraryMembers, since known: LibraryState, _ counts: [String: String]
    ) async throws -> Outcome? {
        guard let since = known.latestChange else { return nil }
        let comparer = try ListComparer(cache, address: library.server, log: context.log)
        let digest = EntryDigest(base: library.server)
        var latest: Timestamp?
        var added: Set<String> = []
        var marked: Set<String> = try parts.favorites == nil ? [] : cache.read { try $0.favorites() }
        // If a part has lost one photo and gained another, its count is the same. So the parts of moved and added
        // photos become suspects, too.
        var suspects = Set(known.counts.keys).union(counts.keys).filter { known.counts[$0] != counts[$0] }
        try await reader.readPhotos(of: library, changedSince: since) { [cache] photos, _ in
            latest = Self.latest(latest, photos)
            for photo in photos {
                if photo.annotations.isFavorite { marked.insert(photo.id) } else { marked.remove(photo.id) }
                let part = try cache.read { try $0.libraryPart(ofPhoto: photo.id) }
                if part == nil { added.insert(photo.id) }
                if part != photo.part { suspects.formUnion([part, photo.part].compactMap { $0 }) }
            }
            try await comparer.add(LibraryListing(photos, digest))
        }
        // Reading all pages needs fewer requests, or is the only way.
        guard !suspects.contains(LibraryPhoto.noPart), suspects.count <= max(Self.fewParts, counts.count / 4) else {
            return nil
        }
        var members: [String: Set<String>] = [:]
        var memberCount = 0
        for part in suspects.sorted() {
            var ids: Set<String> = []
            if let count = counts[part] {
                guard let members = try await reader.readMembers(of: part, count: count, in: parts) else { return nil }
                ids = members
            }
            memberCount += ids.count
            guard memberCount <= Self.maximumMembers else { return nil }
            // The cache lacks facts about this photo, and only the pages contain them.
            let isUnknown = try cache.read { reader in
                try ids.contains { try !added.contains($0) && reader.libraryPart(ofPhoto: $0) == nil }
            }
            if isUnknown { return nil }
            members[part] = ids
        }
        if let favorites = parts.favorites, try await haveChanged(favorites, since: marked, members) { return nil }
        try await comparer.keepAll(exceptOutside: members)
        let state = LibraryState(
            counts: counts, latestChange: max(since, bounded(latest) ?? since), readAt: known.readAt,
            isSignedIn: reader.isSignedIn)
        return Outcome(comparer: comparer, state: state)
    }

    /// Reads the favorites. Returns whether they differ from those known, apart from removed photos.
    ///
    /// - Parameter members: for each part that was read, the ids of its photos.
    private mutating func haveChanged(
        _ favorites: any PhotoLibrary, since known: Set<String>, _ members: [String: Set<String>]
    ) async throws -> Bool {
        var rest = known
        var isOneNew = false
        try await reader.readPhotos(of: favorites) { photos, _ in
            for photo in photos where rest.remove(photo.id) == nil { isOneNew = true }
        }
        if isOneNew { return true }
        return try cache.read { reader in
            try rest.contains { id in
                try reader.libraryPart(ofPhoto: id).flatMap { members[$0] }?.contains(id) != false
            }
        }
    }

    /// The number of parts to read one by one in any case.
    private static let fewParts = 12
    /// The maximum number of ids to hold in memory. Each part has at most a million.
    private static let maximumMembers = 1_000_000

    private static func latest(_ time: Timestamp?, _ photos: [LibraryPhoto]) -> Timestamp? {
        photos.lazy.compactMap(\.changedAt).max().map { max($0, time ?? $0) } ?? time
    }

    /// Returns a time, or the first answer's time if that is earlier. Photos may have changed after the update read
    /// them.
    private func bounded(_ time: Timestamp?) -> Timestamp? {
        let start = reader.head?.headers["date"].flatMap { HTTPDate.seconds($0) }
        return time.map { min($0, start.map { Timestamp(milliseconds: 0).advanced(by: Double($0)) } ?? $0) }
    }

    // MARK: - Commit

    private func commit(_ outcome: Outcome) async throws -> SyncSummary {
        try await commit(outcome.comparer, outcome.state, removes: outcome.isSteady)
    }

    /// - Parameters:
    ///   - state: the state of the library; nil if not all photos were read.
    ///   - removes: whether to remove the photos that were not read.
    private func commit(
        _ comparer: ListComparer, _ state: LibraryState?, removes: Bool
    ) async throws -> SyncSummary {
        let (changes, skipped) = try await comparer.finish(
            onlyWithin: state == nil ? [] : nil, keepsOthers: !removes)
        try Task.checkCancellation()
        context.activity.setPhase(.committing, of: cache.id)
        // A guest's view must not remove the photos so far.
        let known = source?.folders ?? []
        let folders = state?.stored ?? (isRecognized ? ListSource.marked(known) : known)
        let place = ListSource(kind: library.kind, root: library.server, folders: folders)
        return try await cache.writer.commit(
            changes, skipped: skipped, validators: Validators(), isPrivate: reader.head?.isPrivate,
            isPublic: reader.head?.beganPublic ?? false, source: place, at: context.now())
    }
}

/// The state of a library, with which the next update finds changes.
private struct LibraryState: Equatable {
    /// The server's count of photos and videos in each part.
    var counts: [String: String]
    /// The time of the latest change seen so far; nil if unknown, or if the parts have no lists of ids.
    var latestChange: Timestamp?
    /// The time when an update last read all pages; nil if unknown, or if the next update must read them again.
    var readAt: Timestamp?
    /// Whether the server recognized the user in the last update.
    var isSignedIn: Bool

    init(counts: [String: String], latestChange: Timestamp?, readAt: Timestamp?, isSignedIn: Bool) {
        (self.counts, self.latestChange, self.readAt) = (counts, latestChange, readAt)
        self.isSignedIn = isSignedIn
    }

    /// Creates the state from its stored form, a list of folders. Returns nil if no update has read all photos, and the
    /// server has not recognized the user.
    ///
    /// Each part is a folder with its count as the validator. The outermost folder stores the time of the latest
    /// change, the time when all pages were last read, and whether the server recognized the user.
    init?(_ source: ListSource) {
        guard let root = source.folders.first(where: { $0.path.isEmpty }) else { return nil }
        let times = (root.validators.etag ?? "").split(separator: " ").map { Timestamp(iso8601: String($0)) }
        latestChange = times.first ?? nil
        // Older versions of Vitrine stored only one time.
        readAt = times.count > 1 ? times[1] : nil
        isSignedIn = source.wasSignedIn
        counts = [:]
        for folder in source.folders where !folder.path.isEmpty {
            counts[String(decoding: folder.path, as: UTF8.self)] = folder.validators.etag ?? ""
        }
    }

    /// The stored form: a list of folders.
    var stored: [ListSource.Folder] {
        let times = [latestChange, readAt].map { $0?.iso8601 ?? "-" }.joined(separator: " ")
        return [
            ListSource.Folder(
                path: [], validators: Validators(etag: times, lastModified: isSignedIn ? ListSource.signedIn : nil))
        ]
            + counts.map { ListSource.Folder(path: Array($0.key.utf8), validators: Validators(etag: $0.value)) }
    }
}

extension ListSource {
    /// Returns the source of a library whose server has another address now. An update must read all pages again,
    /// because they have the addresses of the pictures.
    fileprivate func moved(to server: Address) -> ListSource {
        ListSource(kind: kind, root: server, folders: wasSignedIn ? ListSource.marked([]) : [])
    }
}
