import CNetlink
import Concurrency
import Synchronization

/// Hears from the kernel that this machine has come to be on another network, on one, or on none.
///
///     let watch = NetworkWatch()
///     for await presence in watch.changes where presence.isThere { print("back") }
///
/// It listens from when its news is first asked for, for as long as it is kept. While nothing changes it costs nothing. Where
/// the kernel may not be asked it never says anything.
public final class NetworkWatch: Sendable {
    private enum State {
        case idle
        /// Without a listener where the kernel may not be asked.
        case listening(NetlinkListener?)
    }

    private let news = CoalescingStream<NetworkPresence>()
    private let state = Mutex(State.idle)
    private let open: @Sendable () -> Int32
    private let addresses: @Sendable () -> Set<NetworkAddress>?

    /// Makes one that does nothing yet: a command without a network has no use for a thread.
    public convenience init() {
        self.init { NetworkAddress.all() }
    }

    init(
        open: @escaping @Sendable () -> Int32 = { cnetlink_open() },
        addresses: @escaping @Sendable () -> Set<NetworkAddress>?
    ) {
        (self.open, self.addresses) = (open, addresses)
    }

    deinit {
        if case .listening(let listener?) = state.withLock({ $0 }) { listener.end() }
        news.finish()
    }

    /// Each element says that the machine's addresses have become others, and whether there are any now: from one network
    /// to the next it is true twice. How it is at first is not said; of several changes that nobody has waited for the last is.
    ///
    /// Begins to listen, the first time.
    public var changes: CoalescingStream<NetworkPresence> {
        state.withLock { state in
            if case .idle = state { state = .listening(begin()) }
        }
        return news
    }

    private func begin() -> NetlinkListener? {
        guard let listener = NetlinkListener(descriptor: open()) else { return nil }
        // After the socket: what comes between the two is heard of and found to be no news.
        let known = Mutex(addresses())
        listener.listen { [news, addresses] in
            // Much of what the kernel says is nothing new: an address that is lent for longer, a cell that is looked for.
            guard let now = addresses() else { return }
            let isNew = known.withLock { known in
                defer { known = now }
                return known != now
            }
            if isNew { news.send(NetworkPresence(isThere: !now.isEmpty)) }
        }
        return listener
    }
}
