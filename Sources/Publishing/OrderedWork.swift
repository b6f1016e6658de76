import Dispatch
import Concurrency
import Synchronization

/// Work that is done side by side, and comes back in the order in which it was given.
///
///     while !work.isFull, let next = walk.next() { work.add { decode(next) } }
///     let first = work.next()
///
/// No more is taken than fits, so that what comes back is bounded too however slow the first one is. Used by one thread.
final class OrderedWork<Value: Sendable> {
    /// One piece of work, and what came of it.
    private final class Piece: Sendable {
        private let value: Mutex<Value?>
        private let isDone = DispatchSemaphore(value: 0)

        init(_ value: Value? = nil) {
            self.value = Mutex(value)
            if value != nil { isDone.signal() }
        }

        func finish(_ value: Value) {
            self.value.withLock { $0 = value }
            isDone.signal()
        }

        func wait() -> Value? {
            isDone.wait()
            return value.withLock { $0 }
        }
    }

    private let workers: Workers
    private let room: Int
    /// The oldest first.
    private var pieces: [Piece] = []

    /// - Parameter room: how many may be given before the first is taken back.
    init(_ workers: Workers, room: Int) {
        self.workers = workers
        self.room = room
    }

    var isFull: Bool { pieces.count >= room }

    /// Gives work.
    func add(_ work: @escaping @Sendable () -> Value) {
        let piece = Piece()
        pieces.append(piece)
        workers.run { piece.finish(work()) }
    }

    /// Gives what is done already, to come back in its turn.
    func add(done value: Value) {
        pieces.append(Piece(value))
    }

    /// Waits for the oldest, and takes it back; nil if there is none.
    func next() -> Value? {
        pieces.isEmpty ? nil : pieces.removeFirst().wait()
    }
}
