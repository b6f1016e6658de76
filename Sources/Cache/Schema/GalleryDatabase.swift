import Glibc
import Session
import Logging
import Model
import SQLite

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
