/// Which hosts answer, and which cannot be reached: for who does nothing about it, and says so.
struct FoundHosts: Sendable {
    /// How often in a row each was not reached.
    private var failures: [String: Int] = [:]

    /// So many are no accident.
    private static let enough = 3
    /// A list may name very many.
    private static let mostHosts = 256

    /// Hosts that cannot be reached.
    var unreachable: Set<String> { Set(failures.filter { $0.value >= Self.enough }.keys) }

    /// Hosts that could not be reached at the last attempt.
    var missed: Set<String> { Set(failures.keys) }

    mutating func note(_ news: TransferNews, of host: String) {
        // Files of this machine come over no network.
        guard !host.isEmpty else { return }
        switch news {
        case .connected, .answered, .received, .ended(.completed): failures[host] = nil
        case .ended(.unreachable):
            if failures.count >= Self.mostHosts { failures = [:] }
            failures[host, default: 0] += 1
        case .askedAgain, .asked, .packets, .importance, .ended: break
        }
    }
}
