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
            let changed = galleries.withLock { $0.filter { !$0.value.changes.isEmpty }.keys }
            for gallery in changed where snapshot.asked[.list(gallery)] == nil { wishes.ask(for: .list(gallery)) }
        }
    }

    /// Returns the changes since the last listing. Returns nil if all folders must be read.
    func takeChanges(of gallery: GalleryID) -> Set<FolderWatch.Change>? {
        galleries.withLock { galleries in
            guard let followed = galleries[gallery] else { return nil }
            galleries[gallery]?.changes = []
            let mayBeAnything = followed.changes.isEmpty || followed.changes.contains(.anything)
            guard followed.isWhole, !mayBeAnything else {
                galleries[gallery]?.isWhole = false
                return nil
            }
            return followed.changes
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

    /// Records that all folders of a gallery were read and are watched.
    func setWhole(_ gallery: GalleryID) {
        galleries.withLock { $0[gallery]?.isWhole = true }
    }

    /// Records that a listing of changed folders failed, so that the next one must read all.
    func setFailed(_ gallery: GalleryID) {
        galleries.withLock { $0[gallery]?.isWhole = false }
    }

    /// Records changes and asks for an update. A request that stands already may be about to end, and this one would end
    /// with it; so ``run()`` asks after its end.
    private func record(_ changes: Set<FolderWatch.Change>, in gallery: GalleryID) {
        galleries.withLock { $0[gallery]?.changes.formUnion(changes) }
        if !wishes.isStanding(.list(gallery)) { wishes.ask(for: .list(gallery)) }
    }
}
