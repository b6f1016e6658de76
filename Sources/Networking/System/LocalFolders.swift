import Concurrency
import Files
import Model
import Session
import Synchronization

/// Follows the local folders of galleries. A change in a folder leads to an update of its gallery.
///
///     let folders = LocalFolders(wishes: wishes)
///     let running = Task { await folders.run() }
///
/// ``FolderListRequest`` adds the folders that it reads. The system reports only changes by this machine's own
/// programs. So an update that the user requests reads all folders, unless changes are known.
public final class LocalFolders: Sendable {
    private struct Followed {
        let watch: FolderWatch
        /// The changes in the folders since they were last read.
        var changes: Set<FolderWatch.Change> = []
        /// Whether a change requires an update that has not been requested.
        var isDue = false
        /// Whether all folders were read and are watched. Then an update reads only changed folders.
        var isWhole = false
    }

    private let galleries = Mutex<[GalleryID: Followed]>([:])
    private let wishes: Wishes

    /// Creates an object that follows no folder yet.
    public init(wishes: Wishes) {
        self.wishes = wishes
    }

    /// Requests updates of galleries that changed during an update. Runs until the task is cancelled.
    public func run() async {
        for await snapshot in wishes.snapshots() {
            let due = galleries.withLock { $0.filter(\.value.isDue).keys }
            for gallery in due where snapshot.asked[.list(gallery)] == nil { ask(for: gallery) }
        }
    }

    /// Removes and returns the changes since the folders were last read. Returns nil if all folders must be read.
    ///
    /// No change includes another one, because each folder must be read only once.
    func takeChanges(of gallery: GalleryID) -> Set<FolderWatch.Change>? {
        galleries.withLock { galleries -> Set<FolderWatch.Change>? in
            guard var followed = galleries[gallery] else { return nil }
            let changes = followed.changes
            let areKnown = followed.isWhole && !changes.isEmpty && !changes.contains(.anything)
            (followed.changes, followed.isDue, followed.isWhole) = ([], false, areKnown)
            galleries[gallery] = followed
            return areKnown ? changes.filter { change in !changes.contains { $0.includes(change) } } : nil
        }
    }

    /// Returns the watch for the folders of a gallery. Returns nil if the system has no watch left.
    func watch(for gallery: GalleryID) -> FolderWatch? {
        galleries.withLock { galleries in
            if let followed = galleries[gallery] { return followed.watch }
            let watch = FolderWatch { [weak self] changes in self?.record(changes, in: gallery) }
            galleries[gallery] = watch.map { Followed(watch: $0) }
            return watch
        }
    }

    /// Records that all folders of a gallery were read. Stops following the gallery if a folder could not be watched.
    /// Otherwise each change would lead to reading all folders.
    func setListed(_ gallery: GalleryID, isWatched: Bool) {
        galleries.withLock { galleries in
            if isWatched { galleries[gallery]?.isWhole = true } else { galleries[gallery] = nil }
        }
    }

    /// Records that reading changed folders failed. The next update then reads all folders.
    func setFailed(_ gallery: GalleryID) {
        galleries.withLock { $0[gallery]?.isWhole = false }
    }

    /// Records changes and requests an update. If an earlier request is still being served, ``run()`` makes the new
    /// request afterwards. Otherwise the end of the earlier request could end the new request, too.
    func record(_ changes: Set<FolderWatch.Change>, in gallery: GalleryID) {
        // The watch also reports new folders that a listing skips.
        let changes = changes.filter(Self.mayConcernPhotos)
        guard !changes.isEmpty else { return }
        galleries.withLock { galleries in
            guard var followed = galleries[gallery] else { return }
            followed.changes.formUnion(changes)
            if followed.changes.count > Self.maximumChanges { followed.changes = [.anything] }
            followed.isDue = true
            galleries[gallery] = followed
        }
        if !wishes.isStanding(.list(gallery)) { ask(for: gallery) }
    }

    /// Whether a change may concern photos of a gallery, because a listing of the whole gallery reads the folder.
    private static func mayConcernPhotos(_ change: FolderWatch.Change) -> Bool {
        switch change {
        case .files(let folder), .folder(let folder): FolderTree.reads(folder)
        case .anything: true
        }
    }

    /// Requests one update. A closed gallery is not updated, and its changes wait until its folders are read next.
    private func ask(for gallery: GalleryID) {
        galleries.withLock { $0[gallery]?.isDue = false }
        wishes.ask(for: .list(gallery))
    }

    /// The maximum number of changed folders to read one by one. With more changes, reading all folders is faster.
    private static let maximumChanges = 200
}
