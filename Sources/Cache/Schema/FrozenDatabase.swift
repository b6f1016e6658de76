import Glibc
import SQLite

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
