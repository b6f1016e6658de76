import Foundation
import TestSupport

/// Mangles pictures and decodes them, until the time is up or a number is reached.
///
/// Built with the address sanitizer, a process ends at its first invalid memory access. So child processes decode,
/// one per core, and the pictures that ended one are kept.
///
///     picture-mangler --minutes 30 --findings FOLDER [--seed NUMBER] [--pictures NUMBER]
///     picture-mangler --replay FILE…
///
/// The seed alone determines the pictures. Exits with 1 if there were findings.
@main
enum PictureMangler {
    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "--replay" {
            for path in arguments.dropFirst() {
                print("\(path): \(Subject(bytes: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))).decode())")
            }
            return
        }
        if arguments.first == "--work", arguments.count == 4, let seed = UInt64(arguments[2]) {
            try Workbench(corpus: arguments[1], current: arguments[3]).work(seed: seed)
            return
        }
        var options: [String: String] = [:]
        while arguments.count > 1 {
            options[arguments[0]] = arguments[1]
            arguments.removeFirst(2)
        }
        guard arguments.isEmpty, let minutes = Double(options["--minutes"] ?? "1"), let findings = options["--findings"]
        else {
            FileHandle.standardError.write(Data("usage: picture-mangler --minutes NUMBER --findings FOLDER\n".utf8))
            exit(2)
        }
        exit(try mangle(options, minutes: minutes, findings: findings) ? 0 : 1)
    }

    /// Returns whether nothing was found.
    private static func mangle(_ options: [String: String], minutes: Double, findings: String) throws -> Bool {
        let corpus = TestFolder()
        try Corpus.write(to: corpus.path)
        let foreman = try Foreman(
            "pictures", findings: findings, seed: options["--seed"].flatMap { UInt64($0) } ?? 1, seconds: minutes * 60,
            most: options["--pictures"].flatMap { Int($0) } ?? .max
        ) { program, seed, current in [program, "--work", corpus.path, "\(seed)", current] }
        return try foreman.run()
    }
}

/// Mangles and decodes pictures in a process that may crash.
struct Workbench {
    /// The number of pictures per process.
    static let batch = 2_000
    /// Seconds after which a picture counts as hanging. The decoder's limit of processor time is shorter.
    private static let timeout: UInt32 = 60

    /// The folder of original pictures.
    let corpus: String
    /// The file with the current picture, which is the finding if the process crashes.
    let current: String

    func work(seed: UInt64) throws {
        let files = try Corpus.read(from: corpus)
        let descriptor = open(current, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { exit(2) }
        var words: [String: Int] = [:]
        for number in 0..<UInt64(Self.batch) {
            var mangling = Mangling(seed: seed &* UInt64(Self.batch) &+ number)
            let bytes = mangling.mangle(files)
            guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
                exit(2)
            }
            alarm(Self.timeout)
            words[Subject(bytes: bytes).decode(), default: 0] += 1
        }
        alarm(0)
        for (word, count) in words { print("\(word)\t\(count)") }
    }
}
