import CNetlink
import Glibc

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
