import Foundation
import TestSupport
import Testing

@testable import SQLite

@Suite struct ConnectionTests {
    private let folder = TestFolder()

    private func connection() throws -> Connection {
        let connection = try Connection(path: folder.path("db"), access: .readWrite)
        try connection.execute("CREATE TABLE IF NOT EXISTS t (key INTEGER PRIMARY KEY, a, b, c)")
        return connection
    }

    @Test func valuesAreReturnedAsTheyWereBound() throws {
        let connection = try connection()
        try connection.run(
            "INSERT INTO t (key, a, b, c) VALUES (?, ?, ?, ?)", 1, "zwölf", [UInt8]([0, 255]), String?.none)
        try connection.run(
            "INSERT INTO t (key, a, b, c) VALUES (?, ?, ?, ?)", Int64.min, "", [UInt8](), Int64?.some(-7))
        let first = try #require(
            try connection.first("SELECT a, b, c FROM t WHERE key = ?", 1) {
                ($0.text(0), $0.blob(1), $0.optionalText(2))
            })
        #expect(first.0 == "zwölf" && first.1 == [0, 255] && first.2 == nil)
        let second = try #require(
            try connection.first("SELECT a, b, c FROM t WHERE key = ?", Int64.min) {
                ($0.optionalText(0), $0.optionalBlob(1), $0.optionalInt(2))
            })
        #expect(second.0 == "" && second.1 == [] && second.2 == -7)
        #expect(try connection.first("SELECT a FROM t WHERE key = 99", row: { $0.text(0) }) == nil)
    }

    @Test func quotesInValuesAreText() throws {
        let connection = try connection()
        let evil = "'); DROP TABLE t; --"
        try connection.run("INSERT INTO t (a) VALUES (?)", evil)
        #expect(try connection.map("SELECT a FROM t") { $0.text(0) } == [evil])
    }

    @Test func aStatementMayRunInItsOwnLoop() throws {
        let connection = try connection()
        for number in 1...3 { try connection.run("INSERT INTO t (key) VALUES (?)", number) }
        var pairs = 0
        try connection.forEach("SELECT key FROM t") { _ in
            try connection.forEach("SELECT key FROM t") { _ in pairs += 1 }
        }
        #expect(pairs == 9)
    }

    @Test func aFailedTransactionChangesNothing() throws {
        struct Stop: Error {}
        let connection = try connection()
        #expect(throws: Stop.self) {
            try connection.transaction(writes: true) {
                try connection.run("INSERT INTO t (key) VALUES (1)")
                throw Stop()
            }
        }
        #expect(try connection.first("SELECT count(*) FROM t") { $0.int(0) } == 0)
        try connection.transaction(writes: true) { try connection.run("INSERT INTO t (key) VALUES (1)") }
        #expect(try connection.first("SELECT count(*) FROM t") { $0.int(0) } == 1)
    }

    @Test func readersCannotWrite() throws {
        _ = try connection()
        let reader = try Connection(path: folder.path("db"), access: .readOnly)
        #expect(throws: SQLiteError.readOnly) { try reader.run("INSERT INTO t (key) VALUES (1)") }
    }

    @Test func errorsAreClassified() throws {
        let connection = try connection()
        try connection.execute("CREATE UNIQUE INDEX u ON t (a); INSERT INTO t (a) VALUES ('x')")
        #expect { try connection.run("INSERT INTO t (a) VALUES ('x')") } throws: {
            if case SQLiteError.constraint = $0 { true } else { false }
        }
        #expect { try connection.run("SELEKT") } throws: {
            if case SQLiteError.statement = $0 { true } else { false }
        }
        #expect { try Connection(path: folder.path("missing/db"), access: .readWrite) } throws: {
            if case SQLiteError.cannotOpen = $0 { true } else { false }
        }
        folder.write("text", String(repeating: "this is no database. ", count: 100))
        #expect {
            try Connection(path: folder.path("text"), access: .readWrite).execute("SELECT * FROM sqlite_schema")
        } throws: {
            if case SQLiteError.damaged = $0 { true } else { false }
        }
    }

    @Test func linksAreRefused() throws {
        _ = try connection()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: folder.path("db"))
        #expect(throws: SQLiteError.self) { try Connection(path: folder.path("link"), access: .readWrite) }
    }

    /// SQLite deletes the super-journal that a journal names, after it has rolled back the journal.
    @Test("A forged journal cannot delete another file")
    func forgedJournal() throws {
        let path = folder.path("db")
        try connection().execute("INSERT INTO t (a) VALUES (1)")
        let victim = folder.write("victim", "precious")
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        let word = { (number: Int) in stride(from: 24, through: 0, by: -8).map { UInt8(number >> $0 & 255) } }
        let name = Array(victim.utf8)
        // A header without pages; then the page of the lock, the name, its length and sum.
        var journal = magic + word(0) + word(0) + word(2) + word(512) + word(4_096)
        journal += [UInt8](repeating: 0, count: 512 - journal.count)
        journal += word(0x4000_0000 / 4_096 + 1) + name + word(name.count)
        journal += word(name.reduce(0) { $0 + Int($1) }) + magic
        try Data(journal).write(to: URL(fileURLWithPath: path + "-journal"))
        let opened = try? Connection(path: path, access: .readWrite).map("SELECT a FROM t") { $0.int(0) }
        #expect(FileManager.default.fileExists(atPath: victim))
        // SQLite must have met with the name, or this test would show nothing.
        #expect(opened == nil)
    }

    @Test("Triggers in a database do not run, and a value has at most 64 MiB")
    func hostileDatabases() throws {
        let connection = try connection()
        try connection.execute(
            "CREATE TABLE log (a); CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1); END")
        try connection.execute("INSERT INTO t (a) VALUES (1)")
        #expect(try connection.map("SELECT a FROM log") { $0.int(0) } == [])
        #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO t (a) VALUES (zeroblob(67108865))") }
    }
}
