import Glibc
import SQLite

/// Keeps a table of names in a database, and watches its changes:
///
///     swift run example-sqlite FILE [NAME…]
///
/// A name that is already there undoes its whole transaction.
@main
enum SQLiteExample {
    static func main() async throws {
        guard let path = CommandLine.arguments.dropFirst().first else {
            print("usage: example-sqlite FILE [NAME…]")
            exit(2)
        }
        let hub = ChangeHub()
        let writer = try Writer(path: path, hub: hub)
        try migrate(writer)

        // Subscribe before the first read, so that no commit is missed in between.
        let changes = hub.subscribe()
        let readers = ReaderPool(path: path)
        print("at first: \(try names(readers))")
        for name in CommandLine.arguments.dropFirst(2) {
            do {
                try writer.transaction { connection in
                    try connection.run("INSERT INTO person (name) VALUES (?)", name)
                    try connection.run("UPDATE total SET people = people + 1")
                }
            } catch SQLiteError.constraint {
                print("\(name) is already there")
                continue
            }
            // The writer publishes after the commit. Several commits may arrive as one.
            guard let change = await changes.next(), case .listed(let rows) = change["person"] else { continue }
            print("rows \(rows.sorted()) changed: \(try names(readers))")
        }
        print("total: \(try readers.read { try $0.first("SELECT people FROM total") { $0.int(0) } } ?? 0)")
    }

    /// Creates the tables in a new database. The database's `user_version` tells which steps it has seen.
    private static func migrate(_ writer: Writer) throws {
        let version = try writer.read { try $0.first("PRAGMA user_version") { $0.int(0) } } ?? 0
        guard version < 1 else { return }
        try writer.transaction { connection in
            try connection.execute(
                """
                CREATE TABLE person (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
                CREATE TABLE total (people INTEGER NOT NULL);
                INSERT INTO total VALUES (0);
                PRAGMA user_version = 1;
                """)
        }
    }

    private static func names(_ readers: ReaderPool) throws -> String {
        try readers.read { try $0.map("SELECT name FROM person ORDER BY name") { $0.text(0) } }.joined(separator: " ")
    }
}
