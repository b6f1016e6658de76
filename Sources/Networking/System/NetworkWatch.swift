import CNetlink
import Concurrency
import Glibc
import Synchronization

/// Reports changes of this machine's network addresses, as the kernel announces them.
///
///     let watch = NetworkWatch()
///     for await presence in watch.changes where presence.isThere { print("back") }
///
/// The watch starts listening when ``changes`` is first used. Without changes it costs nothing. If the kernel refuses
/// the socket, the watch reports nothing.
public final class NetworkWatch: Sendable {
    private enum State {
        case idle
        /// The watch is listening. The listener is nil if the kernel refuses the socket.
        case listening(NetlinkListener?)
    }

    private let news = CoalescingStream<NetworkPresence>()
    private let state = Mutex(State.idle)
    private let open: @Sendable () -> Int32
    private let addresses: @Sendable () -> Set<NetworkAddress>?

    /// Creates a watch that does not listen yet. Commands without a network then need no thread.
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

    /// A stream of address changes. Each value says whether the machine has any address now, and which addresses it has
    /// lost. The first use starts listening.
    ///
    /// A move from one network to another yields true again. The stream does not report the initial state. If several
    /// changes come before the reader is ready, the stream yields only the last one.
    public var changes: CoalescingStream<NetworkPresence> {
        state.withLock { state in
            if case .idle = state { state = .listening(begin()) }
        }
        return news
    }

    private func begin() -> NetlinkListener? {
        guard let listener = NetlinkListener(descriptor: open()) else { return nil }
        // Read the addresses after the socket opens, so that no change is missed.
        let memory = Mutex<(known: Set<NetworkAddress>?, lost: Set<String>)>((addresses(), []))
        listener.listen { [news, addresses] in
            // Many messages change no address, such as a longer lease or a scan for networks.
            guard let now = addresses() else { return }
            let presence = memory.withLock { memory -> NetworkPresence? in
                guard memory.known != now else { return nil }
                let former = memory.lost.union((memory.known ?? []).map(\.text))
                memory.lost = former.subtracting(now.map(\.text))
                memory.known = now
                return NetworkPresence(isThere: !now.isEmpty, lost: memory.lost)
            }
            if let presence { news.send(presence) }
        }
        return listener
    }
}

/// A thread that waits for the kernel's network messages.
final class NetlinkListener: Sendable {
    private let descriptor: Int32
    /// A descriptor that becomes readable when the thread must end.
    private let over: Int32

    /// Creates a listener that owns a socket. Returns nil if the socket is invalid.
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

    /// Starts a thread that calls `onChange` for messages until ``end()`` is called. The thread keeps this object
    /// alive.
    func listen(onChange: @escaping @Sendable () -> Void) {
        let context = Unmanaged.passRetained(Work(listener: self, onChange: onChange)).toOpaque()
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { context in
                let work = Unmanaged<Work>.fromOpaque(context!).takeRetainedValue()
                while cnetlink_wait(work.listener.descriptor, work.listener.over) {
                    cnetlink_drain(work.listener.descriptor)
                    work.onChange()
                }
                return nil
            }, context)
        if failure == 0 { pthread_detach(thread) } else { Unmanaged<Work>.fromOpaque(context).release() }
    }

    /// Ends the thread. Repeated calls do nothing.
    func end() {
        cnetlink_end(over)
    }

    private final class Work: Sendable {
        let listener: NetlinkListener
        let onChange: @Sendable () -> Void

        init(listener: NetlinkListener, onChange: @escaping @Sendable () -> Void) {
            (self.listener, self.onChange) = (listener, onChange)
        }
    }
}
