import SQLite
import Synchronization

/// Collects small writes for one transaction.
///
/// Each commit waits for the disk, and a fast network delivers a thousand thumbnails a second. Writes that arrive
/// during a transaction share the next one. A single write does not wait for others.
final class SharedWrites: Sendable {
    /// A pending write.
    struct Write: Sendable {
        fileprivate let number: Int
        /// The number of bytes to write.
        fileprivate let size: Int
        /// Performs the write. It may run a second time after a rollback.
        let body: @Sendable (Connection) throws -> Bool
        fileprivate let continuation: CheckedContinuation<Bool, any Error>

        /// Resumes the caller. Call it after the commit.
        func end(_ result: Result<Bool, any Error>) { continuation.resume(with: result) }
    }

    private struct State {
        /// In order of arrival.
        var waiting: [Write] = []
        var lastNumber = 0
        /// Whether the writer has been called and has not found the queue empty since.
        var isCalled = false
    }

    /// The most writes per transaction. It matches the network's limit, and other writes wait for the transaction.
    static let largestCount = 256
    /// The most bytes per transaction, unless a single write is larger.
    static let largestSize = 4 << 20

    private let state = Mutex(State())

    /// Queues a write, waits for its commit, and returns its result.
    ///
    /// - Parameters:
    ///   - isCancellable: whether a task cancelled before the transaction writes nothing and throws a
    ///     `CancellationError`.
    ///   - call: makes the writer take the queue. It is called once until the writer has found the queue empty.
    func add(
        size: Int, isCancellable: Bool, call: () -> Void, _ body: @escaping @Sendable (Connection) throws -> Bool
    ) async throws -> Bool {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let write = Write(number: number, size: size, body: body, continuation: continuation)
                let (isTaken, isFirst) = state.withLock { state in
                    // A later cancellation will find it in the queue.
                    if isCancellable, Task.isCancelled { return (false, false) }
                    state.waiting.append(write)
                    defer { state.isCalled = true }
                    return (true, !state.isCalled)
                }
                if !isTaken { write.end(.failure(CancellationError())) }
                if isFirst { call() }
            }
        } onCancel: {
            if isCancellable { cancel(number) }
        }
    }

    private func cancel(_ number: Int) {
        let write = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        write?.end(.failure(CancellationError()))
    }

    /// Removes and returns the writes for the next transaction.
    func take() -> [Write] {
        state.withLock { state in
            var size = 0
            let count = state.waiting.prefix(Self.largestCount).prefix { write in
                defer { size += write.size }
                return size == 0 || size + write.size <= Self.largestSize
            }.count
            defer { state.waiting.removeFirst(count) }
            return Array(state.waiting.prefix(count))
        }
    }

    /// Whether the queue has more writes. If not, the next write calls the writer again.
    func hasMore() -> Bool {
        state.withLock { state in
            state.isCalled = !state.waiting.isEmpty
            return state.isCalled
        }
    }
}
