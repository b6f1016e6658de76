import Glibc
import SQLite

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
