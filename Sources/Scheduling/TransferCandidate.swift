import Model

/// What a governor is told of something that would like to be transferred.
///
/// Very many may wait: the small fields stand together, behind the large ones.
public struct TransferCandidate: Hashable, Sendable {
    /// The host that it comes from; empty for a file of this machine.
    public var host: String
    /// Bytes of it that are here already, from an attempt that was interrupted.
    public var held: Double
    /// How soon it is wanted.
    public var importance: Importance
    /// What it is.
    public var kind: TransferKind
    /// Whether an edition of it is here, and the server will most likely say that it is still the last.
    public var isAskedAfter: Bool
    /// Whether its connections are secure ones, which take longer to make.
    public var isSecure: Bool
    /// Whether it is under way already, hangs, and is asked for once more.
    public var isAgain = false

    /// Describes something.
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

    /// Whether no network is in between.
    public var isLocal: Bool { host.isEmpty }

    /// Whether the user waits for this one thing and looks at nothing else meanwhile.
    var isUrgent: Bool { importance >= .list }
}

/// What is transferred, as far as it says how large it is likely to be and how it is to be treated.
public enum TransferKind: Int, Hashable, Sendable, CaseIterable {
    /// A gallery's list.
    case list
    /// A thumbnail. There are many, and each is soon over.
    case thumbnail
    /// A photo. One can fill a slow link for a minute.
    case photo

    /// What one weighs where none has been seen yet, in bytes.
    var usualSize: Double {
        switch self {
        case .list: 30e3
        case .thumbnail: 12e3
        case .photo: 400e3
        }
    }
}
