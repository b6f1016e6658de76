import Foundation
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

    /// The scripts, with the expected errors.
    static let scripts: [(name: String, error: PictureError)] = [
        ("complains", .decoderDied), ("crashes", .decoderDied), ("fails", .decoderDied), ("floods", .decoderDied),
        ("hangs", .tookTooLong), ("lets-go", .decoderDied), ("lets-go-and-hangs", .decoderDied), ("lies", .decoderDied),
        ("says-nothing", .decoderDied),
    ]
}
