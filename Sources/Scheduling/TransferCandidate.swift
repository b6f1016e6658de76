import Model

/// A transfer that waits for a governor's admission.
///
/// Very many may wait: the small fields stand together, behind the large ones.
public struct TransferCandidate: Hashable, Sendable {
    /// The host to request it from; empty for a file of this machine.
    public var host: String
    /// Bytes kept from an interrupted attempt.
    public var held: Double
    /// How soon it is wanted.
    public var importance: Importance
    /// The kind of its content.
    public var kind: TransferKind
    /// Whether a version is stored and the server will probably answer that it is current.
    public var isAskedAfter: Bool
    /// Whether its connections use TLS, whose handshake takes longer.
    public var isSecure: Bool
    /// Whether it is the second request of a hanging transfer.
    public var isAgain = false

    /// Creates a candidate.
    public init(
        host: String, isSecure: Bool = false, importance: Importance, kind: TransferKind, held: Double = 0,
        isAskedAfter: Bool = false
    ) {
        self.host = host
        self.isSecure = isSecure
        self.importance = importance
        self.kind = kind
        self.held = held
        self.isAskedAfter = isAskedAfter
    }

    /// Whether it is a file of this machine.
    public var isLocal: Bool { host.isEmpty }

    /// Whether the user waits for it alone.
    var isUrgent: Bool { importance >= .list }
}

/// The kind of a transfer, which decides its likely size and its treatment.
public enum TransferKind: Int, Hashable, Sendable, CaseIterable {
    /// A gallery's list.
    case list
    /// A thumbnail: one of many, soon complete.
    case thumbnail
    /// A photo: one can fill a slow link for a minute.
    case photo

    /// The assumed size until one has been transferred, in bytes.
    var usualSize: Double {
        switch self {
        case .list: 30e3
        case .thumbnail: 12e3
        case .photo: 400e3
        }
    }
}
