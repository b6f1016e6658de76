import CNetlink
import Concurrency
import Glibc
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

/// A thread that waits for the kernel to say something of its networks.
///
/// It has nothing else to do, and sleeps until then.
final class NetlinkListener: Sendable {
    private let descriptor: Int32
    /// Becomes readable when it is over.
    private let over: Int32

    /// Takes over a socket; nil if it is none.
    init?(descriptor: Int32) {
        guard descriptor >= 0 else { return nil }
        over = cnetlink_make_end()
        self.descriptor = descriptor
        guard over >= 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit {
        close(descriptor)
        close(over)
    }

    /// Calls whenever something was said, until it is over. The thread keeps this object until then.
    func listen(onNews: @escaping @Sendable () -> Void) {
        let context = Unmanaged.passRetained(Work(listener: self, onNews: onNews)).toOpaque()
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { context in
                let work = Unmanaged<Work>.fromOpaque(context!).takeRetainedValue()
                while cnetlink_wait(work.listener.descriptor, work.listener.over) {
                    cnetlink_drain(work.listener.descriptor)
                    work.onNews()
                }
                return nil
            }, context)
        if failure == 0 { pthread_detach(thread) } else { Unmanaged<Work>.fromOpaque(context).release() }
    }

    /// Ends the thread. It can be repeated.
    func end() {
        cnetlink_end(over)
    }

    private final class Work: Sendable {
        let listener: NetlinkListener
        let onNews: @Sendable () -> Void

        init(listener: NetlinkListener, onNews: @escaping @Sendable () -> Void) {
            (self.listener, self.onNews) = (listener, onNews)
        }
    }
}
