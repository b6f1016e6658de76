import Dispatch
import Testing

/// Runs tests that block their thread on threads of their own.
///
///     @Suite(.ownThread) struct DetectionTests { … }
///
/// Swift's own threads are as few as the processors, and all that is asynchronous shares them: tests that wait there for
/// another program keep every other test from going on, for as long as minutes where there are two.
public struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    /// It holds for each test of a suite.
    public var isRecursive: Bool { true }

    /// Runs a test there.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(Executor.shared) { try await function() }
    }

    /// libdispatch makes another thread where one blocks.
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
    /// For tests that wait for other programs or for threads, and for those that compute for long.
    public static var ownThread: Self { OwnThread() }
}
