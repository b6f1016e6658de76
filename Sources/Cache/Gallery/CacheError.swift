import Files
import Glibc
import Model
import SQLite
import Session

/// The reason why the cache could not do something.
public enum CacheError: Error, Equatable, CustomStringConvertible {
    /// A folder or file of the cache cannot be created or opened.
    case cannotOpen(path: String, SystemError)
    /// A file or folder of the cache belongs to another user, or is a link.
    case notOurs(path: String)
    /// The folder for caches contains files that are not Vitrine's.
    case notACache(path: String)
    /// The cache is damaged, but another process uses it, so Vitrine cannot set it aside.
    case damagedInUse(path: String)
    /// A newer version of Vitrine wrote the cache.
    case newerSchema(path: String)
    /// The cache is of another gallery, whose address has the same identifier.
    case otherGallery(Address)
    /// The disk or the user's quota is full.
    case full
    /// The disk or folder is read-only.
    case readOnly
    /// The process or the system has no free file descriptor. The cause is temporary.
    case tooFewDescriptors
    /// Any other failure of the database.
    case database(SQLiteError)
    /// A file cannot be written.
    case file(path: String, SystemError)
    /// A file cannot be removed.
    case notRemoved(path: String, SystemError)
    /// Another process uses the cache or removes it.
    case locked(path: String)
    /// The gallery's list alone exceeds the limit for all caches.
    case listTooLarge(limit: Int64)
    /// Another process changed the list during the update.
    case conflict

    /// An error message for the user.
    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "The cache \(path) cannot be opened: \(reason)."
        case .notOurs(let path): "The cache \(path) is not a folder of yours, so Vitrine does not use it."
        case .notACache(let path):
            """
            The folder \(path) contains files that are not Vitrine’s, so Vitrine does not use it. Name an empty or a new \
            folder with “--cache-dir”.
            """
        case .damagedInUse(let path):
            "The cache \(path) is damaged and in use by another process. Vitrine replaces it once that process has ended."
        case .newerSchema(let path):
            """
            The cache \(path) was made by a newer version of Vitrine. Use that version, or remove the cache with “vitrine \
            cache clear” to fetch it again.
            """
        case .otherGallery(let address):
            """
            The gallery has the same cache folder as \(address), so Vitrine does not open it. Remove that cache with \
            “vitrine cache clear” to open this gallery.
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
            The gallery’s list alone exceeds cache-limit (\(limit / (1 << 20)) MiB). Raise cache-limit to fetch the list.
            """
        case .conflict: "Another process updated the gallery at the same time."
        }
    }
}

extension CacheError {
    /// Converts an error that a cache threw. Returns nil for other errors.
    ///
    /// Readers throw SQLite's errors. Callers outside of this module convert them with this initialiser.
    public init?(thrown error: any Error) {
        switch error {
        case let error as CacheError: self = error
        case let error as SQLiteError: self.init(error)
        default: return nil
        }
    }

    /// Converts an error of SQLite.
    init(_ error: SQLiteError) {
        self =
            switch error {
            case .full: .full
            case .readOnly: .readOnly
            case .tooFewDescriptors: .tooFewDescriptors
            default: .database(error)
            }
    }

    /// Returns the error for a file that could not be written.
    ///
    /// - Parameter code: the system's error number.
    public static func file(_ path: String, code: Int32 = errno) -> CacheError {
        ofAnyFile(code) ?? .file(path: path, SystemError(code))
    }

    /// Returns the error for a file or folder that could not be opened or created.
    static func cannotOpen(_ path: String, code: Int32 = errno) -> CacheError {
        ofAnyFile(code) ?? .cannotOpen(path: path, SystemError(code))
    }

    /// Returns the error for a problem of all files, such as a full disk. Returns nil for error numbers of other
    /// problems.
    private static func ofAnyFile(_ code: Int32) -> CacheError? {
        switch code {
        case ENOSPC, EDQUOT: .full
        case EROFS: .readOnly
        case EMFILE, ENFILE: .tooFewDescriptors
        default: nil
        }
    }

    /// Whether a folder cannot be opened or created for a permanent reason. An example is a missing permission.
    public var isOfFolder: Bool {
        switch self {
        case .readOnly: true
        case .cannotOpen(_, let reason): reason.code != EIO
        default: false
        }
    }

    /// Whether a later attempt to store the same data may succeed. True if the cause may pass, such as a full disk,
    /// another process or a lack of memory.
    public var isTransient: Bool {
        switch self {
        case .conflict, .database(.locked), .tooFewDescriptors, .full, .readOnly, .file, .cannotOpen, .database(.disk),
            .database(.cannotOpen), .database(.noMemory):
            true
        case .notACache, .notOurs, .damagedInUse, .newerSchema, .otherGallery, .database, .notRemoved, .locked,
            .listTooLarge:
            false
        }
    }
}

extension StorageTrouble {
    /// Returns the storage problem that caused an error. Returns nil for an error with another cause.
    public init?(_ error: CacheError) {
        switch error {
        case .full: self = .full
        case .readOnly: self = .readOnly
        case .file(_, let reason), .cannotOpen(_, let reason): self = Self.trouble(reason.code)
        case .database(.disk), .database(.cannotOpen): self = .failing
        case .notACache, .notOurs, .damagedInUse, .newerSchema, .otherGallery, .database, .notRemoved, .locked,
            .conflict, .tooFewDescriptors, .listTooLarge:
            return nil
        }
    }

    private static func trouble(_ code: Int32) -> StorageTrouble {
        switch code {
        case ENOENT: .missing
        case EACCES: .forbidden
        default: .failing
        }
    }

    /// The error that all writes throw during this problem.
    var error: CacheError {
        switch self {
        case .full: .full
        case .readOnly: .readOnly
        case .failing, .missing, .forbidden: .database(.disk(reason: "nothing can be written"))
        }
    }
}
