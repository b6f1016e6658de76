import Foundation
import PictureTestSupport
import Pixels
import TestSupport

/// Something that a decoder may not do, tried by a program in the decoder's confinement.
struct Attempt: Sendable, CustomStringConvertible {
    /// What came of it.
    enum Outcome: Equatable {
        case done
        /// Refused with an error.
        case refused(Int32)
        /// The kernel ended the process, by SIGSYS.
        case killed
    }

    /// How confined the program is that tries it.
    enum Restrictions: String {
        case all, landlock, seccomp, none
        /// Those of the server, and those of a process that it has made, which has its own inside them.
        case server, served
    }

    /// The system call, and what for.
    let description: String
    /// What Landlock refuses it with, and from which version on; nil where it is none of Landlock's business.
    var landlock: (error: Int32, version: Int)?
    /// What the filter makes of it.
    var seccomp = Outcome.killed
    /// What comes of it in the server; nil where it is the same.
    var server: Outcome?

    static let all: [Attempt] = [
        // Libraries look for files that they can do without; so these are refused and do not end it.
        Attempt(description: "open", landlock: (EACCES, 1), seccomp: .refused(EPERM)),
        Attempt(description: "openat", landlock: (EACCES, 1), seccomp: .refused(EPERM)),
        Attempt(description: "openat, creating", landlock: (EACCES, 1), seccomp: .refused(EPERM)),
        // The C library asks by this call of what kind a descriptor's file is, before a picture's process is confined.
        Attempt(description: "newfstatat", seccomp: .refused(EPERM), server: .done),
        // That is what a server is for.
        Attempt(description: "clone", seccomp: .refused(EPERM), server: .done),
        Attempt(description: "clone3", seccomp: .refused(EPERM)),
        Attempt(description: "openat2", landlock: (EACCES, 1)),
        Attempt(description: "truncate", landlock: (EACCES, 3)),
        Attempt(description: "unlinkat", landlock: (EACCES, 1)),
        Attempt(description: "fchmodat"),
        Attempt(description: "connect, TCP", landlock: (EACCES, 4)),
        Attempt(description: "connect, abstract", landlock: (EPERM, 6)),
        Attempt(description: "socket"),
        Attempt(description: "execve", landlock: (EACCES, 1)),
        Attempt(description: "fork"),
        Attempt(description: "ptrace", landlock: (EPERM, 1)),
        Attempt(description: "process_vm_readv", landlock: (EPERM, 1)),
        // A server ends processes of its own, and where the kernel sees to it, no others.
        Attempt(description: "kill", landlock: (EPERM, 6), server: .refused(EPERM)),
        Attempt(description: "mmap, executable"),
        Attempt(description: "mprotect, executable"),
        Attempt(description: "memfd_create"),
    ]

    /// Tries it, on a file of its own.
    func outcome(_ restrictions: Restrictions) throws -> Outcome {
        let folder = TestFolder()
        let file = folder.path("file")
        // By a program that has ended: what is open for writing anywhere, if only in a child that another test has just
        // forked, cannot be executed.
        _ = try DecoderProcess.run(["/bin/cp", "/bin/true", file], input: STDIN_FILENO, output: STDERR_FILENO)
        let (input, output) = (try SealedMemory(), try SealedMemory())
        let status = try DecoderProcess.run(
            [Built.folder + "/sandbox-probe", restrictions.rawValue, description, file], input: input.descriptor,
            output: output.descriptor)
        if status == 128 + SIGSYS { return .killed }
        guard status == 0 else { throw ToolError(path: "sandbox-probe", status: status) }
        var text = [UInt8](repeating: 0, count: 16)
        let count = pread(output.descriptor, &text, text.count, 0)
        // What was executed ended well, and says nothing.
        guard count > 0 else { return .done }
        let error = Int32(String(decoding: text.prefix(count), as: UTF8.self)) ?? -1
        return error == 0 ? .done : .refused(error)
    }
}
