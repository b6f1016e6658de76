import Dispatch
import Testing

/// Runs tests that block their thread on threads of their own.
///
///     @Suite(.ownThread) struct DetectionTests { … }
///
/// Swift has only one thread per processor for all asynchronous code. Tests that block there, for example while they
/// wait for another program, stop every other test, for minutes on two processors.
public struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    /// Applies to each test of a suite.
    public var isRecursive: Bool { true }

    /// Runs a test on such a thread.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(Executor.shared) { try await function() }
    }

    /// Uses libdispatch, which makes another thread when one blocks.
    private final class Executor: TaskExecutor {
        static let shared = Executor()
        private let queue = DispatchQueue(label: "tests that block", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}

extension Trait where Self == OwnThread {
    /// For tests that wait for programs or threads, or that compute for long.
    public static var ownThread: Self { OwnThread() }
}
