import Concurrency
import Model
import Session
import Synchronization

/// Follows the local folders that are galleries, so that a change in a folder leads to an update of the gallery.
///
///     let folders = LocalFolders(wishes: wishes)
///     let running = Task { await folders.run() }
///
/// ``FolderListRequest`` adds the folders that it reads. The system reports changes of this machine's own programs
/// only, so an update that the user asks for reads all folders.
public final class LocalFolders: Sendable {
    private struct Followed {
        let watch: FolderWatch
        /// Changes since the last listing.
        var changes: Set<FolderWatch.Change> = []
        /// Whether an update must be asked for, because of a change since the last time.
        var isDue = false
        /// Whether all folders were read and are watched, so that only changed ones need to be read.
        var isWhole = false
    }

    private let galleries = Mutex<[GalleryID: Followed]>([:])
    private let wishes: Wishes

    /// Follows no folder yet.
    public init(wishes: Wishes) {
        self.wishes = wishes
    }

    /// Asks for updates of galleries that changed during an update, until the task is cancelled.
    public func run() async {
        for await snapshot in wishes.snapshots() {
            let due = galleries.withLock { $0.filter(\.value.isDue).keys }
            for gallery in due where snapshot.asked[.list(gallery)] == nil { ask(for: gallery) }
        }
    }

    /// Returns the changes since the last listing. Returns nil if all folders must be read.
    func takeChanges(of gallery: GalleryID) -> Set<FolderWatch.Change>? {
        galleries.withLock { galleries -> Set<FolderWatch.Change>? in
            guard var followed = galleries[gallery] else { return nil }
            let changes = followed.changes
            let areKnown = followed.isWhole && !changes.isEmpty && !changes.contains(.anything)
            (followed.changes, followed.isDue, followed.isWhole) = ([], false, areKnown)
            galleries[gallery] = followed
            return areKnown ? changes : nil
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

    /// Records that all folders of a gallery were read. Stops following the gallery if some could not be watched: each
    /// change would lead to reading all of them.
    func setListed(_ gallery: GalleryID, isWatched: Bool) {
        galleries.withLock { galleries in
            if isWatched { galleries[gallery]?.isWhole = true } else { galleries[gallery] = nil }
        }
    }

    /// Records that a listing of changed folders failed, so that the next one must read all.
    func setFailed(_ gallery: GalleryID) {
        galleries.withLock { $0[gallery]?.isWhole = false }
    }

    /// Records changes and asks for an update. A request that stands already may be about to end, and this one would end
    /// with it; so ``run()`` asks after its end.
    private func record(_ changes: Set<FolderWatch.Change>, in gallery: GalleryID) {
        galleries.withLock { galleries in
            guard var followed = galleries[gallery] else { return }
            followed.changes.formUnion(changes)
            if followed.changes.count > Self.maximumChanges { followed.changes = [.anything] }
            followed.isDue = true
            galleries[gallery] = followed
        }
        if !wishes.isStanding(.list(gallery)) { ask(for: gallery) }
    }

    /// Asks for an update once. A closed gallery is not updated, and its changes wait for its next listing.
    private func ask(for gallery: GalleryID) {
        galleries.withLock { $0[gallery]?.isDue = false }
        wishes.ask(for: .list(gallery))
    }

    /// With more changes, reading all folders is faster.
    private static let maximumChanges = 200
}
