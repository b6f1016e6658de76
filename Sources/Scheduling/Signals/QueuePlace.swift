import Model

/// Where something stands in a ``TransferQueue``.
struct QueuePlace: Sendable {
    var candidate: TransferCandidate
    /// Among equals.
    var rank: Int32
    /// In its lane's heap; negative if it does not wait.
    var spot: Int32

    /// That of a number under which nothing waits.
    static let vacant = QueuePlace(
        candidate: TransferCandidate(host: "", importance: .rest, kind: .thumbnail), rank: 0, spot: -1)

    var isVacant: Bool { spot < 0 }

    func comesBefore(_ other: QueuePlace) -> Bool {
        (candidate.importance, other.rank) > (other.candidate.importance, rank)
    }
}
