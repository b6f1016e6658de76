import Glibc

/// Says that a gallery's cache is in use, to other processes.
///
/// Any number of programs may use a cache at once; only who would take it away has to be alone with it. The system drops
/// the lock when its holder ends, however it ends.
final class CacheLock: Sendable {
    /// How a cache is held.
    enum Kind {
        /// Used, beside others.
        case shared
        /// About to be removed.
        case exclusive
    }

    private let descriptor: Int32

    /// Takes the lock of a cache's folder, or returns nil if somebody's is in the way.
    init?(folder: String, _ kind: Kind) throws(CacheError) {
        let path = folder + "/lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .cannotOpen(path: path, reason: String(cString: strerror(errno))) }
        guard flock(descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit {
        close(descriptor)
    }
}
