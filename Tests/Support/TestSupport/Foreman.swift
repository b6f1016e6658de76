import Foundation

/// Runs one worker per core until a limit, and keeps subjects that killed a worker.
///
///     let foreman = try Foreman("pictures", findings: folder, seed: 1, seconds: 60, most: .max) { seed, current in
///         ["--work", corpus, "\(seed)", current]
///     }
///     exit(try foreman.run() ? 0 : 1)
///
/// The limit is a time or a number of subjects. A worker is this same program, started with the closure's arguments.
/// It writes its current subject to the file `current`, and at its end prints a line for each outcome: a word, a tab
/// and a count. A worker that ends in any other way is a finding: the foreman keeps that file, with the worker's
/// standard error.
public final class Foreman: @unchecked Sendable {
    private let noun: String
    private let findings: String
    private let folder = TestFolder()
    private let most: Int
    private let end: Date
    private let command: @Sendable (_ program: String, _ seed: UInt64, _ current: String) -> [String]
    /// Guards the properties below.
    private let lock = NSLock()
    private var nextSeed: UInt64
    private var counts: [String: Int] = [:]
    private var found = 0

    /// Makes a foreman.
    ///
    /// - Parameter command: the program that does the work for a seed, and its arguments.
    public init(
        _ noun: String, findings: String, seed: UInt64, seconds: Double, most: Int,
        command: @escaping @Sendable (_ program: String, _ seed: UInt64, _ current: String) -> [String]
    ) throws {
        self.noun = noun
        self.findings = findings
        self.most = most
        self.command = command
        // The seeds of consecutive runs do not overlap.
        nextSeed = seed << 32
        end = Date(timeIntervalSinceNow: seconds)
        try FileManager.default.createDirectory(atPath: findings, withIntermediateDirectories: true)
    }

    /// Runs the workers. Returns whether there are no findings.
    public func run() throws -> Bool {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let group = DispatchGroup()
        for core in 0..<ProcessInfo.processInfo.activeProcessorCount {
            group.enter()
            Thread.detachNewThread { [self] in
                while let seed = takeSeed() { work(program, core, seed) }
                group.leave()
            }
        }
        group.wait()
        let words = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        print("\(counts.values.reduce(0, +)) \(noun): \(words.isEmpty ? "none done" : words); findings: \(found)")
        return found == 0
    }

    private func takeSeed() -> UInt64? {
        lock.withLock {
            // If every worker died at once, this would go on for long: a hundred findings are enough.
            guard Date() < end, found < 100, counts.values.reduce(0, +) < most else { return nil }
            nextSeed += 1
            return nextSeed
        }
    }

    private func work(_ program: String, _ core: Int, _ seed: UInt64) {
        let current = folder.path("current-\(core)")
        let words = command(program, seed, current)
        guard let first = words.first, let result = try? Command(first, Array(words.dropFirst())) else { return }
        lock.withLock {
            for line in result.lines {
                let parts = line.split(separator: "\t")
                if parts.count == 2, let count = Int(parts[1]) { counts[String(parts[0]), default: 0] += count }
            }
        }
        if result.status != 0 { keep(current, seed, result) }
    }

    private func keep(_ current: String, _ seed: UInt64, _ result: Command) {
        lock.withLock { found += 1 }
        let path = "\(findings)/\(seed)"
        try? FileManager.default.removeItem(atPath: path)
        try? FileManager.default.copyItem(atPath: current, toPath: path)
        try? result.errors.write(toFile: path + ".txt", atomically: true, encoding: .utf8)
        let reason = result.errors.split(separator: "\n").first { $0.contains("ERROR") || $0.contains("rror:") }
        print("\(path): ended with \(result.status)\(reason.map { ": \($0)" } ?? "")")
    }
}
