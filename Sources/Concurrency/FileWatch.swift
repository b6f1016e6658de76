import Dispatch
import Glibc

/// Tells when a file is touched, or closed by somebody who could write to it, in whatever process. Until then it costs
/// nothing.
///
///     let watch = FileWatch("/var/lib/x/bell") { what in print(what) }
///
/// Several touches in a row may be told of once. It watches for as long as it is held.
public final class FileWatch: Sendable {
    /// What was done to the file.
    public enum Event: Sendable {
        /// Its contents or times are others.
        case touched
        /// Somebody who could write to it does not have it open any more.
        case closed
    }

    /// Cancelled once, at the end, and not used otherwise.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// Begins to watch, or returns nil where there is no such file or the system has no more watches to give.
    ///
    /// - Parameter onEvent: called on a queue of its own.
    public init?(_ path: String, onEvent: @escaping @Sendable (Event) -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        guard inotify_add_watch(descriptor, path, UInt32(IN_ATTRIB | IN_CLOSE_WRITE)) >= 0 else {
            close(descriptor)
            return nil
        }
        let queue = DispatchQueue(label: "vitrine.watch")
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler {
            let mask = Self.takeEvents(descriptor)
            if mask & UInt32(IN_ATTRIB) != 0 { onEvent(.touched) }
            if mask & UInt32(IN_CLOSE_WRITE) != 0 { onEvent(.closed) }
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// All that has happened since the last time, of whatever kind.
    private static func takeEvents(_ descriptor: Int32) -> UInt32 {
        withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
            var mask: UInt32 = 0
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return mask }
                var place = 0
                while place + MemoryLayout<inotify_event>.size <= count {
                    let event = buffer.loadUnaligned(fromByteOffset: place, as: inotify_event.self)
                    mask |= event.mask
                    place += MemoryLayout<inotify_event>.size + Int(event.len)
                }
            }
        }
    }
}
