import Session

extension StorageTrouble {
    /// What an error says of the disk; nil if it says nothing of it.
    public init?(_ error: CacheError) {
        switch error {
        case .full: self = .full
        case .readOnly: self = .readOnly
        case .file, .cannotOpen, .database(.disk), .database(.cannotOpen): self = .failing
        case .notACache, .notOurs, .damagedInUse, .newerSchema, .database, .notRemoved, .locked, .conflict,
            .tooFewDescriptors,
            .listTooLarge:
            return nil
        }
    }

    /// The error of everybody who wants to write then.
    var error: CacheError {
        switch self {
        case .full: .full
        case .readOnly: .readOnly
        case .failing: .database(.disk(reason: "nothing can be written"))
        }
    }
}
