import Foundation

/// A user's home for one test, with its own settings, caches and state.
public final class Household: Sendable {
    /// The home folder.
    public let folder = TestFolder()

    /// Makes an empty home.
    public init() {}

    /// Returns the environment of a program in this home.
    public func environment(term: String = "xterm-256color", _ more: [String: String] = [:]) -> [String: String] {
        [
            "HOME": folder.path, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            "TERM": term, "LANG": "C.UTF-8", "TZ": "UTC",
            // Otherwise Swift's backtracer would offer its debugger at the terminal, and wait.
            "SWIFT_BACKTRACE": "enable=no",
            Self.mark: folder.path,
        ]
        .merging(Self.coverage) { $1 }
        .merging(more) { $1 }
    }

    /// The variables with which programs count the lines that they run. They are empty unless the tests count theirs.
    private static let coverage: [String: String] = {
        let all = ProcessInfo.processInfo.environment
        return all["LLVM_PROFILE_FILE"] == nil
            ? [:] : all.filter { ["LLVM_PROFILE_FILE", "LD_PRELOAD"].contains($0.key) }
    }()

    /// The variable by which ``waitForPrograms()`` recognises the programs of a home.
    private static let mark = "VITRINE_TEST_HOME"

    /// Waits until all programs of this home have ended. A program that is killed leaves its fetcher, which ends by itself.
    ///
    /// Returns false if a program still runs after a minute.
    public func waitForPrograms() -> Bool {
        let deadline = Date(timeIntervalSinceNow: 60)
        while !programs.isEmpty || Self.isAnyEnding {
            guard Date() < deadline else { return false }
            poll(nil, 0, 20)
        }
        return true
    }

    /// The running programs of this home, with their command lines.
    public var programs: [(number: pid_t, words: [String])] {
        let entry = "\(Self.mark)=\(folder.path)"
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { pid_t($0) }.compactMap { number in
            guard Self.texts("/proc/\(number)/environ").contains(entry) else { return nil }
            return (number, Self.texts("/proc/\(number)/cmdline"))
        }
    }

    /// Whether any program of Vitrine, of this home or another, is ending. It has no environment any more, but still has
    /// its files and their locks until its last thread has ended.
    private static var isAnyEnding: Bool {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { pid_t($0) }.contains { number in
            guard let status = try? String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8),
                status.hasPrefix("Name:\tvitrine"), !status.contains("\nVmSize:")
            else { return false }
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(number)/task")) ?? []
            // A process that nobody has waited for stays a zombie, but has no files.
            return threads.count > 1 || !status.contains("\nState:\tZ")
        }
    }

    /// Reads a file of texts that end with null characters.
    private static func texts(_ path: String) -> [String] {
        guard let file = FileHandle(forReadingAtPath: path), let bytes = try? file.readToEnd() else { return [] }
        return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Runs the program and waits for it.
    public func vitrine(_ arguments: String..., environment: [String: String] = [:]) throws -> Command {
        try Command(Built.vitrine, arguments, environment: self.environment(environment))
    }

    /// The folder of caches.
    public var caches: String { folder.path(".cache/vitrine") }

    private func environment(_ more: [String: String]) -> [String: String] {
        environment(term: more["TERM"] ?? "xterm-256color", more)
    }
}
