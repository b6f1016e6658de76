import Foundation

/// A program that is run to its end, and what came of it.
public struct Command: Sendable {
    /// What it wrote to standard output.
    public let output: [UInt8]
    /// What it wrote to standard error.
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
        // Into files and not pipes: a server that the program leaves behind may keep them open as long as it likes.
        let files = ["output", "errors"].map { open(folder.write($0, ""), O_WRONLY | O_CLOEXEC) }
        defer { for file in files { close(file) } }
        let process = try ChildProcess(
            path, arguments, environment: environment, output: files[0], errors: files[1])
        status = process.wait()
        output = Array(FileManager.default.contents(atPath: folder.path("output")) ?? Data())
        errors = String(decoding: FileManager.default.contents(atPath: folder.path("errors")) ?? Data(), as: UTF8.self)
    }
}
