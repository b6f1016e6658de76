import Glibc
import Logging
import Model
import SQLite
import Session

/// The database of a gallery's cache, to be opened whatever state it is in.
struct GalleryDatabase {
    let path: String
    /// Where files lie that are of use for a moment: what is left there by who dies is swept.
    let partialFolder: String
    let address: Address
    let hub: ChangeHub
    let mark: DamageMark
    let log: Log

    /// A database, and how it was opened.
    struct Opened {
        let writer: Writer
        /// Whether it is a fresh one, and the one that was there is set aside.
        var wasSetAside = false
        /// Why it can only be looked at, if that is so.
        var frozen: StorageTrouble?
    }

    /// Opens or creates it, and brings it up to date.
    ///
    /// One that is damaged, or belongs to another gallery, is set aside, not deleted: a fresh one takes its place and
    /// fills itself again. Where nothing suffered but the index of words, it is mended. One of a newer Vitrine is refused.
    ///
    /// - Parameter lock: held as shared; and so it is again when this returns, unless the database is frozen.
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

    /// What an error says. SQLite does not say why it cannot make a file, so it is asked of the system.
    private func reason(_ error: any Error) -> CacheError? {
        guard case .database(.cannotOpen)? = CacheError(thrown: error) else { return CacheError(thrown: error) }
        let place = partialFolder + "/probe"
        let descriptor = Glibc.open(place, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return .cannotOpen(path) }
        close(descriptor)
        unlink(place)
        return CacheError(thrown: error)
    }

    /// What is there can be looked at, though nothing can be added to it.
    private func openFrozen(_ trouble: StorageTrouble, _ lock: CacheLock) throws -> Opened? {
        let database = FrozenDatabase(path: path)
        // A disk that is full may have room for others in a moment, and what they write we would not see: nobody else may
        // have it open. Nobody at all writes to one that is read-only.
        guard try database.isOnReadOnlyDisk || lock.claim(.exclusive) == .held else { return nil }
        guard let writer = try? database.open(hub) else { return nil }
        guard try writer.read({ try $0.first("SELECT address FROM gallery") { $0.text(0) } }) == address.text else {
            return nil
        }
        log.error(.cache, "\(path) can only be looked at: \(trouble.error)")
        return Opened(writer: writer, frozen: trouble)
    }

    /// Whoever has the database open would go on writing to the file that is set aside: nobody may.
    private func openAlone(_ lock: CacheLock) throws -> Opened {
        guard try lock.claim(.exclusive) == .held else { throw CacheError.damagedInUse(path: path) }
        let opened: Opened
        do {
            // Another process may have been faster, and then this is the fresh one.
            opened = Opened(writer: try openAsItIs())
        } catch let error as SQLiteError where error.isDamage {
            let isRescued = try DatabaseRescue(path: path, address: address, folder: partialFolder).attempt()
            if isRescued {
                log.error(.cache, "\(path) was damaged (\(error)); all of its rows are whole and kept")
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
        log.error(.cache, "\(path) is damaged (\(reason)); it is kept as \(aside) and a fresh one is made")
        guard rename(path, aside) == 0 else { throw .cannotOpen(path) }
        // They may be missing. If we die before this, SQLite drops the log that it finds beside an empty file.
        for suffix in ["-wal", "-shm"] { rename(path + suffix, aside + suffix) }
        mark.remove()
    }

    private func openAsItIs() throws -> Writer {
        // Made here first, so that it is the user's alone from its first byte on; the files that SQLite adds beside it
        // take its permissions.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CacheError.cannotOpen(path) }
        let isWritten = DatabaseHeader.isBelievable(descriptor)
        close(descriptor)
        guard isWritten else { throw SQLiteError.damaged(reason: "its header is none of ours") }
        do {
            let writer = try Writer(path: path, hub: hub, watched: Schema.tables)
            guard try Schema.migrate(writer) <= Schema.version else { throw CacheError.newerSchema(path: path) }
            try writer.read(SchemaCheck.check)
            if mark.isSet { try lookThrough(writer) }
            try claim(writer)
            return writer
        } catch SQLiteError.statement(_, let reason) {
            // These statements are right; so it is the database that is not what its version says.
            throw SQLiteError.damaged(reason: reason)
        }
    }

    private func lookThrough(_ writer: Writer) throws {
        log.info(.cache, "\(path) is looked through: it seemed damaged when it was last used")
        let complaint = try writer.read { try $0.first("PRAGMA integrity_check(1)") { $0.text(0) } }
        guard complaint == "ok" else { throw SQLiteError.damaged(reason: complaint ?? "it cannot be looked through") }
        if try writer.transaction(PhotoText.mend) { log.error(.cache, "\(path): the index of words is made anew") }
        mark.remove()
    }

    /// Writes the gallery's own row, or checks it: folders are named by a number that two addresses might share.
    private func claim(_ writer: Writer) throws {
        let owner = try writer.read { try $0.first("SELECT address FROM gallery") { $0.text(0) } }
        if owner == address.text { return }
        guard owner == nil else { throw SQLiteError.damaged(reason: "it belongs to \(owner ?? "")") }
        try writer.transaction {
            try $0.run("INSERT INTO gallery (key, address) VALUES (1, ?) ON CONFLICT DO NOTHING", address.text)
        }
    }
}

/// The first hundred bytes of a database, as far as they are the same in every cache.
///
/// SQLite sees by itself that most of them are wrong. These it believes: a file of a later format it opens for reading
/// alone, one of another text encoding it misreads.
private enum DatabaseHeader {
    /// Whether an open file begins as a cache's database does. An empty one is about to.
    static func isBelievable(_ descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == bytes.count else { return count == 0 }
        let word = { (offset: Int) in bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        // "18: File format write version. 1 for legacy; 2 for WAL. 19: File format read version."
        let formats: ClosedRange<UInt8> = 1...2
        // "52: The page number of the largest root b-tree page when in auto-vacuum or incremental-vacuum modes, or zero
        // otherwise. 56: The database text encoding. A value of 1 means UTF-8. 64: True for incremental-vacuum mode."
        // In a file that was made and not yet written to, the encoding is still zero.
        return formats.contains(bytes[18]) && formats.contains(bytes[19])
            && word(52) == 0 && word(56) <= 1 && word(64) == 0
    }
}

/// A database on a disk that takes nothing: it can be looked at as it lies there.
///
/// Readers of a database with a log share a file beside it, and where that is missing they make it: so where nothing can be
/// made, even reading fails.
struct FrozenDatabase {
    let path: String

    /// Whether all of it is in its own file: what a program that was killed left in the log cannot be had this way.
    var isComplete: Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_size > 0 else { return false }
        return stat(path + "-wal", &status) != 0 || status.st_size == 0
    }

    /// Whether nobody at all can write to it.
    var isOnReadOnlyDisk: Bool { Glibc.access(path, W_OK) != 0 && errno == EROFS }

    /// How it has to be opened for reading: frozen, if the disk is known to take nothing.
    var access: Connection.Access { isOnReadOnlyDisk && isComplete ? .frozen : .readOnly }

    /// Opens it if it is one that this program knows, and needs no migrating.
    func open(_ hub: ChangeHub) throws -> Writer? {
        guard isComplete else { return nil }
        let writer = try Writer(frozen: path, hub: hub)
        guard try writer.read(Schema.version) == Schema.version else { return nil }
        try writer.read(SchemaCheck.check)
        return writer
    }
}

/// Saves a damaged database of which the tables themselves are whole: where the index of words alone suffered, in
/// whatever way, nothing has to be fetched again.
private struct DatabaseRescue {
    let path: String
    let address: Address
    /// Where the copy is made.
    let folder: String

    /// Puts its rows into a database that is made anew, and that in its place. Returns false, with nothing changed, if rows
    /// suffered too. Nobody else may have it open.
    ///
    /// It is put there as one transaction: whoever dies on the way leaves the damaged one, to be rescued by the next.
    func attempt() throws -> Bool {
        let place = folder + "/rescued.sqlite"
        removeCopy(place)
        defer { removeCopy(place) }
        do {
            let copy = try Connection(path: place, access: .readWrite)
            try Schema.migrate(copy)
            guard try take(copy) else { return false }
            try Connection(path: path, access: .readWrite).replaceContents(with: copy)
            return true
        } catch let error as SQLiteError {
            switch error {
            // That is what is the matter with it; a header that is wrong can make it read-only too.
            case .damaged, .damagedIndex, .statement, .constraint, .cannotOpen, .readOnly, .other: return false
            case .full, .locked, .disk, .interrupted, .tooFewDescriptors: throw error
            }
        }
    }

    /// Returns whether everything was there to be taken.
    private func take(_ copy: Connection) throws -> Bool {
        try copy.run("ATTACH DATABASE ? AS damaged", path)
        guard try copy.first("PRAGMA damaged.user_version", row: { Int($0.int(0)) }) == Schema.version,
            try SchemaCheck.isLaidOutAs(copy, "damaged"),
            try copy.first("SELECT address FROM damaged.gallery", row: { $0.text(0) }) == address.text
        else { return false }
        for table in Schema.tables + ["sqlite_schema", "sqlite_sequence"] {
            // "If the argument is the name of a table, then only that table, and its indexes, are checked."
            let complaint = try copy.first("PRAGMA damaged.integrity_check(\(table))") { $0.text(0) }
            guard complaint == "ok" else { return false }
        }
        try copy.transaction(writes: true) {
            for table in Schema.tables { try copy.run("INSERT INTO main.\(table) SELECT * FROM damaged.\(table)") }
            // Numbers of photos that are gone are not given out again.
            try copy.run("DELETE FROM main.sqlite_sequence WHERE name = 'photo'")
            try copy.run("INSERT INTO main.sqlite_sequence SELECT * FROM damaged.sqlite_sequence WHERE name = 'photo'")
            try PhotoText.rebuild(copy)
        }
        try copy.execute("DETACH DATABASE damaged")
        try SchemaCheck.check(copy)
        return true
    }

    private func removeCopy(_ place: String) {
        for suffix in ["", "-journal"] { unlink(place + suffix) }
    }
}

/// A note beside a database that somebody met with damage in it.
///
/// To look through a whole database takes seconds where it holds a million photos. So that is not done at each start, but
/// when there is a reason to: whoever stumbles leaves this note, and the next who opens the cache looks.
struct DamageMark: Sendable {
    private let path: String

    /// The note of the database at this path.
    init(database: String) {
        path = database + ".suspect"
    }

    /// Whether somebody left it.
    var isSet: Bool { access(path, F_OK) == 0 }

    /// Leaves the note. Where that fails the damage is met with once more, and noted then.
    func set() {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Takes it away.
    func remove() {
        unlink(path)
    }

    /// Runs what uses the database: its errors come out as the cache's own, and damage leaves the note.
    func watch<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError {
            if error.isDamage { set() }
            throw CacheError(error)
        }
    }
}
