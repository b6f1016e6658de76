import Foundation
import TestSupport
import Testing

@testable import Logging

@Suite("BEHAVIOURS 6.4: the log") struct LogTests {
    @Test func theLastThousandEntriesAreKept() {
        let log = Log()
        for number in 0..<2_500 { log.info(.network, "entry \(number)") }
        #expect(log.entries.count == 1_000)
        #expect(log.entries.first?.message == "entry 1500")
        #expect(log.entries.last?.message == "entry 2499")
        #expect(log.entries.map(\.sequence) == Array(1500..<2500))
    }

    @Test func switchesApplyAtOnce() {
        let log = Log()
        log.info(.xml, "before")
        log.setEnabled(false, for: .xml)
        log.info(.xml, "while off")
        log.info(.sync, "another")
        log.setEnabled(true, for: .xml)
        log.info(.xml, "after")
        #expect(log.entries.map(\.message) == ["before", "another", "after"])
    }

    @Test(
        "The switch of network details decides, whatever the level",
        arguments: LogLevel.allCases)
    func detailsAreKeptWhereTheyAreSwitchedOn(level: LogLevel) {
        let log = Log(level: level)
        #expect(log.isEnabled(.networkDetail) == (level == .debug))
        log.setEnabled(true, for: .networkDetail)
        log.debug(.networkDetail, "connected")
        log.setEnabled(false, for: .networkDetail)
        log.debug(.networkDetail, "while off")
        #expect(log.entries.map(\.message) == ["connected"])
    }

    @Test("The other switches keep what the level permits")
    func othersFollowTheLevel() {
        let log = Log(level: .info)
        for subsystem in LogSubsystem.allCases where subsystem != .networkDetail {
            #expect(log.isEnabled(subsystem))
            log.info(subsystem, "kept")
            log.debug(subsystem, "not kept")
        }
        #expect(log.entries.map(\.message) == Array(repeating: "kept", count: 5))
    }

    @Test func levelsChangeAtOnceAlsoForOnePart() {
        let log = Log()
        log.debug(.network, "too early")
        let own: [LogSubsystem: LogLevel?] = [.network: .debug, .xml: nil, .networkDetail: .debug]
        log.setLevel(.error, own)
        for subsystem in [LogSubsystem.network, .networkDetail, .sync, .xml] {
            log.error(subsystem, "\(subsystem.name) error")
            log.debug(subsystem, "\(subsystem.name) debug")
        }
        #expect(
            log.entries.map(\.message) == [
                "network error", "network debug", "network-detail error", "network-detail debug", "sync error",
            ])
        log.setLevel(.debug)
        log.debug(.xml, "on again")
        #expect(log.entries.last?.message == "on again" && log.isEnabled(.networkDetail))
        log.setLevel(.info)
        #expect(!log.isEnabled(.networkDetail) && log.isEnabled(.xml))
    }

    @Test func exchangesOfOneHostAreKeptWhateverTheLevel() {
        let log = Log(level: .error)
        #expect(!log.keepsExchanges(with: "example.org"))
        log.setExchangeHost("Example.org")
        #expect(log.keepsExchanges(with: "example.ORG") && !log.keepsExchanges(with: "other.example.org"))
        log.setExchangeHost("[::1]")
        #expect(log.keepsExchanges(with: "::1") && log.keepsExchanges(with: "[::1]"))
        // Requests have the form for DNS.
        log.setExchangeHost("München.example")
        #expect(log.keepsExchanges(with: "xn--mnchen-3ya.example") && !log.keepsExchanges(with: "example"))
        log.exchange("GET /?token=s3cret")
        #expect(log.entries.map(\.message) == ["GET /?token=…"])
    }

    @Test func theFileChangesAtOnce() throws {
        let folder = TestFolder()
        let log = Log(file: try LogFile(path: folder.path("a")))
        log.info(.sync, "one")
        log.setFile(try LogFile(path: folder.path("b")))
        log.info(.sync, "two")
        log.setFile(nil)
        log.info(.sync, "three")
        log.flush()
        func text(_ name: String) throws -> String { try String(contentsOfFile: folder.path(name), encoding: .utf8) }
        #expect(try text("a").hasSuffix("sync one\n") && !text("a").contains("two"))
        #expect(try text("b").hasSuffix("sync two\n") && !text("b").contains("three"))
    }

    @Test func messagesAreBuiltOnlyIfKept() {
        let log = Log(level: .info)
        var built = 0
        func message() -> String {
            built += 1
            return "x"
        }
        log.debug(.network, message())
        #expect(built == 0)
        log.error(.network, message())
        #expect(built == 1)
    }

    @Test func linesHaveAFixedFormat() {
        setenv("TZ", "UTC", 1)
        let log = Log(level: .debug, now: { 1_154_245_637_042 })
        log.info(.networkDetail, "GET /x")
        #expect(log.entries[0].line == "2006-07-30 07:47:17.042 network-detail GET /x")
    }

    @Test func messagesAreEscapedAndLimited() {
        let log = Log()
        log.info(.network, "\u{1B}]52;c;evil\u{07}\nsecond line")
        log.info(.network, String(repeating: "x", count: 1_000_000))
        #expect(log.entries[0].message == "␛]52;c;evil␇␊second line")
        #expect(log.entries[1].message.utf8.count < 2_100)
    }

    @Test func clearingRemovesEntries() {
        let log = Log()
        log.info(.cache, "one")
        log.clear()
        #expect(log.entries.isEmpty)
        log.info(.cache, "two")
        #expect(log.entries.map(\.message) == ["two"])
    }

    @Test func aBurstIsOneChange() async {
        let log = Log()
        var changes = log.changes.makeAsyncIterator()
        for number in 0..<100 { log.info(.sync, "\(number)") }
        await changes.next()
        #expect(log.entries.count == 100)
        log.info(.sync, "one more")
        await changes.next()
        #expect(log.entries.count == 101)
    }

    /// A screen closes in the moment of a write.
    @Test func listenersMayLeaveDuringWrites() async {
        let (log, end, ended) = (Log(), Gate(), Gate())
        Thread.detachNewThread {
            while !end.isOpen { log.info(.sync, "written") }
            ended.open()
        }
        for _ in 0..<5_000 {
            let listening = Task { for await _ in log.changes {} }
            await Task.yield()
            listening.cancel()
        }
        end.open()
        #expect(ended.wait())
    }

    @Test func fileIsWrittenAndRotated() throws {
        let folder = TestFolder()
        let file = try LogFile(path: folder.path("log"), maximumSize: 1_000)
        let log = Log(file: file)
        for number in 0..<30 { log.info(.sync, "entry number \(number)") }
        file.flush()
        let current = try String(contentsOfFile: folder.path("log"), encoding: .utf8)
        let older = try String(contentsOfFile: folder.path("log.1"), encoding: .utf8)
        #expect(current.utf8.count <= 1_000 && older.utf8.count <= 1_000)
        #expect(current.hasSuffix("entry number 29\n"))
        #expect(folder.entries() == ["log", "log.1"])
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path("log"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("A readable log file becomes private before it is written")
    func becomesPrivate() throws {
        let folder = TestFolder()
        let path = folder.write("log", "older\n")
        chmod(path, 0o666)
        let file = try LogFile(path: path, maximumSize: 1_000)
        #expect(mode(path) == 0o600)
        let log = Log(file: file)
        for number in 0..<30 { log.info(.sync, "entry number \(number)") }
        file.flush()
        #expect(mode(path) == 0o600 && mode(path + ".1") == 0o600)
        #expect(try String(contentsOfFile: path + ".1", encoding: .utf8).hasPrefix("older\n"))
    }

    @Test("A log file that others could read or choose is refused and left as it is")
    func refused() throws {
        let folder = TestFolder()
        let victim = folder.write("victim", "keep")
        chmod(victim, 0o644)
        let path = folder.path("log")
        let occupants: [(reason: String, make: () -> Int32)] = [
            ("it is a symbolic link", { symlink(victim, path) }),
            ("it is a symbolic link", { symlink("nowhere", path) }),
            ("it has several hard links", { link(victim, path) }),
            ("it is not a regular file", { mkfifo(path, 0o666) + chmod(path, 0o666) }),
        ]
        for (reason, make) in occupants {
            #expect(make() == 0)
            let error = #expect(throws: LogError.self) { try LogFile(path: path) }
            // A pipe without a reader cannot be opened for writing.
            let isPipe = reason == "it is not a regular file"
            #expect(error == .notPrivate(path, reason) || isPipe, "\(String(describing: error))")
            unlink(path)
        }
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "keep" && mode(victim) == 0o644)
        #expect(throws: LogError.notPrivate("/dev/null", "it is not a regular file")) { try LogFile(path: "/dev/null") }
    }

    @Test("Another user's log file is refused", .enabled(if: geteuid() == 0))
    func anotherUsers() throws {
        let folder = TestFolder()
        let path = folder.write("log", "theirs")
        #expect(chown(path, 65_534, 65_534) == 0)
        #expect(throws: LogError.notPrivate(path, "it belongs to another user")) { try LogFile(path: path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs")
    }

    private func mode(_ path: String) -> Int {
        var status = stat()
        return lstat(path, &status) == 0 ? Int(status.st_mode & 0o7777) : -1
    }
}
