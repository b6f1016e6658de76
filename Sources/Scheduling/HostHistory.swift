import Numbers

/// The capacities of the links to hosts, measured in earlier runs. The next run starts with these capacities.
///
///     var governor = AdaptiveGovernor(history: HostHistory(text: saved))
///     …
///     save(governor.history.text)
///
/// Each run measures again, so a history of another network costs a few round trips at most.
public struct HostHistory: Hashable, Sendable {
    /// The maximum number of hosts to keep; the oldest are removed first.
    private static let most = 64

    /// The largest valid capacity in a file, in bytes.
    private static let greatest = 1e12

    /// The number of bytes that the link to each host holds at once.
    private var capacities: [String: Double] = [:]
    private var order: [String] = []

    /// Creates an empty history.
    public init() {}

    /// Parses a history's ``text``. Skips invalid lines.
    public init(text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 2, !fields[0].isEmpty, let capacity = Double(fields[1]),
                (0..<Self.greatest).contains(capacity), capacity > 0
            else { continue }
            self[String(fields[0])] = capacity
        }
    }

    /// The history as text, with one line per host.
    public var text: String {
        order.compactMap { host in capacities[host].map { "\(host)\t\(Int(clamped: $0))\n" } }.joined()
    }

    /// Returns whether a host is new, or its capacity differs by over a quarter.
    public func differs(from kept: HostHistory) -> Bool {
        capacities.contains { host, capacity in
            guard let known = kept.capacities[host] else { return true }
            return max(capacity, known) > 1.25 * min(capacity, known)
        }
    }

    subscript(host: String) -> Double? {
        get { capacities[host] }
        set {
            order.removeAll { $0 == host }
            capacities[host] = newValue
            guard newValue != nil else { return }
            order.append(host)
            if order.count > Self.most { capacities[order.removeFirst()] = nil }
        }
    }
}
