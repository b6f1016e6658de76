import Model

/// What the cache knows of a gallery as a whole.
public struct GalleryRecord: Hashable, Sendable {
    /// Where its list lies.
    public let address: Address
    /// How many photos the list has.
    public let photoCount: Int
    /// How many entries of the last list broke a rule.
    public let skipped: Int
    /// When an update last succeeded.
    public let lastSuccess: Timestamp?
    /// How the last attempt ended, if it failed.
    public let failure: Failure?
    /// When somebody last looked at it.
    public let lastOpened: Timestamp?
    /// What the server said of the list.
    public let validators: Validators
    /// Goes up with every update that changed the list.
    let listVersion: Int64
    /// Whether the user wants to have it here whatever room it takes.
    public let isKept: Bool
    /// The last photo that there was when the user left the gallery; nil if he never did.
    public internal(set) var seenThrough: PhotoKey?

    /// Whether its list was sent by this machine or from the user's own network; nil if nobody has looked.
    public internal(set) var isPrivate: Bool?
    /// Whether the gallery's own address has ever led to a public one.
    public internal(set) var wasPublic = false

    /// Whether a photo has come since the user left the gallery.
    public func isNew(_ key: PhotoKey) -> Bool { seenThrough.map { key > $0 } ?? false }

    /// What there is to say of its updates when none is running.
    public var status: SyncStatus {
        let state: SyncStatus.State =
            if let failure { .failed(failure) } else { lastSuccess == nil ? .notUpdated : .updated }
        return SyncStatus(state: state, lastSuccess: lastSuccess, skipped: skipped)
    }
}
