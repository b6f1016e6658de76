import Foundation
import PictureTestSupport
import TestSupport

@testable import Pictures

/// Broken programs used as decoders.
enum BrokenDecoders {
    /// The path of a script in the folder beside this file.
    static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("BrokenDecoders/\(name)")
            .path
    }

    /// Links a decoder that knows the format of answers. Its name tells it how to misbehave.
    static func link(_ name: String, in folder: TestFolder) throws -> String {
        let path = folder.path(name)
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: Built.folder + "/broken-decoder")
        return path
    }

    /// Programs that know the format of answers, with the expected errors.
    static let links: [(name: String, error: PictureError)] = [
        ("hangs", .tookTooLong), ("spins", .tookTooLong), ("crashes", .decoderDied),
        ("floods-standard-error", .tookTooLong), ("does-not-seal", .decoderDied), ("may-shrink-later", .decoderDied),
        ("shrinks", .decoderDied), ("grows", .decoderDied), ("lies-about-sizes", .decoderDied),
        ("claims-a-terabyte", .decoderDied), ("claims-long-texts", .decoderDied), ("answers-and-hangs", .tookTooLong),
        ("answers-and-crashes", .decoderDied), ("answers-lets-go-and-hangs", .decoderDied),
    ]

    /// Errors that differ for a server's processes, where standard error has no meaning.
    static let served: [String: PictureError] = ["answers-lets-go-and-hangs": .tookTooLong]

    /// Servers that know the format of answers, with the expected errors; nil if a program then decodes the picture.
    static let servers: [(name: String, error: PictureError?)] = [
        ("server-crashes", nil), ("server-ends", nil), ("server-crashes-when-asked", nil), ("server-lets-go", nil),
        ("server-floods", nil), ("server-floods-with-descriptors", nil), ("server-talks-nonsense", nil),
        ("server-has-no-processes", nil), ("server-answers-twice", nil), ("server-says-done", .decoderDied),
        ("server-hangs", .tookTooLong), ("server-answers-for-another", .tookTooLong),
    ]

    /// Decoders of small pictures that know the format of answers, with the expected errors; nil if the picture is
    /// decoded nevertheless.
    static let smalls: [(name: String, error: PictureError?)] = [
        ("small-crashes", nil), ("small-hangs", .tookTooLong), ("small-spins", .tookTooLong), ("small-lets-go", nil),
        ("small-floods", nil), ("small-says-nothing", .tookTooLong), ("small-talks-nonsense", nil),
        ("small-answers-too-long", nil), ("small-answers-too-short", nil), ("small-answers-twice", nil),
        ("small-lies-about-sizes", nil), ("small-passes-descriptors", nil), ("small-leaves-all", nil),
        ("small-refuses", nil),
    ]

    /// Players that know the format of answers, with the expected errors; nil if they play.
    static let players: [(name: String, error: PictureError?)] = [
        ("play-crashes", .decoderDied), ("play-hangs", .tookTooLong), ("play-hangs-later", .tookTooLong),
        ("play-lets-go", .decoderDied), ("play-talks-nonsense", .decoderDied), ("play-answers-too-long", .decoderDied),
        ("play-answers-for-another", .decoderDied), ("play-passes-descriptors", .decoderDied),
        ("play-claims-much", .decoderDied), ("play-shows-nothing", .decoderDied),
        ("play-repeats-nothing", .decoderDied), ("play-lies-about-sizes", .decoderDied), ("play-well", nil),
    ]

    /// The scripts, with the expected errors.
    static let scripts: [(name: String, error: PictureError)] = [
        ("complains", .decoderDied), ("crashes", .decoderDied), ("fails", .decoderDied), ("floods", .decoderDied),
        ("hangs", .tookTooLong), ("lets-go", .decoderDied), ("lets-go-and-hangs", .decoderDied), ("lies", .decoderDied),
        ("says-nothing", .decoderDied),
    ]
}

/// The decoder behind a script that records each start: its process identifier and its role.
struct NotedDecoder {
    /// The script.
    let path: String
    private let notes: String

    init(in folder: TestFolder) throws {
        notes = folder.path("starts")
        path = try folder.writeProgram(
            "decoder", "#!/bin/sh\necho $$ $1 >> '\(notes)'\nexec '\(try DecoderProcess.path)' \"$@\"\n")
    }

    /// The recorded process identifiers and first arguments.
    var starts: [(number: pid_t, role: Substring)] {
        get throws {
            let text = try String(contentsOfFile: notes, encoding: .utf8)
            return text.split(separator: "\n").compactMap { line in
                let parts = line.split(separator: " ")
                return pid_t(parts[0]).map { ($0, parts[1]) }
            }
        }
    }
}

/// Runs `decoder-client` and reads its counts.
struct DecoderClientProgram {
    /// The counts by name.
    let counts: [String: String]

    init(_ mode: String, _ arguments: [String], good bytes: [UInt8]? = nil, in folder: TestFolder) throws {
        let good = folder.write("good", bytes ?? PNGFile(.scene(width: 16, height: 12)).bytes)
        let command = try Command(
            Built.folder + "/decoder-client", [mode, try DecoderProcess.path, good] + arguments)
        guard command.status == 0 else { throw ToolError(path: "decoder-client", status: command.status) }
        let pairs = command.lines.map { $0.split(separator: "\t", maxSplits: 1).map(String.init) }
        counts = Dictionary(uniqueKeysWithValues: pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) })
    }

    /// Returns a count.
    subscript(_ name: String) -> Int? { counts[name].flatMap { Int($0) } }
}
