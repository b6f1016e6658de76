import CSandbox
import Glibc

/// A copy of this process, made to do one thing and end. It is killed when this process ends.
///
///     let process = try ForkedProcess { decode() }
///     // … poll process.descriptor …
///     let status = process.reap()
public struct ForkedProcess: Sendable {
    private let number: pid_t
    /// Readable as soon as it has ended.
    public let descriptor: CInt

    /// Why there is none.
    public struct Failure: Error {
        /// The system's reason.
        public let code: Int32
    }

    /// Makes one that does `body`. This process has to have one thread.
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

    /// Ends it, if it has not ended by itself.
    public func end() {
        kill(number, SIGKILL)
    }

    /// Waits for its end, and forgets it. Returns the system's word of how it ended, 0 if all is well.
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
