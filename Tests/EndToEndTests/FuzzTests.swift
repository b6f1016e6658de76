import Foundation
import TestSupport
import Testing

/// A few of the inputs that `make fuzz` tries by the million.
struct FuzzTests {
    private static let program = Built.folder + "/fuzz"
    private static let corpus =
        URL(fileURLWithPath: Built.testGallery).deletingLastPathComponent().path + "/Tools/Fuzz/Corpus"
    static let targets = ((try? FileManager.default.contentsOfDirectory(atPath: corpus)) ?? []).sorted()

    /// The files that are refused as they are. Each other one brings the fuzzer into the middle of a parser.
    private static let refused = [
        // References to other addresses.
        "address": ["10", "2", "6", "7", "9"],
        "gallery": ["doctype.xml"], "jpeg": ["progressive.jpg"], "library": ["piwigo-refusal.json"],
        "webp": ["lossless.webp"],
    ]

    @Test("TRUST: changed inputs crash no parser, and every promise about its result holds", arguments: targets)
    func changedInputs(target: String) throws {
        let command = try Command(
            Self.program, [target, "--mutations", "1500", "\(Self.corpus)/\(target)"],
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(command.status == 0 && command.text.contains("1500 changed copies"), "\(command.text)\(command.errors)")
        let refused = command.lines.dropFirst().map { $0.replacing("refused: ", with: "") }
        #expect(refused == Self.refused[target, default: []])
    }

    @Test("Each target of the fuzzer has its own files to begin with")
    func everyTarget() throws {
        #expect(try Command(Self.program, ["--list"]).lines.sorted() == Self.targets)
        #expect(Self.targets.count > 10)
    }
}
