import CNetlink
import Streams
import Synchronization

/// Hears from the kernel that this machine has come to be on another network, on one, or on none.
///
///     let watch = NetworkWatch()
///     for await presence in watch.changes where presence.isThere { print("back") }
///
/// It listens for as long as it is kept. While nothing changes it costs nothing. Where the kernel may not be asked it never
/// says anything.
public final class NetworkWatch: Sendable {
    /// Each element says that the machine's addresses have become others, and whether there are any now: from one network
    /// to the next it is true twice. How it is at first is not said; of several changes that nobody has waited for the last is.
    public let changes = CoalescingStream<NetworkPresence>()
    private let listener: NetlinkListener?

    /// Begins to listen.
    public convenience init() {
        self.init { NetworkAddress.all() }
    }

    init(
        open: () -> Int32 = { cnetlink_open() }, addresses: @escaping @Sendable () -> Set<NetworkAddress>?
    ) {
        listener = NetlinkListener(descriptor: open())
        // After the socket: what comes between the two is heard of and found to be no news.
        let known = Mutex(listener.flatMap { _ in addresses() })
        listener?.listen { [changes] in
            // Much of what the kernel says is nothing new: an address that is lent for longer, a cell that is looked for.
            guard let now = addresses() else { return }
            let isNew = known.withLock { known in
                defer { known = now }
                return known != now
            }
            if isNew { changes.send(NetworkPresence(isThere: !now.isEmpty)) }
        }
    }

    deinit {
        listener?.end()
        changes.finish()
    }
}
