import Files
import Glibc
import Logging
import Model
import SQLite
import Session

/// Opens the database of a gallery's cache. The database may be missing, damaged, outdated or read-only.
struct GalleryDatabase {
    let path: String
    /// A folder for temporary files. The next start removes files that remain in the folder.
    let partialFolder: String
    let address: Address
    let hub: ChangeHub
    let mark: DamageMark
    let log: Log

    /// An open database.
    struct Opened {
        let writer: Writer
        /// Whether this database is new because the old one was damaged and set aside.
        var wasSetAside = false
        /// The reason why the database is read-only; nil if it is writable.
        var frozen: StorageTrouble?
    }

    /// Opens or creates the database, and migrates it.
    ///
    /// If the database is damaged, this method sets it aside and creates a new one. If only the search index is damaged,
    /// the method rebuilds the index. It refuses a database of another gallery or of a newer Vitrine.
    ///
    /// - Parameter lock: a shared lock. It may become exclusive meanwhile. Afterwards it is shared again, unless the
    ///   database is read-only.
    func open(_ lock: CacheLock) throws -> Opened {
        do {
            do {
                return Opened(writer: try openAsItIs())
            } catch let error as SQLiteError where error.isDamage {
                return try openAlone(lock)
            }
        } catch {
            guard let error = reason(error) else { throw error }
            guard let trouble = StorageTrouble(error), let opened = try openFrozen(trouble, lock) else { throw error }
            return opened
        }
    }

    /// Returns the cause of an error as a cache error. SQLite does not say why it cannot create a file, so this method
    /// asks the system.
    private func reason(_ error: any Error) -> CacheError? {
        guard case .database(.cannotOpen)? = CacheError(thrown: error) else { return CacheError(thrown: error) }
        let probe = partialFolder + "/probe"
        let descriptor = Glibc.open(probe, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return .cannotOpen(path) }
        close(descriptor)
        unlink(probe)
        return CacheError(thrown: error)
    }

    /// Opens the database read-only. Returns nil if that is not possible.
    private func openFrozen(_ trouble: StorageTrouble, _ lock: CacheLock) throws -> Opened? {
        let database = FrozenDatabase(path: path)
        // On a full disk another process may write again soon, and a frozen connection would not see that. So it needs
        // an exclusive lock. On a read-only disk no process writes.
        guard try database.isOnReadOnlyDisk || lock.claim(.exclusive) == .held else { return nil }
        guard let writer = try? database.open(hub) else { return nil }
        guard try writer.read({ try $0.first("SELECT address FROM gallery") { $0.text(0) } }) == address.text else {
            return nil
        }
        log.error(.cache, "\(path) is opened read-only: \(trouble.error)")
        return Opened(writer: writer, frozen: trouble)
    }

    /// Opens a damaged database under an exclusive lock.
    ///
    /// Without the lock, another process would continue to write to a database that was set aside.
    private func openAlone(_ lock: CacheLock) throws -> Opened {
        guard try lock.claim(.exclusive) == .held else { throw CacheError.damagedInUse(path: path) }
        let opened: Opened
        do {
            // Another process may have replaced the database already.
            opened = Opened(writer: try openAsItIs())
        } catch let error as SQLiteError where error.isDamage {
            let isRescued = try DatabaseRescue(path: path, address: address, folder: partialFolder).attempt()
            if isRescued {
                log.error(.cache, "rebuilt \(path), which was damaged (\(error)), without loss")
                mark.remove()
            } else {
                try setAside("\(error)")
            }
            opened = Opened(writer: try openAsItIs(), wasSetAside: !isRescued)
        }
        guard try lock.claim(.shared) == .held else { throw CacheError.locked(path: path) }
        return opened
    }

    private func setAside(_ reason: String) throws(CacheError) {
        let aside = "\(path).damaged-\(Log.systemTime())"
        log.error(.cache, "\(path) is damaged (\(reason)); it is set aside as \(aside) and replaced by a new one")
        guard rename(path, aside) == 0 else { throw .cannotOpen(path) }
        // These files may be missing. If Vitrine ends before it renames them, SQLite discards a log beside an empty
        // file.
        for suffix in ["-wal", "-shm"] { rename(path + suffix, aside + suffix) }
        mark.remove()
    }

    private func openAsItIs() throws -> Writer {
        // Create the file here, so that it is private from the start. SQLite's other files get its permissions.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CacheError.cannotOpen(path) }
        let isWritten = DatabaseHeader.isPlausible(descriptor)
        close(descriptor)
        guard isWritten else { throw SQLiteError.damaged(reason: "it has an unknown header") }
        do {
            let writer = try Writer(path: path, hub: hub, watched: Schema.tables)
            guard try Schema.migrate(writer) <= Schema.version else { throw CacheError.newerSchema(path: path) }
            try writer.read(SchemaCheck.check)
            if mark.isSet { try examine(writer) }
            try claim(writer)
            return writer
        } catch SQLiteError.statement(_, let reason) {
            // The statements are correct, so the database does not match its version.
            throw SQLiteError.damaged(reason: reason)
        }
    }

    private func examine(_ writer: Writer) throws {
        log.info(.cache, "checking \(path), which seemed damaged when it was last used")
        let complaint = try writer.read { try $0.first("PRAGMA integrity_check(1)") { $0.text(0) } }
        guard complaint == "ok" else { throw SQLiteError.damaged(reason: complaint ?? "its check failed") }
        if try writer.transaction(PhotoText.repair) { log.error(.cache, "\(path): rebuilt the search index") }
        mark.remove()
    }

    /// Stores the gallery's address in the database, or checks it. Two addresses may share a folder name.
    private func claim(_ writer: Writer) throws {
        let owner = try writer.read { try $0.first("SELECT address FROM gallery") { $0.text(0) } }
        if owner == address.text { return }
        if let owner {
            // An attacker can make an address with the identifier of another. Opening it must not set the other
            // gallery's database aside. A damaged address has another identifier.
            guard UInt64(hashing: owner.utf8) == GalleryID(address).rawValue, let other = try? Address(owner) else {
                throw SQLiteError.damaged(reason: "it belongs to \(owner)")
            }
            throw CacheError.otherGallery(other)
        }
        try writer.transaction {
            try $0.run("INSERT INTO gallery (key, address) VALUES (1, ?) ON CONFLICT DO NOTHING", address.text)
        }
    }
}

/// The parts of a database's header that are the same in every cache.
///
/// SQLite itself detects most wrong values. It trusts these parts: it opens a file of a later format read-only, and
/// misreads another text encoding.
private enum DatabaseHeader {
    /// Whether a file begins like a cache's database, or is empty.
    static func isPlausible(_ descriptor: Int32) -> Bool {
        // A file that cannot be read is not damaged. SQLite reports the reason.
        guard let bytes = try? OpenFile.beginning(of: descriptor, count: 100) else { return true }
        guard bytes.count == 100 else { return bytes.isEmpty }
        let word = { (offset: Int) in bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        // "18: File format write version. 1 for legacy; 2 for WAL. 19: File format read version."
        let formats: ClosedRange<UInt8> = 1...2
        // "52: The page number of the largest root b-tree page when in auto-vacuum or incremental-vacuum modes, or zero
        // otherwise. 56: The database text encoding. A value of 1 means UTF-8. 64: True for incremental-vacuum mode." A
        // file that was created and not written to has the encoding zero.
        return formats.contains(bytes[18]) && formats.contains(bytes[19])
            && word(52) == 0 && word(56) <= 1 && word(64) == 0
    }
}

/// A database on a disk that cannot be written to, opened without its log.
///
/// Normally readers share a file beside the database, and create it if it is missing, so reading fails on a read-only
/// disk.
struct FrozenDatabase {
    let path: String

    /// Whether the database needs no log: the log is missing or empty. On a read-only disk, SQLite cannot read the log.
    var isComplete: Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_size > 0 else { return false }
        return stat(path + "-wal", &status) != 0 || status.st_size == 0
    }

    /// Whether the disk is read-only, so that no process can write to the database.
    var isOnReadOnlyDisk: Bool { Glibc.access(path, W_OK) != 0 && errno == EROFS }

    /// The mode for reading: without a log on a read-only disk, else normal.
    var access: Connection.Access { isOnReadOnlyDisk && isComplete ? .frozen : .readOnly }

    /// Opens the database. Returns nil if the database is incomplete or needs a migration.
    func open(_ hub: ChangeHub) throws -> Writer? {
        guard isComplete else { return nil }
        let writer = try Writer(frozen: path, hub: hub)
        guard try writer.read(Schema.version) == Schema.version else { return nil }
        try writer.read(SchemaCheck.check)
        return writer
    }
}

/// Rescues a damaged database whose tables are intact. Vitrine then need not fetch everything again.
///
/// This is possible if only the search index is damaged.
private struct DatabaseRescue {
    let path: String
    let address: Address
    /// The folder for the temporary copy.
    let folder: String

    /// Copies the rows to a new database and replaces the old one. The caller must hold an exclusive lock.
    ///
    /// Returns false, and changes nothing, if rows are damaged. The replacement is one transaction, so if Vitrine ends
    /// meanwhile, the next start can try again.
    func attempt() throws -> Bool {
        let copyPath = folder + "/rescued.sqlite"
        removeCopy(copyPath)
        defer { removeCopy(copyPath) }
        do {
            let copy = try Connection(path: copyPath, access: .readWrite)
            try Schema.migrate(copy)
            guard try take(copy) else { return false }
            try Connection(path: path, access: .readWrite).replaceContents(with: copy)
            return true
        } catch let error as SQLiteError {
            switch error {
            // These errors are consequences of the damage. A wrong header can make the database read-only, too.
            case .damaged, .damagedIndex, .statement, .constraint, .cannotOpen, .readOnly, .other: return false
            case .full, .locked, .disk, .interrupted, .tooFewDescriptors, .noMemory: throw error
            }
        }
    }

    /// Copies all rows. Returns false if any of the watched tables is missing or damaged.
    private func take(_ copy: Connection) throws -> Bool {
        try copy.run("ATTACH DATABASE ? AS damaged", path)
        guard try copy.first("PRAGMA damaged.user_version", row: { Int($0.int(0)) }) == Schema.version,
            try SchemaCheck.isLaidOutAs(copy, "damaged"),
            try copy.first("SELECT address FROM damaged.gallery", row: { $0.text(0) }) == address.text
        else { return false }
        for table in Schema.tables + ["sqlite_schema", "sqlite_sequence"] {
            guard try isIntact(table, copy) else { return false }
        }
        // The folders state whether the server recognized the user, because a guest's view must not remove the user's
        // photos. The rescue leaves out damaged folders, because it would otherwise lose the photos, too.
        let tables = try Schema.tables + (isIntact("folder", copy) ? ["folder"] : [])
        // Takes no write lock of the damaged database. A commit to two databases would need a super-journal.
        try copy.transaction(writes: false) {
            for table in tables {
                // Computed columns, which take no values, are not in this list.
                let columns = try copy.map("SELECT name FROM pragma_table_info(?, 'main')", table) { $0.text(0) }
                    .joined(separator: ", ")
                try copy.run("INSERT INTO main.\(table) (\(columns)) SELECT \(columns) FROM damaged.\(table)")
            }
            // Keeps the numbers of removed photos reserved.
            try copy.run("DELETE FROM main.sqlite_sequence WHERE name = 'photo'")
            try copy.run("INSERT INTO main.sqlite_sequence SELECT * FROM damaged.sqlite_sequence WHERE name = 'photo'")
            try PhotoText.rebuild(copy)
        }
        try copy.execute("DETACH DATABASE damaged")
        try SchemaCheck.check(copy)
        return true
    }

    /// Whether a table of the damaged database is intact, with its indices.
    private func isIntact(_ table: String, _ copy: Connection) throws -> Bool {
        do {
            // "If the argument is the name of a table, then only that table, and its indexes, are checked."
            return try copy.first("PRAGMA damaged.integrity_check(\(table))") { $0.text(0) } == "ok"
        } catch let error as SQLiteError where error.isDamage {
            return false
        }
    }

    private func removeCopy(_ path: String) {
        for suffix in ["", "-journal"] { unlink(path + suffix) }
    }
}

/// A file beside a database that marks the database as possibly damaged.
///
/// A full check takes seconds for a million photos, so it does not happen at every start, but only if this file exists.
struct DamageMark: Sendable {
    private let path: String

    /// Creates the value for the database at this path. The initialiser does not create the file.
    init(database: String) {
        path = database + ".suspect"
    }

    /// Whether the file exists.
    var isSet: Bool { access(path, F_OK) == 0 }

    /// Creates the file. If that fails, Vitrine will detect the damage again.
    func set() {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Removes the file.
    func remove() {
        unlink(path)
    }

    /// Runs code that uses the database. Converts SQLite's errors to ``CacheError``, and marks the database as
    /// damaged if an error indicates damage.
    func watch<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError {
            if error.isDamage { set() }
            throw CacheError(error)
        }
    }
}
