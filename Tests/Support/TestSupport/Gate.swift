import Foundation

/// Something to wait for, opened once by somebody else. What tests hold instead of the clock.
public final class Gate: Sendable {
    private let condition = NSCondition()
    private nonisolated(unsafe) var isPassable = false

    /// Makes a closed gate.
    public init() {}

    /// Whether everyone is let through.
    public var isOpen: Bool { condition.withLock { isPassable } }

    /// Lets everyone through, now and later.
    public func open() {
        condition.withLock {
            isPassable = true
            condition.broadcast()
        }
    }

    /// Waits until the gate is open; false if it was not within `seconds`, which means that the test has failed. Beside tests
    /// that compute it may take minutes until whoever opens it comes to it.
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
