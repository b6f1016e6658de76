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

    @Test func commitsAreAnnounced() async throws {
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

    @Test func whatWasAnnouncedIsThere() async throws {
        let writer = try writer()
        let readers = ReaderPool(path: folder.path("db"))
        let changes = hub.subscribe()
        for key in 1...20 {
            try writer.transaction { try $0.run("INSERT INTO t (key) VALUES (?)", key) }
            _ = await changes.next()
            #expect(try readers.read { try $0.first("SELECT count(*) FROM t") { $0.int(0) } } == Int64(key))
        }
    }

    @Test func rollbacksAreSilent() async throws {
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
