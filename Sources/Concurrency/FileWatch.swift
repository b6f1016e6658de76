import Dispatch
import Glibc

/// Reports when any process touches a file or closes it after writing.
///
///     let watch = FileWatch("/var/lib/x/bell") { event in print(event) }
///
/// Several touches in a row may arrive as one event. The watch ends with this object and costs nothing between events.
public final class FileWatch: Sendable {
    /// The kind of change to the file.
    public enum Event: Sendable {
        /// The file's contents or timestamps changed.
        case touched
        /// A process that could write to the file closed it.
        case closed
    }

    /// The event source of the watch. The property is set once. Afterwards this class only calls `cancel`, which is
    /// safe from any thread.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// Starts to watch a file. Returns nil if the file is missing or the system has no watch left.
    ///
    /// - Parameter onEvent: runs on a queue of its own for each event.
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

    /// Reads all queued events. Returns the combination of their masks.
    private static func takeEvents(_ descriptor: Int32) -> UInt32 {
        withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
            var mask: UInt32 = 0
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return mask }
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    mask |= event.mask
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                }
            }
        }
    }
}
