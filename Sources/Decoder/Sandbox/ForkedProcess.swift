import CSandbox
import Glibc

/// A fork of this process for one task. The kernel kills the fork when this process ends.
///
///     let process = try ForkedProcess { decode() }
///     // … poll process.descriptor …
///     let status = process.reap()
public struct ForkedProcess: Sendable {
    private let number: pid_t
    /// A descriptor that becomes readable when the process has ended.
    public let descriptor: CInt

    /// The reason why the fork failed.
    public struct Failure: Error {
        /// The system's error code.
        public let code: Int32
    }

    /// Forks a process that runs `body`. The current process must have one thread.
    public init(_ body: () -> Never) throws(Failure) {
        number = csandbox_fork()
        if number == 0 { body() }
        guard number > 0 else { throw Failure(code: errno) }
        descriptor = csandbox_watch(number)
        guard descriptor >= 0 else {
            let code = errno
            end()
            wait()
            throw Failure(code: code)
        }
    }

    /// Kills the process, unless it has already ended.
    public func end() {
        kill(number, SIGKILL)
    }

    /// Waits for the process to end. Returns the wait status of the process, 0 for success.
    @discardableResult
    public func reap() -> Int32 {
        close(descriptor)
        return wait()
    }

    @discardableResult
    private func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(number, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
