import Cache
import Session
import Model

/// Requests updates of galleries, whether they are open or not.
@MainActor
struct GalleryUpdates {
    let context: ScreenContext

    init(_ context: ScreenContext) { self.context = context }

    /// Requests an automatic update of the list. Screens request thumbnails later, when the thumbnails become visible.
    func ask(_ address: Address) {
        Task.detached { [caches = context.caches, wishes = context.wishes, log = context.log] in
            do { wishes.ask(for: .list(try caches.open(address).id)) } catch {
                log.error(.cache, "\(address): \(error)")
            }
        }
    }

    /// Requests updates that the user wants, and retries all failures. Returns a sentence for the user.
    func refresh(_ addresses: [Address]) -> String {
        guard !context.settings.offline else { return "Offline: type “:set offline no” to refresh." }
        context.holdsUpdates = false
        for address in addresses { context.retry(GalleryID(address)) }
        // Off the main actor and one by one, since each opens a database.
        let titled = addresses.map { ($0, context.title(of: $0).madeVisible) }
        Task.detached { [caches = context.caches, wishes = context.wishes, activity = context.activity] in
            for (address, title) in titled {
                do {
                    let cache = try caches.open(address)
                    try await cache.writer.retry()
                    wishes.ask(for: .list(cache.id))
                } catch {
                    activity.postNotice("\(title): \(error)")
                }
            }
        }
        guard addresses.count == 1, let address = addresses.first else {
            return "Updating \(addresses.count) galleries."
        }
        return "Updating \(context.title(of: address).madeVisible)."
    }

    /// Updates all galleries of the list, and the open gallery. Returns a sentence for the user.
    func refreshAll(open: Address?) -> String {
        let known = context.galleries.presets + context.galleries.list.addresses
        var seen: Set<Address> = []
        return refresh((known + [open].compactMap { $0 }).filter { seen.insert($0).inserted })
    }

    /// Cancels the update of a gallery.
    func stop(_ address: Address) {
        context.wishes.stop(.list(GalleryID(address)))
    }
}
