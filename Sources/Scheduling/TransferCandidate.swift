import Model

/// A transfer that waits for a governor's admission.
///
/// Very many candidates may wait. To save memory, the small properties come after the large properties.
public struct TransferCandidate: Hashable, Sendable {
    /// The server to request the transfer from; empty for a file of this machine.
    public var host: String
    /// The number of bytes that Vitrine has kept from an interrupted attempt.
    public var held: Double
    /// The number of bytes of an upload; nil if unknown.
    public var length: Double?
    /// The importance of the transfer.
    public var importance: Importance
    /// The kind of content.
    public var kind: TransferKind
    /// Whether the cache has a version of the file. Then the server will probably answer that it is current.
    public var isAskedAfter: Bool
    /// Whether the transfer's connections use TLS, whose handshake takes longer.
    public var isSecure: Bool
    /// Whether this is the second request of a hanging transfer.
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

    /// Whether the transfer reads a file of this machine.
    public var isLocal: Bool { host.isEmpty }

    /// Whether the user waits for this transfer. True for a list and for the photo in the viewer.
    var isUrgent: Bool { importance >= .list }
}

/// The kind of a transfer, which determines its likely size and its treatment.
public enum TransferKind: Int, Hashable, Sendable, CaseIterable {
    /// A gallery's list.
    case list
    /// A thumbnail, which is one of many and soon complete.
    case thumbnail
    /// A photo, which can fill a slow link for a minute.
    case photo
    /// A file that Vitrine sends.
    case upload

    /// The assumed size in bytes, until a transfer of this kind has completed.
    var usualSize: Double {
        switch self {
        case .list: 30e3
        case .thumbnail: 12e3
        case .photo: 400e3
        case .upload: 200e3
        }
    }
}
