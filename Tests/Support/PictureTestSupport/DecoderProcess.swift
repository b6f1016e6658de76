import Foundation
import Pixels

/// Starts the decoder as Vitrine does, and waits for its end.
public struct DecoderProcess {
    /// The way to create its process.
    public enum Origin: CaseIterable, Sendable {
        case program, server
    }

    /// The exit status, or 128 plus the signal that ended it.
    public let status: Int32
    /// The answer's block.
    public let output: SealedMemory

    /// The program, built beside the tests.
    public static var path: String {
        get throws {
            let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let folder = URL(fileURLWithPath: tests).deletingLastPathComponent()
            return folder.appendingPathComponent("vitrine-decoder").path
        }
    }

    /// Decodes bytes in a sealed block.
    public init(
        _ bytes: [UInt8], arguments: [String], through command: [String] = [], from origin: Origin = .program
    ) throws {
        let input = try SealedMemory(sealing: bytes)
        try self.init(input: input.descriptor, arguments: arguments, through: command, from: origin)
    }

    /// Decodes an open file. `command` is a program that starts the decoder: `["/usr/bin/prlimit", …]`.
    public init(
        input: CInt, arguments: [String], through command: [String] = [], from origin: Origin = .program
    ) throws {
        let output = try SealedMemory()
        let status =
            switch origin {
            case .program: try Self.run(command + [Self.path] + arguments, input: input, output: output.descriptor)
            case .server:
                try Self.serve(command + [Self.path], arguments, input: input, output: output.descriptor)
            }
        self.init(status: status, output: output)
    }

    /// Starts a server for one picture, with any descriptors. Returns the process's status like `run`.
    public static func serve(_ command: [String], _ arguments: [String], input: CInt, output: CInt) throws -> Int32 {
        let (requests, client) = (try PacketSocket.pair(), try PacketSocket.pair())
        // Invalid arguments become an invalid packet.
        let packet = (try? DecodeRequest(arguments: arguments).packet) ?? arguments.flatMap { Array($0.utf8) }
        try requests.0.send(packet, passing: [input, output, client.1.descriptor])
        // The server accepts one request and exits.
        requests.0.finish()
        guard try run(command + [DecoderService.argument], input: requests.1.descriptor, output: STDERR_FILENO) == 0,
            case .ended(let status)? = DecoderService.End(bytes: try client.0.receive(atMost: 64).bytes)
        else { throw ToolError(path: "vitrine-decoder --serve", status: -1) }
        return word(status)
    }

    private static func word(_ status: Int32) -> Int32 {
        status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }

    /// Runs the decoder with any descriptors.
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
        return word(status)
    }

    private init(status: Int32, output: SealedMemory) {
        self.status = status
        self.output = output
    }
}
