import Numbers

/// What was found out about hosts in earlier runs: where the next one begins.
///
///     var governor = AdaptiveGovernor(history: HostHistory(text: saved))
///     …
///     save(governor.history.text)
///
/// It is a beginning and nothing more: the links are measured anew, so that a history from another network costs a few round
/// trips at most.
public struct HostHistory: Hashable, Sendable {
    /// Hosts are not to pile up; those that were learned of first go first.
    private static let most = 64

    /// No link holds as much, and what says so has not been written here.
    private static let greatest = 1e12

    /// Bytes that fitted into the link to each.
    private var capacities: [String: Double] = [:]
    private var order: [String] = []

    /// Nothing is remembered.
    public init() {}

    /// Reads what ``text`` wrote. What cannot be read is passed over.
    public init(text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 2, !fields[0].isEmpty, let capacity = Double(fields[1]),
                (0..<Self.greatest).contains(capacity), capacity > 0
            else { continue }
            self[String(fields[0])] = capacity
        }
    }

    /// A line a host.
    public var text: String {
        order.compactMap { host in capacities[host].map { "\(host)\t\(Int(clamped: $0))\n" } }.joined()
    }

    /// Whether it is worth keeping in place of what is kept: a link measures a little differently each time.
    public func isNews(after kept: HostHistory) -> Bool {
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
