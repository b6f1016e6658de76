import Model

/// Decides how many transfers run at once.
public protocol Governor: Sendable {
    /// Whether a transfer of some importance may start beside those that run.
    mutating func admits(_ importance: Importance, running: Int) -> Bool
}

/// Lets a fixed number run. What the user is waiting for this moment does not wait for a place.
public struct FixedGovernor: Governor {
    private let width: Int

    /// A governor of that width.
    public init(width: Int = 4) {
        self.width = width
    }

    /// There are never many lists or looked-at photos, so they can be let in beside the rest.
    public mutating func admits(_ importance: Importance, running: Int) -> Bool {
        running < width || importance >= .list
    }
}
