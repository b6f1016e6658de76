import Cache
import Session
import Text

/// What commands without a screen do alike when they have something fetched.
extension Services {
    /// How often something is tried. Nobody is there to wait an hour.
    static let attempts = 2

    /// Of two updates of one gallery the second waits for the first, and says so.
    func takeTurn(of gallery: GalleryCache) async throws -> UpdateTurn {
        try await gallery.takeTurn {
            Output.progress("\(gallery.address): waiting for another update".truncated(toWidth: 78))
        }
    }

    /// Waits until nothing is wished for any more: it has come true, or never will.
    func awaitWishes() async {
        for await snapshot in wishes.snapshots() where snapshot.wishes.isEmpty { break }
    }

    /// Where a server wanted to know who asks, and a password has been found that was kept, it may be asked once more. Returns
    /// the galleries that this is true of.
    func takeUpAnswers(of galleries: [GalleryCache]) async -> [GalleryCache] {
        let answered = activity.takeAnswered()
        let again = galleries.filter { answered.contains($0.id) }
        for gallery in again {
            do { try await gallery.writer.retry() } catch { log.error(.cache, "\(error)") }
        }
        return again
    }
}
