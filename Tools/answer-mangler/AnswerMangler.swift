import Foundation
import TestSupport

/// Makes a server give random right and wrong answers, and fetches them with the real client.
///
///     answer-mangler --answers 200000 --findings FOLDER [--seed NUMBER] [--minutes NUMBER]
///     answer-mangler --replay SEED
///
/// The seed alone determines an answer and its request. One process per core does the work, each in a network namespace
/// with only loopback: a redirect to a mangled address leads nowhere. A finding is an answer that ends the process or
/// delays a transfer for more than ten seconds. The exit code is 1 if there were findings.
@main
enum AnswerMangler {
    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "--work", arguments.count == 3, let seed = UInt64(arguments[1]) {
            return try await AnswerBench(current: arguments[2]).work(seed: seed)
        }
        if arguments.first == "--replay", arguments.count == 2, let seed = UInt64(arguments[1]) {
            return try await AnswerBench(current: "/dev/null").replay(seed)
        }
        var options: [String: String] = [:]
        while arguments.count > 1 {
            options[arguments[0]] = arguments[1]
            arguments.removeFirst(2)
        }
        guard arguments.isEmpty, let answers = Int(options["--answers"] ?? "2000"), let findings = options["--findings"]
        else {
            FileHandle.standardError.write(Data("usage: answer-mangler --answers NUMBER --findings FOLDER\n".utf8))
            exit(2)
        }
        guard let launcher = OwnNetwork.launcher else {
            FileHandle.standardError.write(Data("This user can make no network namespace.\n".utf8))
            exit(2)
        }
        let foreman = try Foreman(
            "answers", findings: findings, seed: options["--seed"].flatMap { UInt64($0) } ?? 1,
            seconds: (options["--minutes"].flatMap { Double($0) } ?? 60) * 60, most: answers
        ) { program, seed, current in
            launcher + [program, "--work", "\(seed)", current]
        }
        exit(try foreman.run() ? 0 : 1)
    }
}
