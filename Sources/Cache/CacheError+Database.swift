import SQLite

extension CacheError {
    /// Takes what reading or writing a cache threw; nil for an error of something else.
    ///
    /// Readers throw what SQLite says. Those who work with a cache and know no database sort it by this.
    public init?(thrown error: any Error) {
        switch error {
        case let error as CacheError: self = error
        case let error as SQLiteError: self = .database(error)
        default: return nil
        }
    }

    /// Whether it goes away by itself: another process was in the way.
    public var isTransient: Bool {
        switch self {
        case .conflict, .database(.locked): true
        default: false
        }
    }
}
