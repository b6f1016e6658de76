import Concurrency
import Glibc
import Model
import Synchronization

/// A lock that shows other processes that a gallery's cache is in use.
///
/// Any number of processes may use a cache. A process that removes the cache, or replaces its database, needs an
/// exclusive lock. The system releases the lock when its process ends.
final class CacheLock: Sendable {
    /// The kind of lock.
    enum Kind {
        /// The process uses the cache.
        case shared
        /// The process removes the cache or replaces its database.
        case exclusive
    }

    /// The result of an attempt to lock.
    enum Outcome {
        case held
        /// Another process has a lock that excludes this lock.
        case inUse
        /// The file has been removed, so a lock on it has no effect.
        case gone
    }

    /// The time between attempts to get a lock, in milliseconds.
    static let interval: Int32 = 10

    private let descriptor: Int32
    private let path: String
    private let lastSignal = Mutex(timespec())

    /// Creates a lock that owns an open lock file.
    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// Locks a cache's folder. Returns nil if another process has a lock that excludes this lock.
    ///
    /// For a shared lock, this method creates the folder if necessary, because another process may be removing it.
    ///
    /// - Parameter patience: the time to wait, in hundredths of a second; nil for a default.
    static func take(folder: String, _ kind: Kind, patience: Int? = nil) throws(CacheError) -> CacheLock? {
        let path = folder + "/lock"
        while true {
            if kind == .shared { try PrivateFolder.make(folder) }
            var descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if descriptor < 0, errno == ENOENT, kind == .shared { continue }
            // On a read-only disk, a file open for reading suffices: there are no commits to signal, and no process can
            // remove the cache.
            if descriptor < 0, errno == EROFS { descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) }
            guard descriptor >= 0 else { throw .cannotOpen(path) }
            let lock = CacheLock(descriptor: descriptor, path: path)
            switch try lock.claim(kind, patience: patience) {
            case .held: return lock
            case .inUse: return nil
            case .gone: break
            }
        }
    }

    /// Tells all processes that use the cache that there was a commit.
    ///
    /// File watches on the database miss commits: SQLite writes the log before the commit, and the commit becomes
    /// visible through shared memory. Instead, the lock file gets a new random timestamp, by which this process
    /// recognises its own signals.
    func signalCommit() {
        let now = time(nil)
        lastSignal.withLock { signal in
            signal = timespec(tv_sec: now, tv_nsec: Int.random(in: 0..<1_000_000_000))
            let times = [timespec(tv_sec: now, tv_nsec: 0), signal]
            futimens(descriptor, times)
        }
    }

    /// Calls `onSignal` when another process signals a commit.
    ///
    /// The method also calls `onSignal` when another process ends, because that process may have had no time to signal.
    func listen(with watches: FileWatches, _ onSignal: @escaping @Sendable () -> Void) -> FileWatch? {
        watches.watch(path) { [weak self] event in
            if event == .closed || self?.hasSignalledLast == false { onSignal() }
        }
    }

    private var hasSignalledLast: Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return lastSignal.withLock {
            $0.tv_sec == status.st_mtim.tv_sec && $0.tv_nsec == status.st_mtim.tv_nsec
        }
    }

    /// Shows other processes which renditions this process needs. A byte of the file stands for each rendition.
    ///
    /// The shared lock cannot show this, because processes open caches that they do not need.
    func setNeeded(_ renditions: Set<Rendition>) {
        for rendition in Rendition.allCases {
            var byte = Self.byte(of: rendition, renditions.contains(rendition) ? F_RDLCK : F_UNLCK)
            _ = fcntl(descriptor, Self.setOpenFileLock, &byte)
        }
    }

    /// The renditions that other processes need.
    var neededElsewhere: Set<Rendition> {
        Set(
            Rendition.allCases.filter { rendition in
                var byte = Self.byte(of: rendition, F_WRLCK)
                // The call only asks. A lock of the same open file never conflicts. On NFS, the shared lock of another
                // process covers the whole file, and then the length is 0. The system merges the locks of both bytes.
                let isLocked = fcntl(descriptor, Self.getOpenFileLock, &byte) == 0 && byte.l_type != Int16(F_UNLCK)
                return isLocked && byte.l_len != 0
            })
    }

    private static func byte(of rendition: Rendition, _ kind: Int32) -> flock {
        var byte: flock = .init()
        (byte.l_type, byte.l_whence) = (Int16(kind), Int16(SEEK_SET))
        (byte.l_start, byte.l_len) = (rendition == .original ? 1 : 0, 1)
        return byte
    }

    /// `F_OFD_GETLK` and `F_OFD_SETLK`, which glibc defines only with all extensions.
    private static let (getOpenFileLock, setOpenFileLock): (Int32, Int32) = (36, 37)

    /// Gets the lock, or changes its kind.
    ///
    /// If a change fails, the old lock is lost: "the existing lock is first removed, and then a new lock is
    /// established". A process that is just starting holds copies of its parent's locks for a moment, so an exclusive
    /// lock waits.
    func claim(_ kind: Kind, patience: Int? = nil) throws(CacheError) -> Outcome {
        var patience = patience ?? (kind == .exclusive ? 30 : 0)
        while flock(descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK where patience > 0:
                patience -= 1
                _ = poll(nil, 0, Self.interval)
            case EWOULDBLOCK: return .inUse
            default: throw .cannotOpen(path)
            }
        }
        // A process that removes a cache holds the lock while it unlinks the file, so from here on the file keeps its
        // name.
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink > 0 ? .held : .gone
    }
}

/// The right of one process to update a gallery's cache.
///
/// Two processes that update at once would fetch everything twice. The second process waits, and then has little left
/// to fetch. The turn ends when this object is released or its process ends. Reading needs no turn.
public final class UpdateTurn: Sendable {
    private let descriptor: Int32

    /// Gets the right to update by locking the folder. Returns nil if another process has this right.
    init?(folder: String) throws(CacheError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .cannotOpen(folder) }
        self.descriptor = descriptor
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return nil
            default: throw .cannotOpen(folder)
            }
        }
    }

    deinit {
        close(descriptor)
    }
}

extension GalleryCache {
    /// The time between attempts to get a turn.
    private static let turnInterval = Duration.milliseconds(250)

    /// Takes the turns of all caches that no other program updates. Waits until there is one.
    ///
    /// Throws an error as soon as the task is cancelled. The system can also wait for a lock, but no cancellation would
    /// end that wait. The caller must hold no turn, because two programs could wait for each other.
    ///
    /// - Parameter onWait: called with a busy cache before this method starts to wait.
    public static func takeTurns(
        of caches: [GalleryCache], onWait: (GalleryCache) -> Void = { _ in }
    ) async throws -> [(cache: GalleryCache, turn: UpdateTurn)] {
        let clock = BootClock()
        var hasWaited = false
        while true {
            var turns: [(cache: GalleryCache, turn: UpdateTurn)] = []
            for cache in caches {
                if let turn = try UpdateTurn(folder: cache.folder) { turns.append((cache, turn)) }
            }
            guard turns.isEmpty, let busy = caches.first else { return turns }
            if !hasWaited { onWait(busy) }
            hasWaited = true
            try await clock.sleep(until: clock.now + turnInterval)
        }
    }
}
