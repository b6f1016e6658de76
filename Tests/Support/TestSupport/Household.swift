import Foundation

/// A user's home for one test: its own settings, caches and state, and nobody else's.
public final class Household: Sendable {
    /// Everything is in here.
    public let folder = TestFolder()

    /// An empty home.
    public init() {}

    /// The environment of a program that lives here.
    public func environment(term: String = "xterm-256color", _ more: [String: String] = [:]) -> [String: String] {
        [
            "HOME": folder.path, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            "TERM": term, "LANG": "C.UTF-8", "TZ": "UTC",
            // Swift's backtracer would offer its debugger to whoever sits at the terminal, and wait.
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
