import Glibc
import Synchronization

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
