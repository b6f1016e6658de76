import Foundation

/// A finished program with its output and status.
public struct Command: Sendable {
    /// The bytes of standard output.
    public let output: [UInt8]
    /// The text of standard error.
    public let errors: String
    /// Its exit code; minus the signal that ended it.
    public let status: Int32

    /// Standard output as text.
    public var text: String { String(decoding: output, as: UTF8.self) }
    /// Its lines.
    public var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// Runs a program and waits for it.
    public init(_ path: String, _ arguments: [String], environment: [String: String]? = nil) throws {
        let folder = TestFolder()
        // Files instead of pipes: a server that the program leaves running may keep them open.
        let files = ["output", "errors"].map { open(folder.write($0, ""), O_WRONLY | O_CLOEXEC) }
        defer { for file in files { close(file) } }
        let process = try ChildProcess(
            path, arguments, environment: environment, output: files[0], errors: files[1])
        status = process.wait()
        output = Array(FileManager.default.contents(atPath: folder.path("output")) ?? Data())
        errors = String(decoding: FileManager.default.contents(atPath: folder.path("errors")) ?? Data(), as: UTF8.self)
    }
}
