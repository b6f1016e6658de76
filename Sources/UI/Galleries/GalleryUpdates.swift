import Cache
import Session
import Model

/// Asks for updates of galleries, whether they are open or not.
@MainActor
struct GalleryUpdates {
    let context: ScreenContext

    init(_ context: ScreenContext) { self.context = context }

    /// What comes by itself. Only the list is fetched: thumbnails are, when somebody looks at them.
    func ask(_ address: Address) {
        Task.detached { [caches = context.caches, wishes = context.wishes, log = context.log] in
            do { wishes.ask(for: .list(try caches.open(address).id)) } catch {
                log.error(.cache, "\(address): \(error)")
            }
        }
    }

    /// What a user means by it: everything that failed has another chance, too. Returns a sentence for him.
    func refresh(_ addresses: [Address]) -> String {
        guard !context.settings.offline else { return "Offline: nothing is fetched." }
        context.holdsUpdates = false
        for address in addresses { context.retry(GalleryID(address)) }
        // Off the main actor, and one after the other: for each another database is opened.
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

    /// All that the user may choose from, and the one that is open.
    func refreshAll(open: Address?) -> String {
        let known = context.galleries.presets + context.galleries.list.addresses
        var seen: Set<Address> = []
        return refresh((known + [open].compactMap { $0 }).filter { seen.insert($0).inserted })
    }

    /// Stops an update.
    func stop(_ address: Address) {
        context.wishes.stop(.list(GalleryID(address)))
    }
}
