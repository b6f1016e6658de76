import Foundation

/// A gate that one thread opens and others wait for. Tests use it instead of the clock.
public final class Gate: Sendable {
    private let condition = NSCondition()
    private nonisolated(unsafe) var isPassable = false

    /// Makes a closed gate.
    public init() {}

    /// Whether the gate is open.
    public var isOpen: Bool { condition.withLock { isPassable } }

    /// Opens the gate permanently.
    public func open() {
        condition.withLock {
            isPassable = true
            condition.broadcast()
        }
    }

    /// Waits until the gate is open. Returns false after `seconds`, which fails the test. Beside busy tests it may take
    /// minutes until the opener runs.
    @discardableResult
    public func wait(seconds: Double = 600) -> Bool {
        condition.withLock {
            let deadline = Date(timeIntervalSinceNow: seconds)
            while !isPassable, condition.wait(until: deadline) {}
            return isPassable
        }
    }
}

extension NSCondition {
    fileprivate func withLock<Result>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }
}
