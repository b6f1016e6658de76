import Glibc
import SQLite

extension CacheError {
    /// Takes what reading or writing a cache threw; nil for an error of something else.
    ///
    /// Readers throw what SQLite says. Those who work with a cache and know no database sort it by this.
    public init?(thrown error: any Error) {
        switch error {
        case let error as CacheError: self = error
        case let error as SQLiteError: self.init(error)
        default: return nil
        }
    }

    /// Takes what SQLite refused to do.
    init(_ error: SQLiteError) {
        self =
            switch error {
            case .full: .full
            case .readOnly: .readOnly
            case .tooFewDescriptors: .tooFewDescriptors
            default: .database(error)
            }
    }

    /// What the system says of a file that it did not write.
    ///
    /// - Parameter code: its number for that, which the next call may change.
    public static func file(_ path: String, code: Int32 = errno) -> CacheError {
        ofAnyFile(code) ?? .file(path: path, reason: String(cString: strerror(code)))
    }

    /// What the system says of a file or folder that it did not open or make.
    static func cannotOpen(_ path: String, code: Int32 = errno) -> CacheError {
        ofAnyFile(code) ?? .cannotOpen(path: path, reason: String(cString: strerror(code)))
    }

    /// Whether the cause affects every file alike.
    private static func ofAnyFile(_ code: Int32) -> CacheError? {
        switch code {
        case ENOSPC, EDQUOT: .full
        case EROFS: .readOnly
        case EMFILE, ENFILE: .tooFewDescriptors
        default: nil
        }
    }

    /// Whether a folder could not be opened or made for a reason that stays: the user may not, or it cannot be there. A disk that
    /// is full or fails may do better the next time.
    public var isOfFolder: Bool {
        switch self {
        case .readOnly: true
        case .cannotOpen(_, let reason): reason != String(cString: strerror(EIO))
        default: false
        }
    }

    /// Whether it may go away by itself: another process was in the way, or the disk will have room again. What was to be
    /// stored is not to blame.
    public var isTransient: Bool {
        switch self {
        case .conflict, .database(.locked), .tooFewDescriptors, .full, .readOnly, .file, .cannotOpen, .database(.disk),
            .database(.cannotOpen):
            true
        case .notACache, .notOurs, .damagedInUse, .newerSchema, .database, .notRemoved, .locked, .listTooLarge: false
        }
    }
}
