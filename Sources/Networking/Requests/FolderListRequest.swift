import Cache
import Concurrency
import Files
import Formats
import Glibc
import HTTP
import Logging
import Model
import Numbers
import Scheduling
import Session

/// Lists the photos in a local folder and its subfolders. Updates the cache.
///
/// ``GalleryListRequest`` reads folders with a list file. This request writes nothing into the folder.
public struct FolderListRequest: NetworkRequest {
    /// The gallery's list, the target of this request. Lists have no editions.
    public let identity: RequestIdentity
    /// The address of the folder.
    public var address: Address { cache.address }
    /// The kind of transfer: a list, on which other requests depend.
    public var kind: TransferKind { .list }
    /// Always true: changes in the cache must never restart a list's request. The cache stores a failure with the
    /// gallery.
    public let hasFailedBefore = true
    private let cache: GalleryCache
    private let path: [UInt8]
    private let context: RequestContext

    /// Makes a request for the list of a local folder without a list file.
    public static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
        guard case .list(let gallery) = subject, let cache = context.caches.cache(gallery), cache.address.isPlainFolder,
            let path = cache.address.filePathBytes
        else { return nil }
        return Self(identity: RequestIdentity(subject), cache: cache, path: path, context: context)
    }

    /// Reads and compares the folders, and commits the changes at the end. The first photos of a new gallery are
    /// committed earlier.
    ///
    /// If the system has reported the changes since the last listing, only the changed folders are read.
    public func perform(over client: HTTPClient, with permit: TransferPermit) async throws {
        let changes = context.folders?.takeChanges(of: cache.id)
        do {
            try await list(changes)
        } catch {
            context.folders?.setFailed(cache.id)
            throw error
        }
    }

    private func list(_ folderChanges: Set<FolderWatch.Change>?) async throws {
        let reader = try FolderReader(path, address, folderChanges, context.folders?.watch(for: cache.id))
        let comparer = try ListComparer(
            cache, address: address, within: folderChanges?.compactMap(FolderScope.init), log: context.log)
        var rhythm = ListRhythm()
        var entries = try await reader.next()
        if entries.isEmpty, folderChanges == nil, try cache.read({ try $0.gallery() }).photoCount > 0 {
            throw RequestError.transfer(.file("the folder is empty; if it is on a removable disk, connect the disk"))
        }
        while !entries.isEmpty {
            async let next = reader.next()
            let count = try await comparer.add(entries)
            entries = try await next
            if rhythm.isProgressDue() {
                context.activity.setPhase(.getting(Progress(done: 0), entries: count), of: cache.id)
            }
            if !entries.isEmpty, rhythm.isBeginningDue(count) {
                try await comparer.commitBeginning(in: cache, after: nil, at: context.now())
            }
        }
        let (changes, skipped) = try await comparer.finish()
        try Task.checkCancellation()
        context.activity.setPhase(.committing, of: cache.id)
        // The folder may have had a list file.
        let summary = try await cache.writer.commit(
            changes, skipped: skipped, validators: Validators(), isPrivate: true, removesSource: true,
            at: context.now())
        context.folders?.setListed(cache.id, isWatched: await reader.isWatched)
        context.log.info(
            .sync,
            """
            \(cache.address): \(summary.total) photos, \(summary.added) added, \(summary.changed) changed, \
            \(summary.removed) removed
            """)
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
        await recordFailure(failure)
    }

    /// Shows the wait for a retry, and the time when it ends.
    public func showWaiting(_ failure: Failure, until time: Timestamp?) {
        context.activity.setPhase(.waiting(failure, until: time), of: cache.id)
    }

    /// Records the failure in the cache. The last success stays recorded, too.
    public func recordFailure(_ failure: Failure) async {
        context.log.error(.sync, "\(cache.address): \(failure)")
        do {
            try await cache.writer.recordSyncFailure(failure)
        } catch {
            context.log.error(.cache, "\(error)")
            context.activity.setFailure(failure, of: cache.id)
        }
    }

    /// Shows that the user stopped the update.
    public func showCancelled() {
        context.activity.endUpdate(of: cache.id, cancelled: true)
    }
}

/// Decides when an update shows progress or commits a new list's beginning.
struct ListRhythm {
    private var progress = RateLimit(interval: .milliseconds(250))
    private let clock = ContinuousClock()
    private var start = ContinuousClock.now
    private var committed = 0

    /// The number of photos that fill a screen.
    private static let screenful = 200

    /// Returns whether to show the progress now.
    mutating func isProgressDue() -> Bool { progress.isDue() }

    /// Returns whether to commit the photos so far. The first commit is due when the photos fill a screen, or after a
    /// tenth of a second. Each later commit is due when the number of photos has doubled and a second has passed.
    mutating func isBeginningDue(_ count: Int) -> Bool {
        let elapsed = clock.now - start
        let isDue =
            committed == 0
            ? count >= Self.screenful || (count > 0 && elapsed > .milliseconds(100))
            : count / 2 >= committed && elapsed > .seconds(1)
        if isDue { (committed, start) = (count, clock.now) }
        return isDue
    }
}

extension FolderScope {
    /// Creates the part of a gallery that a change concerns. Returns nil if the change may concern the whole gallery.
    fileprivate init?(_ change: FolderWatch.Change) {
        switch change {
        case .files(let folder): self.init(folder: PathText.text(folder), isDeep: false)
        case .folder(let folder): self.init(folder: PathText.text(folder), isDeep: true)
        case .anything: return nil
        }
    }
}

/// Reads and watches folders, on a queue with lower priority than screens.
private actor FolderReader {
    private let path: [UInt8]
    private let address: Address
    private let watch: FolderWatch?
    private let digest: EntryDigest
    private let executor = QueueExecutor(label: "vitrine.folder", qos: .utility)
    private var tree: FolderTree?
    private var livePhotos = LivePhotos()
    /// The folders to read after ``tree``.
    private var rest: [FolderWatch.Change]
    /// The number of folders to return at once.
    private var width = 1
    private static let maximumWidth = 16
    /// The number of folders that could not be watched.
    private let unwatched = Counter()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - changes: the folders to read; nil for all.
    ///   - watch: watches each folder before it is read; nil to watch none.
    init(_ path: [UInt8], _ address: Address, _ changes: Set<FolderWatch.Change>?, _ watch: FolderWatch?) throws {
        (self.path, self.address, self.watch) = (path, address, watch)
        digest = EntryDigest(base: address)
        rest = changes.map(Array.init) ?? [.folder([])]
        // A missing gallery is an error. A missing folder in it has just been removed.
        do throws(SystemError) { _ = try FolderBoundary(bytes: path) } catch {
            throw RequestError.transfer(.reading(error.code))
        }
    }

    /// Whether all folders that were read are watched.
    var isWatched: Bool { watch != nil && unwatched.value == 0 }

    /// Returns the entries of the next folders; none at the end.
    ///
    /// The number of folders doubles with each call, up to 16. So the first photos appear at once, and the threads that
    /// read and compare seldom wait for each other.
    func next() throws -> [FolderEntries] {
        defer { width = min(width * 2, Self.maximumWidth) }
        var entries: [FolderEntries] = []
        while entries.count < width, let next = try nextEntries() { entries.append(next) }
        return entries
    }

    private func nextEntries() throws -> FolderEntries? {
        while true {
            try Task.checkCancellation()
            if let piece = tree?.next() { return FolderEntries(piece, below: address, digest, &livePhotos) }
            guard let change = rest.popLast() else { return nil }
            do throws(SystemError) {
                tree = try open(change)
            } catch {
                tree = nil
                let folder = Self.folder(of: change)
                if folder.isEmpty { throw RequestError.transfer(.reading(error.code)) }
                if ![ENOENT, ENOTDIR, ELOOP].contains(error.code) {
                    return FolderEntries(
                        FolderTree.Piece(path: folder, failure: error), below: address, digest, &livePhotos)
                }
            }
        }
    }

    private static func folder(of change: FolderWatch.Change) -> [UInt8] {
        switch change {
        case .files(let folder), .folder(let folder): folder
        case .anything: []
        }
    }

    private func open(_ change: FolderWatch.Change) throws(SystemError) -> FolderTree {
        let folder = Self.folder(of: change)
        // Links below the gallery's folder are not followed.
        let descriptor = try FolderBoundary(bytes: path).open(
            bytes: folder.isEmpty ? [UInt8(ascii: ".")] : folder, .none)
        let isDeep = if case .files = change { false } else { true }
        return try FolderTree(
            consuming: descriptor, named: folder, isDeep: isDeep,
            onFolder: { [path, watch, unwatched] folder in
                if watch?.add(path + [UInt8(ascii: "/")] + folder, named: folder) == false { unwatched.value += 1 }
            },
            isWanted: PictureName.isPictureOrVideo)
    }

    /// A number that a closure can change.
    private final class Counter {
        var value = 0
    }
}
