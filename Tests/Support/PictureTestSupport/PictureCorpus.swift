import Foundation
import Pixels
import TestSupport

/// The pictures of `Tools/Scripts/make-picture-corpus`, made in advance or by the first test run.
public struct PictureCorpus {
    private let folder: String

    /// Made when the first test needs it, by this script and with all its dependencies.
    private static let made = Result { () throws -> String in
        let package = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardized.path
        let script = "\(package)/Tools/Scripts/make-picture-corpus"
        let version = try Data(contentsOf: URL(fileURLWithPath: script)).reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        let folder = "\(package)/.build/picture-corpus/\(String(version, radix: 16))"
        if FileManager.default.fileExists(atPath: folder) { return folder }
        let draft = folder + "-\(getpid())"
        let command = try Command("/usr/bin/python3", [script, draft])
        guard command.status == 0 else { throw ToolError(path: command.errors, status: command.status) }
        // An incomplete corpus is used but not kept.
        if command.errors.isEmpty { try FileManager.default.moveItem(atPath: draft, toPath: folder) }
        return command.errors.isEmpty ? folder : draft
    }

    /// Finds or makes the corpus.
    public init() throws {
        folder = try ProcessInfo.processInfo.environment["VITRINE_CORPUS"] ?? Self.made.get()
    }

    /// Returns the names of one kind of files, in order.
    public func names(in kind: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(kind)")) ?? []).sorted()
    }

    /// Whether a file exists.
    public func has(_ kind: String, _ name: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(folder)/\(kind)/\(name)")
    }

    /// Returns a file's bytes.
    public func bytes(_ kind: String, _ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(kind)/\(name)")))
    }

    /// Returns the expected pixels of a picture.
    public func expected(_ name: String) throws -> PixelBuffer {
        let bytes = try bytes("expected", name)
        // "P6\nWIDTH HEIGHT\n255\n" and the pixels.
        let head = bytes.prefix(40).split(separator: 0x0A, maxSplits: 3, omittingEmptySubsequences: false)
        let sides = String(decoding: head[1], as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        let start = head[0].count + head[1].count + head[2].count + 3
        guard sides.count == 2,
            let picture = PixelBuffer(size: PixelSize(width: sides[0], height: sides[1]), bytes: Array(bytes[start...]))
        else { throw ToolError(path: name, status: 0) }
        return picture
    }

    /// Returns the picture of an expectation: "NAME.ppm", or "NAME@FRAME.ppm".
    public static func picture(_ expected: String) -> String {
        String(expected.dropLast(4).split(separator: "@")[0])
    }

    /// Returns the frame of an expectation.
    public static func frame(_ expected: String) -> Int {
        expected.dropLast(4).split(separator: "@").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
