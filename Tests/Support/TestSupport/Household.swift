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
        ].merging(more) { $1 }
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
