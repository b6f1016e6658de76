import Foundation
import TestSupport

@testable import Pictures

/// Programs that stand in the decoder's place and do something wrong.
enum BrokenDecoders {
    /// A script of the folder beside this file.
    static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("BrokenDecoders/\(name)")
            .path
    }

    /// A decoder that knows how an answer is written. What it does wrong it is told by the name that it is called by.
    static func link(_ name: String, in folder: TestFolder) throws -> String {
        let path = folder.path(name)
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: Built.folder + "/broken-decoder")
        return path
    }

    /// Those that know how an answer is written, and what comes of them.
    static let links: [(name: String, error: PictureError)] = [
        ("hangs", .tookTooLong), ("spins", .tookTooLong), ("crashes", .decoderDied),
        ("floods-standard-error", .tookTooLong), ("does-not-seal", .decoderDied), ("may-shrink-later", .decoderDied),
        ("shrinks", .decoderDied), ("grows", .decoderDied), ("lies-about-sizes", .decoderDied),
        ("claims-a-terabyte", .decoderDied), ("claims-long-texts", .decoderDied), ("answers-and-hangs", .tookTooLong),
        ("answers-and-crashes", .decoderDied), ("answers-lets-go-and-hangs", .decoderDied),
    ]

    /// What comes of some of them where they are processes of a server: nobody waits for the end of standard error there.
    static let served: [String: PictureError] = ["answers-lets-go-and-hangs": .tookTooLong]

    /// Servers that know how an answer is written, and what comes of them; nil where it is a picture, because somebody else
    /// decodes it then.
    static let servers: [(name: String, error: PictureError?)] = [
        ("server-crashes", nil), ("server-ends", nil), ("server-crashes-when-asked", nil), ("server-lets-go", nil),
        ("server-floods", nil), ("server-floods-with-descriptors", nil), ("server-talks-nonsense", nil),
        ("server-has-no-processes", nil), ("server-answers-twice", nil), ("server-says-done", .decoderDied),
        ("server-hangs", .tookTooLong), ("server-answers-for-another", .tookTooLong),
    ]

    /// Decoders of small pictures that know how an answer is written, and what comes of them; nil where it is a picture, because
    /// somebody else decodes it then, or because there is a right answer to it after all.
    static let smalls: [(name: String, error: PictureError?)] = [
        ("small-crashes", nil), ("small-hangs", .tookTooLong), ("small-spins", .tookTooLong), ("small-lets-go", nil),
        ("small-floods", nil), ("small-says-nothing", .tookTooLong), ("small-talks-nonsense", nil),
        ("small-answers-too-long", nil), ("small-answers-too-short", nil), ("small-answers-twice", nil),
        ("small-lies-about-sizes", nil), ("small-passes-descriptors", nil), ("small-leaves-all", nil),
        ("small-refuses", nil),
    ]

    /// The scripts, and what comes of them.
    static let scripts: [(name: String, error: PictureError)] = [
        ("complains", .decoderDied), ("crashes", .decoderDied), ("fails", .decoderDied), ("floods", .decoderDied),
        ("hangs", .tookTooLong), ("lets-go", .decoderDied), ("lets-go-and-hangs", .decoderDied), ("lies", .decoderDied),
        ("says-nothing", .decoderDied),
    ]
}
