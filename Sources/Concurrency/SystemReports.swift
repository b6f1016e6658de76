import CConcurrency
import Dispatch
import Glibc
import Synchronization

/// Reports that the system, or the control group of this process, is short of memory.
///
///     let pressure = MemoryPressure { cache.shrink() }
///
/// The kernel reports at most once in two seconds, and only while processes wait for memory. Otherwise this object
/// costs nothing. Older kernels allow such reports only to root, and some kernels have none. Then the initialiser
/// returns nil.
public final class MemoryPressure: Sendable {
    private let reports: KernelReports

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
    public init?(onPressure: @escaping @Sendable () -> Void) {
        let files = [Self.system] + [Self.ownGroup()].compactMap { $0 }
        guard let reports = KernelReports(files.compactMap(Self.open), onReport: onPressure) else { return nil }
        self.reports = reports
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

/// Reports that the system mounted or unmounted a disk.
///
///     let mounts = MountWatch { lookForFolders() }
///
/// The watch ends with this object and costs nothing between reports.
public final class MountWatch: Sendable {
    private let reports: KernelReports

    /// Starts to watch. Returns nil if the system cannot report.
    ///
    /// - Parameter onChange: runs after each change. Also runs a moment after the start, and after each report.
    public init?(onChange: @escaping @Sendable () -> Void) {
        let mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard mounts >= 0 else { return nil }
        let queue = DispatchQueue(label: "vitrine.mounts")
        let reports = KernelReports([mounts]) {
            queue.async(execute: onChange)
            queue.asyncAfter(deadline: .now() + Self.pause, execute: onChange)
        }
        guard let reports else { return nil }
        queue.asyncAfter(deadline: .now() + Self.pause, execute: onChange)
        self.reports = reports
    }

    /// The time until the additional call. Dispatch asks twice for the kernel's report when it begins to wait, and the
    /// first answer counts as the report. So the report of a change just before that is lost.
    private static let pause = DispatchTimeInterval.milliseconds(200)
}

/// Reports urgent data at descriptors. The kernel marks its own events in files of `/proc` as urgent data.
public final class KernelReports: Sendable {
    /// The event source. The property is set once. Afterwards this class only calls `cancel`, which is safe from any
    /// thread.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// Watches and owns descriptors. Returns nil if the system can watch none of them.
    ///
    /// - Parameter onReport: runs on a queue of its own for each report.
    public init?(_ descriptors: [Int32], onReport: @escaping @Sendable () -> Void) {
        // Dispatch cannot wait for urgent data (EPOLLPRI). An epoll descriptor can, and then becomes readable.
        let poll = cconcurrency_make_poll()
        let watched = descriptors.filter { cconcurrency_poll_urgent(poll, $0) }
        func closeAll() { for descriptor in descriptors + [poll] where descriptor >= 0 { close(descriptor) } }
        guard !watched.isEmpty else {
            closeAll()
            return nil
        }
        source = DispatchSource.makeReadSource(fileDescriptor: poll, queue: DispatchQueue(label: "vitrine.reports"))
        source.setEventHandler {
            // Dispatch may have consumed the kernel's event already, so this call itself counts as the report.
            cconcurrency_take_urgent(poll)
            onReport()
        }
        source.setCancelHandler { closeAll() }
        source.activate()
    }

    deinit {
        source.cancel()
    }
}

/// Reports that the system has another time zone.
///
///     let watch = TimeZoneWatch {
///         TimeZoneWatch.readAgain()
///         redraw()
///     }
///
/// The C library reads the zone only once, unless the program calls ``readAgain()``. The watch ends with this object
/// and costs nothing between changes in `/etc`.
public final class TimeZoneWatch: Sendable {
    private let folder: FolderWatch

    /// Starts to watch the file of the zone. Returns nil if the system has no watch left.
    ///
    /// - Parameters:
    ///   - file: the file, which may be a link.
    ///   - onChange: runs on a queue of its own after each change.
    public init?(file: String = "/etc/localtime", onChange: @escaping @Sendable () -> Void) {
        guard let slash = file.lastIndex(of: "/") else { return nil }
        let known = ZoneFile(file)
        // The link leads to one of many files, so the watch is on the folder of the link. Few programs write there.
        let folder = FolderWatch { _ in if known.takeChange() { onChange() } }
        guard let folder, folder.add(Array(file[..<slash].utf8), named: []) else { return nil }
        self.folder = folder
    }

    /// Makes the C library read the zone's file again, unless the user's variable `TZ` names a zone.
    ///
    /// Functions such as `localtime_r` use the zone that this function has read.
    public static func readAgain() { tzset() }
}

/// The state of the zone's file when it was last read.
private final class ZoneFile: Sendable {
    private let path: String
    private let known: Mutex<Identity>

    init(_ path: String) {
        self.path = path
        known = Mutex(Identity(path))
    }

    /// Returns whether the file has changed since the last call.
    func takeChange() -> Bool {
        let identity = Identity(path)
        return known.withLock { known in
            defer { known = identity }
            return known != identity
        }
    }

    /// The numbers that tell one version of the file from another.
    private struct Identity: Equatable {
        private let numbers: [Int64]

        init(_ file: String) {
            var status = stat()
            // Follows links.
            let exists = stat(file, &status) == 0
            numbers =
                exists
                ? [
                    Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino),
                    Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
                ] : []
        }
    }
}
