import Foundation
import PictureTestSupport
import Pixels
import TestSupport

/// An action that the decoder's sandbox forbids, tried by a program inside it.
struct Attempt: Sendable, CustomStringConvertible {
    /// The result of the attempt.
    enum Outcome: Equatable {
        case done
        /// Refused with an error.
        case refused(Int32)
        /// The kernel killed the process with SIGSYS.
        case killed
    }

    /// The sandbox of the program that tries it.
    enum Restrictions: String {
        case all, landlock, seccomp, none
        /// The server's sandbox, and that of a process it has forked.
        case server, served
    }

    /// The system call and its purpose.
    let description: String
    /// Landlock's error and the version it requires; nil if Landlock does not forbid it.
    var landlock: (error: Int32, version: Int)?
    /// The result of the system call filter.
    var seccomp = Outcome.killed
    /// The result in the server; nil if it is the same.
    var server: Outcome?

    static let all: [Attempt] = [
        // Libraries look for optional files, so these calls are refused without killing the process.
        Attempt(description: "open", landlock: (EACCES, 1), seccomp: .refused(EPERM)),
        Attempt(description: "openat", landlock: (EACCES, 1), seccomp: .refused(EPERM)),
        Attempt(description: "openat, creating", landlock: (EACCES, 1), seccomp: .refused(EPERM)),
        // The C library uses this call to get a file's type, before a picture's process is confined.
        Attempt(description: "newfstatat", seccomp: .refused(EPERM), server: .done),
        // A server must be able to do this.
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
        // A server kills its own processes, and no others where the kernel can ensure that.
        Attempt(description: "kill", landlock: (EPERM, 6), server: .refused(EPERM)),
        Attempt(description: "mmap, executable"),
        Attempt(description: "mprotect, executable"),
        Attempt(description: "memfd_create"),
    ]

    /// Tries it, on a file of its own.
    func outcome(_ restrictions: Restrictions) throws -> Outcome {
        let folder = TestFolder()
        let file = folder.path("file")
        // A separate program writes the file and exits. A file open for writing cannot be executed, and a child that
        // another test has just forked might hold the descriptor.
        _ = try DecoderProcess.run(["/bin/cp", "/bin/true", file], input: STDIN_FILENO, output: STDERR_FILENO)
        return try Self.outcome(restrictions.rawValue, description, file)
    }

    /// Runs the program that tries an action.
    static func outcome(_ restrictions: String, _ action: String, _ place: String) throws -> Outcome {
        let (status, text) = try run(restrictions, action, place)
        if status == 128 + SIGSYS { return .killed }
        guard status == 0 else { throw ToolError(path: "sandbox-probe", status: status) }
        // An executed program succeeded and printed nothing.
        guard !text.isEmpty else { return .done }
        let error = Int32(text) ?? -1
        return error == 0 ? .done : .refused(error)
    }

    /// Runs the program. Returns its status, and its output.
    static func run(_ restrictions: String, _ action: String, _ place: String) throws -> (status: Int32, text: String) {
        let (input, output) = (try SealedMemory(), try SealedMemory())
        let status = try DecoderProcess.run(
            [Built.folder + "/sandbox-probe", restrictions, action, place], input: input.descriptor,
            output: output.descriptor)
        var text = [UInt8](repeating: 0, count: 64)
        let count = pread(output.descriptor, &text, text.count, 0)
        return (status, String(decoding: text.prefix(max(0, count)), as: UTF8.self))
    }
}
