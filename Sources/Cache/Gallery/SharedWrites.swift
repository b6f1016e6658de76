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
        /// Performs the write. The closure may run a second time after a rollback.
        let body: @Sendable (Connection) throws -> Bool
        fileprivate let continuation: CheckedContinuation<Bool, any Error>

        /// Resumes the caller with a result. Call this method after the commit.
        func end(_ result: Result<Bool, any Error>) { continuation.resume(with: result) }
    }

    private struct State {
        /// The pending writes, in order of arrival.
        var waiting: [Write] = []
        var lastNumber = 0
        /// Whether the writer has been called and has not yet found the queue empty.
        var isCalled = false
    }

    /// The most writes per transaction. The number matches the network's limit of requests. Other writes wait for the
    /// transaction.
    static let largestCount = 256
    /// The most bytes per transaction, unless a single write is larger.
    static let largestSize = 4 << 20

    private let state = Mutex(State())

    /// Queues a write, waits for its commit, and returns its result.
    ///
    /// - Parameters:
    ///   - isCancellable: whether the write is skipped, and this throws `CancellationError`, if the task is cancelled
    ///     before the transaction.
    ///   - call: makes the writer take the queue. `add` calls it again only after the writer has found the queue empty.
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

    /// Removes the writes for the next transaction from the queue and returns them.
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

    /// Whether the queue has more writes. If the queue is empty, the next `add` calls the writer again.
    func hasMore() -> Bool {
        state.withLock { state in
            state.isCalled = !state.waiting.isEmpty
            return state.isCalled
        }
    }
}
