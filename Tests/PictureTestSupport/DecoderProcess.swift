import Foundation
import Pixels

/// Starts the helper as Vitrine does, and waits for its end.
public struct DecoderProcess {
    /// The exit status, or 128 and the signal that ended it.
    public let status: Int32
    /// What it wrote.
    public let output: SealedMemory

    /// The program, built beside the tests.
    public static var path: String {
        get throws {
            let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let folder = URL(fileURLWithPath: tests).deletingLastPathComponent()
            return folder.appendingPathComponent("vitrine-decoder").path
        }
    }

    /// Decodes a sealed block of those bytes.
    public init(_ bytes: [UInt8], arguments: [String], through command: [String] = []) throws {
        let input = try SealedMemory(sealing: bytes)
        try self.init(input: input.descriptor, arguments: arguments, through: command)
    }

    /// Decodes what a descriptor refers to. `command` is a program that starts the helper: `["/usr/bin/prlimit", …]`.
    public init(input: CInt, arguments: [String], through command: [String] = []) throws {
        let output = try SealedMemory()
        self.init(
            status: try Self.run(command + [Self.path] + arguments, input: input, output: output.descriptor),
            output: output)
    }

    /// Runs the helper with any descriptors.
    public static func run(_ arguments: [String], input: CInt, output: CInt) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        defer { words.forEach { free($0) } }
        words.append(nil)
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var process = pid_t()
        let failure = posix_spawn(&process, arguments[0], &actions, nil, &words, &environment)
        guard failure == 0 else { throw ToolError(path: arguments[0], status: failure) }
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }

    private init(status: Int32, output: SealedMemory) {
        self.status = status
        self.output = output
    }
}
