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
        ].merging(more) { $1 }
    }

    /// The variable by which ``waitForPrograms()`` recognises the programs of a home.
    private static let mark = "VITRINE_TEST_HOME"

    /// Waits until all programs of this home have ended. A program that is killed leaves its fetcher, which ends by itself.
    ///
    /// Returns false if a program still runs after a minute.
    public func waitForPrograms() -> Bool {
        let deadline = Date(timeIntervalSinceNow: 60)
        while isInUse {
            guard Date() < deadline else { return false }
            poll(nil, 0, 2)
        }
        return true
    }

    /// Whether a process has this home in its environment.
    private var isInUse: Bool {
        let entry = Array("\(Self.mark)=\(folder.path)".utf8)
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.contains { process in
            guard Int(process) != nil, let file = FileHandle(forReadingAtPath: "/proc/\(process)/environ"),
                let variables = try? file.readToEnd()
            else { return false }
            return variables.split(separator: 0).contains { $0.elementsEqual(entry) }
        }
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
