import Foundation

/// A child process, started and waited for with system calls.
///
/// Foundation's `Process` notices the end of a child by a descriptor that the child's own children keep open. So it
/// would wait for a server that stays, not for the client that started it.
public final class ChildProcess: @unchecked Sendable {
    /// Its number.
    public let number: pid_t
    private let lock = NSLock()
    private var status: Int32?

    /// Starts a program. Missing descriptors become `/dev/null`.
    ///
    /// - Parameter environment: the program's variables; nil for those of the tests.
    public init(
        _ path: String, _ arguments: [String], environment: [String: String]? = nil, input: Int32? = nil,
        output: Int32? = nil, errors: Int32? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in [input, output, errors].enumerated() {
            if let descriptor {
                posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
            }
        }
        var attributes = posix_spawnattr_t(isNewSession: false)
        defer { posix_spawnattr_destroy(&attributes) }
        let variables = environment ?? ProcessInfo.processInfo.environment
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        var pairs: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + pairs { free(word) } }
        var number = pid_t()
        let failure = posix_spawn(&number, path, &actions, &attributes, &words, &pairs)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        self.number = number
    }

    /// Whether it has ended.
    public var hasEnded: Bool {
        var state = siginfo_t()
        return waitid(P_PID, id_t(number), &state, WEXITED | WNOHANG | WNOWAIT) != 0 || state.si_signo == SIGCHLD
    }

    /// Waits for the process, and returns its exit code; minus the signal, if a signal ended it.
    @discardableResult
    public func wait() -> Int32 {
        lock.lock()
        defer { lock.unlock() }
        if let status { return status }
        var raw: Int32 = 0
        while waitpid(number, &raw, 0) < 0, errno == EINTR {}
        let code = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
        status = code
        return code
    }

    /// Sends a signal and waits for the process.
    @discardableResult
    public func end(_ signal: Int32 = SIGTERM) -> Int32 {
        kill(number, signal)
        return wait()
    }

    /// Makes a pipe. A child inherits an end only if it is passed explicitly.
    public static func makePipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}

extension posix_spawnattr_t {
    /// Attributes of a program that gets every signal, also where the tests run in the background and ignore some.
    init(isNewSession: Bool) {
        self.init()
        posix_spawnattr_init(&self)
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&self, &none)
        posix_spawnattr_setsigdefault(&self, &all)
        let session: Int32 = isNewSession ? 0x80 : 0  // POSIX_SPAWN_SETSID
        posix_spawnattr_setflags(&self, Int16(session | Int32(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)))
    }
}
