import Glibc
import Logging
import Model
import SQLite

/// Opens the database of a gallery's cache, whatever state it is in.
enum GalleryDatabase {
    /// Opens or creates it, and brings it up to date.
    ///
    /// One that is damaged, or belongs to another gallery, is set aside, not deleted: a fresh one takes its place and
    /// fills itself again. One of a newer Vitrine is refused.
    static func open(
        _ path: String, address: Address, hub: ChangeHub, log: Log
    ) throws -> (writer: Writer, wasSetAside: Bool) {
        do {
            return (try openAsItIs(path, address: address, hub: hub), false)
        } catch SQLiteError.damaged(let reason) {
            let aside = "\(path).damaged-\(Log.systemTime())"
            log.error(.cache, "\(path) is damaged (\(reason)); it is kept as \(aside) and a fresh one is made")
            for suffix in ["", "-wal", "-shm"] { rename(path + suffix, aside + suffix) }
            return (try openAsItIs(path, address: address, hub: hub), true)
        }
    }

    private static func openAsItIs(_ path: String, address: Address, hub: ChangeHub) throws -> Writer {
        // Made here first, so that it is the user's alone from its first byte on; the files that SQLite adds beside it
        // take its permissions.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CacheError.cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        close(descriptor)
        let writer = try Writer(path: path, hub: hub)
        guard try Schema.migrate(writer) <= Schema.version else { throw CacheError.newerSchema(path: path) }
        try claim(writer, for: address)
        return writer
    }

    /// Writes the gallery's own row, or checks it: folders are named by a number that two addresses might share.
    private static func claim(_ writer: Writer, for address: Address) throws {
        let owner = try writer.read { try $0.first("SELECT address FROM gallery") { $0.text(0) } }
        if owner == address.text { return }
        guard owner == nil else { throw SQLiteError.damaged(reason: "it belongs to \(owner ?? "")") }
        try writer.transaction {
            try $0.run("INSERT INTO gallery (key, address) VALUES (1, ?) ON CONFLICT DO NOTHING", address.text)
        }
    }
}
