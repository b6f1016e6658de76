import Foundation
import TestSupport

/// Runs the programs that make the tests' pictures. Debian: `libjpeg-turbo-progs` and `imagemagick`.
public enum Tool {
    /// Returns a program's output for bytes on its standard input.
    public static func run(_ path: String, _ arguments: [String], input: [UInt8]) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files instead of pipes: no side can block on the other's buffer.
        let (source, result) = (folder.appendingPathComponent("in"), folder.appendingPathComponent("out"))
        try Data(input).write(to: source)
        try Data().write(to: result)
        let (input, output) = (try FileHandle(forReadingFrom: source), try FileHandle(forWritingTo: result))
        let status = try ChildProcess(
            path, arguments, input: input.fileDescriptor, output: output.fileDescriptor
        ).wait()
        guard status == 0 else { throw ToolError(path: path, status: status) }
        return [UInt8](try Data(contentsOf: result))
    }

    /// Compresses a picture: `cjpeg -quality 95 -sample 2x2`.
    public static func cjpeg(_ ppm: [UInt8], _ arguments: String...) throws -> [UInt8] {
        try run("/usr/bin/cjpeg", arguments, input: ppm)
    }

    /// Converts a picture.
    public static func convert(_ input: [UInt8], _ arguments: String...) throws -> [UInt8] {
        try run("/usr/bin/convert", arguments, input: input)
    }
}

/// A required program failed or is missing.
public struct ToolError: Error {
    /// The program.
    public let path: String
    /// Its exit status.
    public let status: Int32

    /// Creates an error.
    public init(path: String, status: Int32) {
        self.path = path
        self.status = status
    }
}
