import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SQLite

@Suite struct WriterTests {
    private let folder = TestFolder()
    private let hub = ChangeHub()

    private func writer() throws -> Writer {
        let writer = try Writer(path: folder.path("db"), hub: hub)
        try writer.transaction { try $0.execute("CREATE TABLE IF NOT EXISTS t (key INTEGER PRIMARY KEY, a)") }
        return writer
    }

    private func expect(_ rows: Set<Int64>, of table: String) -> ChangeSet {
        var changes = ChangeSet()
        for row in rows { changes.insert(row, of: table) }
        return changes
    }

    @Test func commitsArePublished() async throws {
        let writer = try writer()
        let changes = hub.subscribe()
        try writer.transaction { database in
            for key in 1...3 { try database.run("INSERT INTO t (key, a) VALUES (?, ?)", key, "x") }
        }
        #expect(await changes.next() == expect([1, 2, 3], of: "t"))
        try writer.transaction { database in
            try database.run("UPDATE t SET a = 'y' WHERE key = 2")
            try database.run("DELETE FROM t WHERE key = 3")
        }
        #expect(await changes.next() == expect([2, 3], of: "t"))
    }

    @Test func publishedChangesCanBeRead() async throws {
        let writer = try writer()
        let readers = ReaderPool(path: folder.path("db"))
        let changes = hub.subscribe()
        for key in 1...20 {
            try writer.transaction { try $0.run("INSERT INTO t (key) VALUES (?)", key) }
            _ = await changes.next()
            #expect(try readers.read { try $0.first("SELECT count(*) FROM t") { $0.int(0) } } == Int64(key))
        }
    }

    @Test("A transaction waits for another process's lock as long as the caller permits, and then runs once")
    func waiting() throws {
        let writer = try writer()
        let other = try Connection(path: folder.path("db"), access: .readWrite)
        try writer.transaction { try $0.execute("PRAGMA busy_timeout = 1") }
        try other.execute("BEGIN IMMEDIATE")
        var (asked, ran) = (0, 0)
        #expect(throws: SQLiteError.locked) { try writer.transaction { _ in ran += 1 } }
        let mayWait = {
            asked += 1
            if asked == 3 { try? other.execute("COMMIT") }
            return true
        }
        try writer.transaction(mayWait: mayWait) { _ in ran += 1 }
        #expect(asked == 3 && ran == 1)
    }

    @Test func rollbacksPublishNothing() async throws {
        struct Stop: Error {}
        let writer = try writer()
        let changes = hub.subscribe()
        try? writer.transaction { database in
            try database.run("INSERT INTO t (key) VALUES (1)")
            throw Stop()
        }
        try writer.transaction { try $0.run("INSERT INTO t (key) VALUES (2)") }
        #expect(await changes.next() == expect([2], of: "t"))
    }

    @Test func slowListenersGetOneElement() async throws {
        let writer = try writer()
        let changes = hub.subscribe()
        for key in 1...50 { try writer.transaction { try $0.run("INSERT INTO t (key) VALUES (?)", key) } }
        #expect(await changes.next() == expect(Set(1...50), of: "t"))
    }

    @Test func manyRowsAreNotListed() async throws {
        let writer = try writer()
        let changes = hub.subscribe()
        try writer.transaction { database in
            for key in 0...ChangeSet.limit { try database.run("INSERT INTO t (key) VALUES (?)", key) }
        }
        #expect(await changes.next()?["t"] == .many)
    }

    @Test func readersDoNotWaitForTheWriter() throws {
        let writer = try writer()
        let readers = ReaderPool(path: folder.path("db"))
        try writer.transaction { database in
            try database.run("INSERT INTO t (key) VALUES (1)")
            #expect(try readers.read { try $0.first("SELECT count(*) FROM t") { $0.int(0) } } == 0)
        }
        #expect(try readers.read { try $0.first("SELECT count(*) FROM t") { $0.int(0) } } == 1)
    }

    @Test func checkpointsReport() throws {
        let writer = try writer()
        try writer.transaction { try $0.run("INSERT INTO t (a) VALUES (?)", [UInt8](repeating: 7, count: 50_000)) }
        let checkpoint = try writer.checkpoint()
        #expect(checkpoint.pages > 10 && checkpoint.moved == checkpoint.pages)
        #expect(try writer.checkpoint(emptying: true) == Writer.Checkpoint(pages: 0, moved: 0))
    }
}

/// Several programs create the same database at the same time.
@Suite(.ownThread) struct FirstOpeningTests {
    private let folder = TestFolder()

    /// SQLite refuses a reader at once while another process switches the file to write-ahead mode.
    @Test func everyProgramThatOpensANewDatabaseSucceeds() {
        for round in 0..<100 {
            let path = folder.path("db\(round)")
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                do {
                    let writer = try Writer(path: path, hub: ChangeHub())
                    try writer.transaction { try $0.execute("CREATE TABLE IF NOT EXISTS t (a)") }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [], "round \(round)")
        }
    }
}

@Suite struct LargeWriteTests {
    private let folder = TestFolder()
    private let hub = ChangeHub()

    @Test func onlyWatchedTablesArePublished() async throws {
        let writer = try Writer(path: folder.path("db"), hub: hub, watched: ["t"])
        try writer.transaction { database in
            try database.execute("CREATE TABLE t (key INTEGER PRIMARY KEY); CREATE TABLE u (key INTEGER PRIMARY KEY)")
        }
        let changes = hub.subscribe()
        try writer.transaction { database in
            for key in 1...3 {
                try database.run("INSERT INTO u VALUES (?)", key)
                try database.run("INSERT INTO t VALUES (?)", key * 2)
            }
        }
        let change = await changes.next()
        #expect(change?["t"] == .listed([2, 4, 6]) && change?["u"] == nil)
    }

    @Test func repeatedStatementsBindBytesWithoutACopy() throws {
        let writer = try Writer(path: folder.path("db"), hub: hub)
        try writer.transaction { database in
            try database.execute("CREATE TABLE t (key INTEGER PRIMARY KEY, a TEXT UNIQUE, b BLOB, c INTEGER)")
            let insert = try database.repeated("INSERT INTO t (a, b, c) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
            for (text, isNew) in [("one", true), ("", true), ("one", false), ("z\u{0}ü", true)] {
                try Array(text.utf8).withUnsafeBytes { bytes in
                    try insert.set(0, to: .text(bytes))
                    try insert.set(1, to: .blob(bytes))
                    try insert.set(2, to: text.isEmpty ? nil : 7)
                    let count = try insert.run()
                    #expect(count == (isNew ? 1 : 0))
                }
            }
            try insert.set(0, to: Borrowed?.none)
            try insert.run()
        }
        let rows = try writer.read { database in
            try database.map("SELECT a, b, c, typeof(a), typeof(b) FROM t ORDER BY key") {
                "\($0.text(0)) \($0.blob(1)) \($0.optionalInt(2) ?? -1) \($0.text(3)) \($0.text(4))"
            }
        }
        #expect(
            rows == [
                "one [111, 110, 101] 7 text blob", " [] -1 text blob", "z\u{0}ü [122, 0, 195, 188] 7 text blob",
                " [122, 0, 195, 188] 7 null blob",
            ])
        #expect(throws: SQLiteError.self) {
            try writer.transaction { database in
                try database.execute("CREATE TABLE n (a NOT NULL)")
                let insert = try database.repeated("INSERT INTO n VALUES (?)")
                try insert.run()
            }
        }
    }

    @Test func statementsCanBeInterrupted() throws {
        let connection = try Connection(path: folder.path("db"), access: .readWrite)
        let endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        var asked = 0
        #expect(throws: SQLiteError.interrupted) {
            try connection.interrupting {
                asked += 1
                return asked == 5
            } _: {
                try connection.execute(endless)
            }
        }
        #expect(asked == 5)
        #expect(try connection.first("SELECT 1") { $0.int(0) } == 1)
    }

    /// The log of a large commit is truncated. A reader prevents that, but the writer does not wait for it.
    @Test func theLogIsTruncated() throws {
        let writer = try Writer(path: folder.path("db"), hub: hub)
        try writer.transaction { try $0.execute("CREATE TABLE t (a)") }
        let reader = try Connection(path: folder.path("db"), access: .readOnly)
        func fill() throws {
            try writer.transaction { try $0.run("INSERT INTO t VALUES (?)", [UInt8](repeating: 7, count: 200_000)) }
        }
        func size() throws -> Int {
            let path = folder.path("db-wal")
            return try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        }
        try reader.transaction(writes: false) {
            #expect(try reader.first("SELECT count(*) FROM t") { $0.int(0) } == 0)
            try fill()
            #expect(try writer.checkpoint(emptying: true, patience: 0).moved < writer.pagesInLog)
            #expect(try size() > 200_000)
        }
        try fill()
        try writer.checkpoint(emptying: true, patience: 0)
        #expect(try size() == 0)
    }
}
