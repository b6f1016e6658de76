import Foundation
import TestSupport

/// Starts the processes that mangle and decode, and keeps what they died of.
final class Foreman: @unchecked Sendable {
    private let findings: String
    private let folder = TestFolder()
    private let pictures: Int
    private let end: Date
    /// Guards the rest.
    private let lock = NSLock()
    private var nextSeed: UInt64
    private var counts: [String: Int] = [:]
    private var found = 0

    init(findings: String, seed: UInt64, seconds: Double, pictures: Int) throws {
        self.findings = findings
        self.pictures = pictures
        // Seeds of runs that follow each other lie far apart.
        nextSeed = seed << 32
        end = Date(timeIntervalSinceNow: seconds)
        try FileManager.default.createDirectory(atPath: findings, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: folder.path("corpus"), withIntermediateDirectories: true)
        try Corpus.write(to: folder.path("corpus"))
    }

    /// Returns whether nothing was found.
    func run() throws -> Bool {
        let group = DispatchGroup()
        for bench in 0..<ProcessInfo.processInfo.activeProcessorCount {
            group.enter()
            Thread.detachNewThread { [self] in
                while let seed = takeSeed() { work(bench, seed) }
                group.leave()
            }
        }
        group.wait()
        let words = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        print("\(counts.values.reduce(0, +)) pictures: \(words.isEmpty ? "none decoded" : words); findings: \(found)")
        return found == 0
    }

    private func takeSeed() -> UInt64? {
        lock.withLock {
            guard Date() < end, counts.values.reduce(0, +) < pictures else { return nil }
            nextSeed += 1
            return nextSeed
        }
    }

    private func work(_ bench: Int, _ seed: UInt64) {
        let current = folder.path("current-\(bench)")
        let arguments = ["--work", folder.path("corpus"), "\(seed)", current]
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
            let command = try? Command(program, arguments)
        else { return }
        lock.withLock {
            for line in command.lines {
                let parts = line.split(separator: "\t")
                if parts.count == 2, let count = Int(parts[1]) { counts[String(parts[0]), default: 0] += count }
            }
        }
        if command.status != 0 { keep(current, seed, command) }
    }

    /// Keeps the picture, and what the sanitizer said of it.
    private func keep(_ current: String, _ seed: UInt64, _ command: Command) {
        lock.withLock { found += 1 }
        let path = "\(findings)/\(seed)"
        try? FileManager.default.copyItem(atPath: current, toPath: path)
        try? command.errors.write(toFile: path + ".txt", atomically: true, encoding: .utf8)
        let reason = command.errors.split(separator: "\n").first { $0.contains("ERROR") || $0.contains("rror:") }
        print("\(path): ended with \(command.status)\(reason.map { ": \($0)" } ?? "")")
    }
}
