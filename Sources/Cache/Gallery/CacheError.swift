import Glibc
import SQLite
import Session

/// What can go wrong with the cache.
public enum CacheError: Error, Equatable, CustomStringConvertible {
    /// A folder or file of the cache cannot be made or opened; the system's reason.
    case cannotOpen(path: String, reason: String)
    /// Something in the cache's place belongs to somebody else, or is a link to somewhere else.
    case notOurs(path: String)
    /// The folder that caches are to be kept in holds something else.
    case notACache(path: String)
    /// The cache is damaged, and cannot be set aside while another process uses it.
    case damagedInUse(path: String)
    /// The cache was written by a newer Vitrine.
    case newerSchema(path: String)
    /// The disk is full, or the user's part of it.
    case full
    /// The disk, or the folder, cannot be written to.
    case readOnly
    /// The process, or the machine, has no file descriptor left. It says nothing of the disk, and passes.
    case tooFewDescriptors
    /// The database cannot be read or written, for another reason than these.
    case database(SQLiteError)
    /// A photo's file cannot be written.
    case file(path: String, reason: String)
    /// A file of a cache cannot be removed.
    case notRemoved(path: String, reason: String)
    /// Another process uses the cache, or is about to remove it.
    case locked(path: String)
    /// A list alone takes more room than all caches may.
    case listTooLarge(limit: Int64)
    /// The list changed under a sync: another process was faster.
    case conflict

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "The cache \(path) cannot be opened: \(reason)."
        case .notOurs(let path): "The cache \(path) is no folder, a link, or another user’s; it is left alone."
        case .notACache(let path):
            """
            The folder \(path) holds files that are not Vitrine’s, so Vitrine keeps no caches there and leaves it as it is. \
            Name an empty folder, or one that does not exist yet, with “--cache-dir”.
            """
        case .damagedInUse(let path):
            "The cache \(path) is damaged, and in use by another process. When that has ended it is set aside and made anew."
        case .newerSchema(let path):
            """
            The cache \(path) was made by a newer version of Vitrine and is left alone. Use that version, or remove the \
            cache with “vitrine cache clear”; it is fetched again.
            """
        case .full: "The disk is full."
        case .readOnly: "The cache is read-only."
        case .tooFewDescriptors: SQLiteError.tooFewDescriptors.description
        case .database(let error): error.description
        case .file(let path, let reason): "The file \(path) cannot be written: \(reason)."
        case .notRemoved(let path, let reason): "The file \(path) cannot be removed: \(reason)."
        case .locked(let path): "The cache \(path) is in use by another process."
        case .listTooLarge(let limit):
            """
            The gallery’s list alone takes more room than cache-limit allows (\(limit / (1 << 20)) MiB). Nothing was changed; a \
            larger cache-limit makes room for it.
            """
        case .conflict: "Another process updated the gallery at the same time."
        }
    }
}

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
