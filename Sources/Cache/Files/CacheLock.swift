import Concurrency
import Glibc
import Synchronization

/// Says that a gallery's cache is in use, to other processes.
///
/// Any number of programs may use a cache at once; only who would take it away, or put another database in its place, has
/// to be alone with it. The system drops the lock when its holder ends, however it ends.
final class CacheLock: Sendable {
    /// How a cache is held.
    enum Kind {
        /// Used, beside others.
        case shared
        /// About to be removed.
        case exclusive
    }

    /// What became of an attempt to lock.
    enum Outcome {
        case held
        /// Somebody's lock is in the way.
        case inUse
        /// The file has been removed meanwhile: a lock on it keeps nobody out.
        case gone
    }

    /// Milliseconds after which who waits for somebody's lock looks again.
    static let interval: Int32 = 10

    private let descriptor: Int32
    private let path: String
    private let lastRing = Mutex(timespec())

    /// Takes over an open lock file.
    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// Takes the lock of a cache's folder, or returns nil if somebody's is in the way.
    ///
    /// A folder that is to be shared is made, if there is none: somebody may be removing it at this moment.
    ///
    /// - Parameter patience: how many hundredths of a second to wait for somebody's lock to go.
    static func take(folder: String, _ kind: Kind, patience: Int? = nil) throws(CacheError) -> CacheLock? {
        let path = folder + "/lock"
        while true {
            if kind == .shared { try PrivateFolder.make(folder) }
            var descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if descriptor < 0, errno == ENOENT, kind == .shared { continue }
            // Nobody can be told of anything there, but nobody may remove it either.
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

    /// Tells all that hold this lock, in whatever process, that something was committed.
    ///
    /// The database's own files cannot tell it: the log is written before a commit is done, and what makes it visible is
    /// written through a mapping, which no watch hears. So the lock's file is given another time, by which its own ringing
    /// is known from others'.
    func ring() {
        let now = time(nil)
        lastRing.withLock { ring in
            ring = timespec(tv_sec: now, tv_nsec: Int.random(in: 0..<1_000_000_000))
            let times = [timespec(tv_sec: now, tv_nsec: 0), ring]
            futimens(descriptor, times)
        }
    }

    /// Listens for others' ringing, and for the end of a process, which may not have come to it.
    func listen(_ onRing: @escaping @Sendable () -> Void) -> FileWatch? {
        FileWatch(path) { [weak self] event in
            if event == .closed || self?.hasRungLast == false { onRing() }
        }
    }

    private var hasRungLast: Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return lastRing.withLock {
            $0.tv_sec == status.st_mtim.tv_sec && $0.tv_nsec == status.st_mtim.tv_nsec
        }
    }

    /// Locks the file, or makes another lock of the one that is held, which is lost if that fails: "the existing lock is
    /// first removed, and then a new lock is established".
    ///
    /// A process that is just being started has copies of its starter's descriptors, locks and all, until it runs its own
    /// program. So somebody else's lock is believed in only when it stays.
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
        // Who removes a cache unlinks the file under the lock, so now it has a name or will never have one.
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink > 0 ? .held : .gone
    }
}

/// One program's turn at filling a gallery's cache. Two that did so at once would fetch everything twice; so the second
/// waits, and then finds next to nothing left to fetch.
///
/// The turn ends with this object, or with the program, however that ends. Who only looks at a gallery needs none.
public final class UpdateTurn: Sendable {
    private let descriptor: Int32

    /// Takes the turn; nil if it is somebody else's. What is locked is the folder, which has no contents to be locked for.
    init?(folder: String, waits: Bool) throws(CacheError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .cannotOpen(folder) }
        self.descriptor = descriptor
        while flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
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
    /// Waits until no other program fills this cache.
    ///
    /// - Parameter onWait: called if somebody else is at it.
    public func takeTurn(onWait: () -> Void = {}) async throws -> UpdateTurn {
        if let turn = try UpdateTurn(folder: folder, waits: false) { return turn }
        onWait()
        return try await TurnWaiter().wait(for: folder)
    }
}

/// Holds a thread until the turn has come.
private actor TurnWaiter {
    private let executor = QueueExecutor(label: "vitrine.cache.turn")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func wait(for folder: String) throws -> UpdateTurn {
        guard let turn = try UpdateTurn(folder: folder, waits: true) else { throw CacheError.locked(path: folder) }
        return turn
    }
}
