import Glibc
import Concurrency

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
