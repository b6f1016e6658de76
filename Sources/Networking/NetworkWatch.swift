import CNetlink
import Dispatch
import Glibc
import Synchronization

/// Hears from the kernel that this machine has come to be on another network, on one, or on none.
///
///     for await presence in NetworkWatch().changes() where presence.isThere { print("back") }
///
/// While nothing changes it costs nothing. Where the kernel may not be asked it never says anything.
public struct NetworkWatch: Sendable {
    private let open: @Sendable () -> Int32
    private let addresses: @Sendable () -> Set<NetworkAddress>?

    /// Makes a watch. It begins with ``changes()``.
    public init() {
        self.init { NetworkAddress.all() }
    }

    init(
        open: @escaping @Sendable () -> Int32 = { cnetlink_open() },
        addresses: @escaping @Sendable () -> Set<NetworkAddress>?
    ) {
        self.open = open
        self.addresses = addresses
    }

    /// Begins to listen, until the stream is let go or whoever iterates is cancelled. How it is at first is not said.
    ///
    /// Each element says that the machine's addresses have become others, and whether there are any now: from one network
    /// to the next it is true twice. Of several changes that nobody has waited for the last is said.
    public func changes() -> AsyncStream<NetworkPresence> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let descriptor = open()
            guard descriptor >= 0 else { return }
            // After the socket: what comes between the two is heard of and found to be no news.
            let known = Mutex(addresses())
            let source = DispatchSource.makeReadSource(
                fileDescriptor: descriptor, queue: DispatchQueue(label: "vitrine.network.watch"))
            source.setEventHandler { [addresses] in
                cnetlink_drain(descriptor)
                // Much of what the kernel says is nothing new: an address that is lent for longer, a cell that is looked for.
                guard let now = addresses() else { return }
                let isNew = known.withLock { known in
                    defer { known = now }
                    return known != now
                }
                if isNew { continuation.yield(NetworkPresence(isThere: !now.isEmpty)) }
            }
            source.setCancelHandler { close(descriptor) }
            nonisolated(unsafe) let held = source
            continuation.onTermination = { _ in held.cancel() }
            source.activate()
        }
    }
}
