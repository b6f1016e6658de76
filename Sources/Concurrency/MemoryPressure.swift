import CConcurrency
import Dispatch
import Glibc

/// Reports that the system, or the control group of this process, is short of memory.
///
///     let pressure = MemoryPressure { cache.shrink() }
///
/// The kernel reports at most once in two seconds, and only while processes wait for memory. Otherwise this object
/// costs nothing. Older kernels allow such reports only to root, and some kernels have none. Then the initialiser
/// returns nil.
public final class MemoryPressure: Sendable {
    /// The event source. The property is set once. Afterwards this class only calls `cancel`, which is safe from any
    /// thread.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// The condition for a report. Within two seconds, some process waited for memory for 0.2 seconds.
    ///
    /// "Unprivileged users can also create monitors, with the only limitation that the window size must be a multiple
    /// of 2s."
    private static let trigger = "some 200000 2000000"
    /// The file of the whole system, and the folder of control groups.
    private static let (system, groups) = ("/proc/pressure/memory", "/sys/fs/cgroup")

    /// Asks the kernel for reports.
    ///
    /// - Parameter onPressure: runs on a queue of its own for each report.
    public convenience init?(onPressure: @escaping @Sendable () -> Void) {
        let files = [Self.system] + [Self.ownGroup()].compactMap { $0 }
        self.init(descriptors: files.compactMap(Self.open), onPressure: onPressure)
    }

    /// Watches and owns descriptors. Urgent data at a descriptor is a report. Returns nil if the system can watch none
    /// of them.
    public init?(descriptors: [Int32], onPressure: @escaping @Sendable () -> Void) {
        // Dispatch cannot wait for urgent data (EPOLLPRI). An epoll descriptor can, and then becomes readable.
        let poll = cconcurrency_make_poll()
        let watched = descriptors.filter { cconcurrency_poll_urgent(poll, $0) }
        func closeAll() { for descriptor in descriptors + [poll] where descriptor >= 0 { close(descriptor) } }
        guard !watched.isEmpty else {
            closeAll()
            return nil
        }
        source = DispatchSource.makeReadSource(fileDescriptor: poll, queue: DispatchQueue(label: "vitrine.memory"))
        source.setEventHandler {
            // Dispatch may have consumed the kernel's event already, so this call itself counts as the report.
            cconcurrency_take_urgent(poll)
            onPressure()
        }
        source.setCancelHandler { closeAll() }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// Opens a file of the kernel and states the condition. Returns nil if the kernel refuses.
    private static func open(_ path: String) -> Int32? {
        let descriptor = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        // The text includes the zero byte at its end.
        let text = trigger.utf8CString
        guard text.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) > 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Returns the file of this process's control group. Returns nil if the group is the whole system.
    private static func ownGroup() -> String? {
        let descriptor = Glibc.open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 8_192)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        // The line "0::/user.slice/…" names the group in version 2 of control groups.
        let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        guard let path = lines.first(where: { $0.hasPrefix("0::/") })?.dropFirst(3), path != "/" else { return nil }
        return groups + path + "/memory.pressure"
    }
}
