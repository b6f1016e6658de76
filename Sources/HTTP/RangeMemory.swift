import Synchronization

/// Which servers send parts of what they have, and say by a strong validator of which edition they are.
final class RangeMemory: Sendable {
    private let grants = Mutex<[String: Bool]>([:])

    /// A list may name very many hosts.
    private static let most = 256

    /// Whether a server does; nil if that is not known.
    subscript(origin: String) -> Bool? {
        get { grants.withLock { $0[origin] } }
        set {
            grants.withLock { grants in
                if grants.count >= Self.most, grants[origin] == nil { grants = [:] }
                grants[origin] = newValue
            }
        }
    }
}
