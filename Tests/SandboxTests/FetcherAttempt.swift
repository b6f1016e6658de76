import Foundation
import PictureTestSupport
import TestSupport

/// An action that a compromised fetcher might try.
struct FetcherAttempt: Sendable, CustomStringConvertible {
    /// The action.
    let description: String
    /// Landlock's error and the version it requires; nil if Landlock does not forbid it.
    var landlock: (error: Int32, version: Int)?
    /// The error of the system call filter; nil if the filter does not forbid it.
    var seccomp: Int32?
    /// The errors outside, where the action needs a privilege or a part of the kernel that may be missing.
    var outside: Set<Int32> = []

    /// The actions of which at least one restriction stops each.
    static let all: [FetcherAttempt] = [
        FetcherAttempt(description: "read outside", landlock: (EACCES, 2)),
        FetcherAttempt(description: "list outside", landlock: (EACCES, 2)),
        FetcherAttempt(description: "write outside", landlock: (EACCES, 2)),
        FetcherAttempt(description: "create outside", landlock: (EACCES, 2)),
        FetcherAttempt(description: "truncate outside", landlock: (EACCES, 3), seccomp: EPERM),
        FetcherAttempt(description: "write a photo", landlock: (EACCES, 2)),
        FetcherAttempt(description: "create beside photos", landlock: (EACCES, 2)),
        FetcherAttempt(description: "remove a photo", landlock: (EACCES, 2)),
        FetcherAttempt(description: "move out of the cache", landlock: (EACCES, 2)),
        // The same error as between file systems, because the new place gives more rights to the file.
        FetcherAttempt(description: "link into the cache", landlock: (EXDEV, 2)),
        FetcherAttempt(description: "make a pipe in the cache", landlock: (EACCES, 2), seccomp: EPERM),
        FetcherAttempt(description: "make a link in the cache", landlock: (EACCES, 2), seccomp: EPERM),
        FetcherAttempt(description: "open /proc/PID/mem", landlock: (EACCES, 2)),
        // Landlock does not know permissions and times.
        FetcherAttempt(description: "chmod", seccomp: EPERM),
        FetcherAttempt(description: "utimensat", seccomp: EPERM),
        FetcherAttempt(description: "fchmod, photo", seccomp: EPERM),
        FetcherAttempt(description: "fchown, photo", seccomp: EPERM),
        FetcherAttempt(description: "execve a program", landlock: (EACCES, 2), seccomp: EPERM),
        FetcherAttempt(description: "execveat", landlock: (EACCES, 2), seccomp: EPERM),
        FetcherAttempt(description: "fork", seccomp: EPERM),
        FetcherAttempt(description: "clone", seccomp: EPERM),
        // The C library then makes threads with clone.
        FetcherAttempt(description: "clone3", seccomp: ENOSYS),
        FetcherAttempt(description: "ptrace", landlock: (EPERM, 2), seccomp: EPERM),
        FetcherAttempt(description: "process_vm_readv", landlock: (EPERM, 2), seccomp: EPERM),
        FetcherAttempt(description: "pidfd_getfd", landlock: (EPERM, 2), seccomp: EPERM),
        FetcherAttempt(description: "signal", landlock: (EPERM, 6), seccomp: EPERM),
        FetcherAttempt(description: "tgkill", landlock: (EPERM, 6), seccomp: EPERM),
        // Landlock refuses such a signal later.
        FetcherAttempt(description: "F_SETOWN", seccomp: EPERM),
        FetcherAttempt(description: "prlimit", seccomp: EPERM),
        FetcherAttempt(description: "connect, abstract", landlock: (EPERM, 6)),
        FetcherAttempt(description: "bind", landlock: (EACCES, 4)),
        FetcherAttempt(description: "listen", seccomp: EPERM),
        FetcherAttempt(description: "accept", seccomp: EPERM),
        FetcherAttempt(description: "socket, raw", seccomp: EACCES, outside: [EPERM]),
        FetcherAttempt(description: "socket, packet", seccomp: EACCES, outside: [EPERM]),
        FetcherAttempt(description: "socket, devices", seccomp: EACCES),
        FetcherAttempt(description: "unshare", seccomp: EPERM),
        FetcherAttempt(description: "mount", landlock: (EPERM, 2), seccomp: EPERM, outside: [ENODEV, EPERM]),
        FetcherAttempt(description: "keyctl", seccomp: EPERM, outside: [ENOSYS, EPERM]),
        FetcherAttempt(description: "io_uring_setup", seccomp: EPERM, outside: [ENOSYS, EPERM]),
        FetcherAttempt(description: "personality", seccomp: EPERM),
    ]

    /// The attempts that the restrictions of the screens refuse, with their errors.
    static let onScreens: [FetcherAttempt] = [
        FetcherAttempt(description: "socket, IPv4", seccomp: EACCES),
        FetcherAttempt(description: "socket, IPv6", seccomp: EACCES),
        FetcherAttempt(description: "socket, raw", seccomp: EACCES, outside: [EPERM]),
        FetcherAttempt(description: "socket, packet", seccomp: EACCES, outside: [EPERM]),
        FetcherAttempt(description: "socket, NETLINK_ROUTE", seccomp: EACCES),
        FetcherAttempt(description: "ptrace", seccomp: EPERM),
        FetcherAttempt(description: "process_vm_readv", seccomp: EPERM),
        FetcherAttempt(description: "pidfd_getfd", seccomp: EPERM),
        FetcherAttempt(description: "keyctl", seccomp: EPERM, outside: [ENOSYS, EPERM]),
        FetcherAttempt(description: "io_uring_setup", seccomp: EPERM, outside: [ENOSYS, EPERM]),
    ]

    /// The actions that the fetcher needs.
    static let needed = [
        "resolve localhost", "connect, both families", "load curl and fetch", "write a database", "keep files",
        "read photos", "watch photos", "make threads", "ask about networks", "signal itself",
        "ask about an ended process", "socket, UNIX", "connect, TCP",
    ]

    /// Tries it with these restrictions, on files of its own.
    func outcome(_ restrictions: String) throws -> Attempt.Outcome { try Self.outcome(restrictions, description) }

    /// Tries an action with these restrictions, on files of its own.
    static func outcome(_ restrictions: String, _ action: String) throws -> Attempt.Outcome {
        let folder = TestFolder()
        for name in ["cache/file", "photos/photo", "secret"] { folder.write(name, "text") }
        // A file open for writing cannot be executed, and a child that another test has just forked might hold it.
        _ = try DecoderProcess.run(
            ["/bin/cp", "/bin/true", folder.path("program")], input: STDIN_FILENO, output: STDERR_FILENO)
        return try Attempt.outcome(restrictions, action, folder.path)
    }
}
