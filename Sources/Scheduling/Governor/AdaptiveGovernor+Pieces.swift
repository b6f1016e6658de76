import Model

/// What comes in pieces.
extension AdaptiveGovernor {
    /// Of what the user looks at as much as fits and is not taken up by others: those have to come through first, and what is
    /// asked for too early only fills a queue, which drops it. What is for later waits meanwhile.
    public func pieces(of number: Int) -> TransferPieces {
        guard let transfer = running[number], let host = hosts[transfer.candidate.host] else { return .unlimited }
        let window = host.link.window(cap: host.cap.value)
        guard transfer.isUrgent else {
            return TransferPieces(window: isAnythingUrgent ? 0 : host.cost(transfer), of: window)
        }
        let others = running.lazy.filter { $0 != number && $1.candidate.host == transfer.candidate.host }
            .reduce(0) { $0 + underWay($1.transfer) }
        return TransferPieces(window: max(window - others, min(window, Self.leastWindow)), of: window)
    }

    /// So much of what is looked at is asked for whatever else is under way: it begins at once.
    private static let leastWindow = 32_768.0

    /// Bytes of it that were asked for and are not here.
    private func underWay(_ transfer: RunningTransfer) -> Double {
        transfer.asked.map { max($0 - transfer.received, 0) } ?? rest(of: transfer)
    }

    /// Whether something urgent from that host comes in pieces, and there is more of it to ask for than may be by now: then
    /// what comes says what the link can carry, though nothing else is started.
    func isSaturatedByPieces(_ name: String, _ host: GovernedHost) -> Bool {
        urgent.contains { number in
            guard let transfer = running[number], transfer.candidate.host == name, transfer.asked != nil else {
                return false
            }
            return rest(of: transfer) > host.link.window(cap: host.cap.value)
        }
    }
}
