import Dispatch
import Glibc
import Synchronization

/// Watches any number of files through one descriptor.
///
///     let watches = FileWatches()
///     let watch = watches.watch("/var/lib/x/bell") { event in print(event) }
///
/// All programs of a user share about a hundred such descriptors, so a program should have one object of this class.
/// The object opens its descriptor with the first watch. The watches cost nothing between events.
public final class FileWatches: Sendable {
    private struct State {
        var queue: EventQueue?
        /// The listeners of each watched file, by the system's number of the file.
        var listeners: [Int32: [Int: Listener]] = [:]
        var lastNumber = 0
    }

    fileprivate typealias Listener = @Sendable (FileWatch.Event) -> Void

    private let state = Mutex(State())

    private static let events = UInt32(IN_ATTRIB | IN_CLOSE_WRITE)

    /// Creates an object without watches.
    public init() {}

    /// Starts to watch a file. Returns nil if the file is missing or the system has no watch left.
    ///
    /// - Parameter onEvent: runs for each event, on a queue that all watches share.
    public func watch(_ path: String, onEvent: @escaping @Sendable (FileWatch.Event) -> Void) -> FileWatch? {
        state.withLock { state -> FileWatch? in
            guard let queue = state.queue ?? EventQueue(onEvents: { [weak self] in self?.report($0) }) else {
                return nil
            }
            state.queue = queue
            // Watches of the same file get the same number from the system.
            let file = inotify_add_watch(queue.descriptor, path, Self.events)
            guard file >= 0 else { return nil }
            state.lastNumber += 1
            state.listeners[file, default: [:]][state.lastNumber] = onEvent
            return FileWatch(self, file: file, number: state.lastNumber)
        }
    }

    /// Ends a watch. The system stops watching a file without watches.
    fileprivate func end(file: Int32, number: Int) {
        // The listener is released after the lock, because it may own other watches.
        _ = state.withLock { state -> Listener? in
            guard var listeners = state.listeners[file] else { return nil }
            let listener = listeners.removeValue(forKey: number)
            state.listeners[file] = listeners.isEmpty ? nil : listeners
            if listeners.isEmpty, let queue = state.queue { inotify_rm_watch(queue.descriptor, file) }
            return listener
        }
    }

    /// Calls the listeners of files.
    ///
    /// - Parameter masks: the combined events of each file.
    private func report(_ masks: [Int32: UInt32]) {
        let calls = state.withLock { state -> [(listener: Listener, mask: UInt32)] in
            // The system has lost events of any files, so every listener gets all events.
            let hasLost = masks.values.contains { $0 & UInt32(IN_Q_OVERFLOW) != 0 }
            let masks = hasLost ? state.listeners.mapValues { _ in Self.events } : masks
            return masks.flatMap { file, mask in (state.listeners[file] ?? [:]).values.map { ($0, mask) } }
        }
        for (listener, mask) in calls {
            if mask & UInt32(IN_ATTRIB) != 0 { listener(.touched) }
            if mask & UInt32(IN_CLOSE_WRITE) != 0 { listener(.closed) }
        }
    }
}

/// Reports when any process touches a file or closes it after writing.
///
/// Several touches in a row may arrive as one event. The watch ends with this object.
public final class FileWatch: Sendable {
    /// The kind of change to the file.
    public enum Event: Sendable {
        /// The file's contents or timestamps changed.
        case touched
        /// A process that could write to the file closed it.
        case closed
    }

    private let watches: FileWatches
    private let (file, number): (Int32, Int)

    fileprivate init(_ watches: FileWatches, file: Int32, number: Int) {
        (self.watches, self.file, self.number) = (watches, file, number)
    }

    deinit {
        watches.end(file: file, number: number)
    }
}

/// A descriptor that receives the events of files.
private final class EventQueue: Sendable {
    let descriptor: Int32
    /// The event source of the descriptor. The property is set once. Afterwards this class only calls `cancel`, which
    /// is safe from any thread.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// Opens a descriptor. Returns nil if the system has none left.
    ///
    /// - Parameter onEvents: runs on a queue of its own, with the combined events of each file.
    init?(onEvents: @escaping @Sendable ([Int32: UInt32]) -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "vitrine.watch"))
        source.setEventHandler { onEvents(Self.takeEvents(descriptor)) }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// Reads all queued events. Returns the combination of each file's masks.
    private static func takeEvents(_ descriptor: Int32) -> [Int32: UInt32] {
        withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
            var masks: [Int32: UInt32] = [:]
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return masks }
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    masks[event.wd, default: 0] |= event.mask
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                }
            }
        }
    }
}
