import SQLite
import Synchronization

/// Small writes that wait to be made together, each for somebody who waits for it.
///
/// A commit waits for the disk, however little is in it, and a fast network brings a thousand thumbnails a second. So who
/// comes while something is being written waits, and goes into the next transaction with all others that have come
/// meanwhile. Who comes alone waits for nobody.
final class SharedWrites: Sendable {
    /// One of them.
    struct Write: Sendable {
        fileprivate let number: Int
        /// Bytes that it brings.
        fileprivate let size: Int
        /// Does it, in a transaction that may be undone and done again.
        let body: @Sendable (Connection) throws -> Bool
        fileprivate let continuation: CheckedContinuation<Bool, any Error>

        /// Tells who waits for it how it went: after the commit and not before.
        func end(_ result: Result<Bool, any Error>) { continuation.resume(with: result) }
    }

    private struct State {
        /// In the order in which they came.
        var waiting: [Write] = []
        var lastNumber = 0
        /// Whether the writer has been called and has not yet found nothing to write.
        var isCalled = false
    }

    /// How many go into one transaction. The network lets no more than that wait, and whatever else is to be written waits
    /// for it.
    static let largestCount = 256
    /// Bytes that go into one transaction, unless a single write has more.
    static let largestSize = 4 << 20

    private let state = Mutex(State())

    /// Waits until a write has been made, and returns what it returned.
    ///
    /// - Parameters:
    ///   - isCancellable: whether it is not made, and a `CancellationError` thrown, if the task is cancelled before its
    ///     transaction has begun.
    ///   - call: has the writer take what waits. It is called once for all that come until the writer has found nothing.
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
                    // Who is cancelled from here on finds it among those that wait.
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

    /// Hands out what goes into the next transaction, the first that came first.
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

    /// Whether more has come meanwhile. If not, the next who comes calls the writer again.
    func hasMore() -> Bool {
        state.withLock { state in
            state.isCalled = !state.waiting.isEmpty
            return state.isCalled
        }
    }
}
