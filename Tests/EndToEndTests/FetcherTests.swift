import Foundation
import TestSupport
import Testing

/// The program that fetches, beside the program with the screens.
@Suite(.ownThread, .serialized) struct FetcherTests {
    private let home = Household()

    /// The number of kills; `VITRINE_KILLS=1000` for more.
    private let kills = Int(ProcessInfo.processInfo.environment["VITRINE_KILLS"] ?? "") ?? 8

    /// The connections of a process to a port. The process may have inherited sockets of other tests.
    private func connections(of process: pid_t, to port: Int) -> [String] {
        let folder = "/proc/\(process)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let inodes = Set(
            names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
                .compactMap { $0.wholeMatch(of: #/socket:\[([0-9]+)\]/#).map { String($0.output.1) } })
        return Processes.text("/proc/\(process)/net/tcp").split(separator: "\n").map(String.init).filter { line in
            let fields = line.split(separator: " ").map(String.init)
            guard fields.count > 9, inodes.contains(fields[9]) else { return false }
            return fields[2].split(separator: ":").last.flatMap { Int($0, radix: 16) } == port
        }
    }

    @Test("BEHAVIOURS 7.1: The process with the screens has no network socket, and neither curl nor libxml2")
    func screensHaveNoNetwork() throws {
        let server = try Nginx(serving: Built.testGallery)
        let session = try TerminalSession(arguments: [server.url("/index.xml")], environment: home.environment())
        try #require(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" })
        let libraries = Processes.text("/proc/\(session.process)/maps")
        #expect(!libraries.contains("libcurl") && !libraries.contains("libxml2"))
        #expect(connections(of: session.process, to: server.port).isEmpty)
        let fetcher = try #require(Processes.fetchers(of: session.process).first)
        #expect(Processes.text("/proc/\(fetcher)/maps").contains("libcurl"))
        #expect(!connections(of: fetcher, to: server.port).isEmpty)
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(waitForEnd(of: fetcher))
    }

    @Test("The fetcher has neither terminal nor home, and both processes run with their restrictions")
    func fetcherHasNoTerminal() throws {
        let server = try Nginx(serving: Built.testGallery)
        let settings = home.folder.write("openssl.cnf", "")
        let session = try TerminalSession(
            arguments: [server.url("/index.xml")], environment: home.environment(["OPENSSL_CONF": settings]))
        try #require(session.until(shows: "Updated:"))
        let fetcher = try #require(Processes.fetchers(of: session.process).first)
        // The seventh field is the terminal, after the name in parentheses.
        let fields = Processes.text("/proc/\(fetcher)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        #expect(fields.dropFirst(4).first == "0")
        let variables = Processes.text("/proc/\(fetcher)/environ").split(separator: "\0")
        #expect(!variables.isEmpty && !variables.contains { $0.hasPrefix("HOME=") || $0.hasPrefix("XDG_") })
        #expect(variables.contains { $0 == "OPENSSL_CONF=\(settings)" })
        // Two is a filter of system calls.
        for process in [session.process, fetcher] {
            #expect(Processes.text("/proc/\(process)/status").contains("Seccomp:\t2\n"))
            #expect(Processes.text("/proc/\(process)/status").contains("NoNewPrivs:\t1\n"))
        }
        session.type("T")
        #expect(session.until { $0.text.contains("vitrine: seccomp") && $0.text.contains("vitrine-fetcher: ") })
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("BEHAVIOURS 3.5: the screens show the part of a photo that the fetcher has received")
    func partOfAPhoto() throws {
        let whole = try [UInt8](Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/images/owl.jpg")))
        let end = Gate()
        let server = try ScriptedServer { request in
            switch request.path {
            case "/index.xml":
                .answer(
                    200,
                    """
                    <album><photo id="1" name="Owl" date="2006-01-01T00:00:00Z">
                    <image kind="image" srcURL="p"/><image kind="thumbnail" srcURL="t"/></photo></album>
                    """)
            case "/p":
                [
                    .send("HTTP/1.1 200 OK\r\nContent-Length: \(whole.count)\r\n\r\n"),
                    .send(Array(whole.prefix(whole.count * 2 / 3))), .hold(end),
                    .send(Array(whole.dropFirst(whole.count * 2 / 3))), .close,
                ]
            default: .answer(404)
            }
        }
        let session = try TerminalSession(
            arguments: ["--pixels=none", server.url("/index.xml")],
            environment: home.environment(["COLORTERM": "truecolor"]))
        try #require(session.until(shows: "Owl"), "\(session.screen.text)")
        #expect(!session.screen.text.contains("▀"))
        session.type("\r")
        #expect(session.until { $0.text.contains("▀") }, "\(session.screen.text)")
        end.open()
        session.type("Q")
        #expect(session.wait() == 0)
        server.stop()
    }

    @Test("If Vitrine is killed, its fetcher ends")
    func killedScreens() throws {
        let server = try Nginx(serving: Built.testGallery)
        let session = try TerminalSession(arguments: [server.url("/index.xml")], environment: home.environment())
        try #require(session.until(shows: "Updated:"))
        let fetcher = try #require(Processes.fetchers(of: session.process).first)
        kill(session.process, SIGKILL)
        #expect(session.wait() == -SIGKILL)
        #expect(waitForEnd(of: fetcher))
    }

    /// SQLite reads the whole log when the first process opens a database, so a long one would delay the first frame.
    @Test("After the end of the screens, the fetcher moves the log into the database", arguments: [true, false])
    func logIsMoved(isKilled: Bool) throws {
        let server = try Nginx(serving: Built.testGallery)
        // After a kill, the next start shows a notice instead.
        for _ in 0..<(isKilled ? 1 : 3) {
            let session = try TerminalSession(arguments: [server.url("/index.xml")], environment: home.environment())
            try #require(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" })
            // Later starts show the cache before the fetcher runs.
            try #require(isSoon { !Processes.fetchers(of: session.process).isEmpty })
            let fetcher = try #require(Processes.fetchers(of: session.process).first)
            #expect(try logs().contains { $0 > 0 })
            if isKilled { kill(session.process, SIGKILL) } else { session.type("Q") }
            #expect(session.wait() == (isKilled ? -SIGKILL : 0))
            #expect(waitForEnd(of: fetcher))
            // Quitting screens may write the last few pages after the fetcher.
            #expect(try logs().allSatisfy { $0 <= (isKilled ? 0 : 24_000) })
        }
    }

    /// The lengths of the caches' logs, in bytes.
    private func logs() throws -> [Int] {
        let galleries = home.caches + "/galleries"
        return try FileManager.default.contentsOfDirectory(atPath: galleries).map { name in
            try Data(contentsOf: URL(fileURLWithPath: "\(galleries)/\(name)/gallery.sqlite-wal")).count
        }
    }

    private func waitForEnd(of process: pid_t) -> Bool {
        // A process without a parent may stay as a zombie where nothing reaps it.
        isSoon {
            let state = Processes.text("/proc/\(process)/stat")
            return state.isEmpty || state.contains(") Z ")
        }
    }

    /// Waits for a condition, for a minute at most.
    private func isSoon(_ condition: () -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: 60)
        while !condition() {
            guard Date() < deadline else { return false }
            poll(nil, 0, 5)
        }
        return true
    }

    @Test("A killed fetcher is started again, and the update loses nothing")
    func killedFetcher() throws {
        var count = 0
        while count < kills {
            let home = Household()
            let server = try Nginx(serving: Built.testGallery)
            let sync = try ChildProcess(
                Built.vitrine, ["sync", "--photos", server.url("/index.xml")], environment: home.environment())
            for _ in 0..<3 {
                guard let fetcher = waitForFetcher(of: sync) else { break }
                poll(nil, 0, Int32.random(in: 0..<60))
                if kill(fetcher, SIGKILL) == 0 { count += 1 }
            }
            #expect(sync.wait() == 0)
            let list = try home.vitrine("list", "--json", server.url("/index.xml"))
            #expect(
                list.text.split(separator: "\"photo\":true", omittingEmptySubsequences: false).count == 29,
                "\(list.text.prefix(600))")
            // Four fetchers at most: no file is fetched more often.
            #expect(try server.paths().count <= 57 * 4)
            #expect(try home.vitrine("cache", "check").status == 0)
        }
    }

    /// Waits until a running command has a fetcher. Returns nil if the command ends before.
    private func waitForFetcher(of command: ChildProcess) -> pid_t? {
        while !command.hasEnded {
            if let fetcher = Processes.fetchers(of: command.number).first { return fetcher }
            poll(nil, 0, 1)
        }
        return nil
    }

    @Test("The screen answers while its fetcher dies, and says so once")
    func screenOutlivesFetcher() throws {
        let server = try Nginx(serving: Built.testGallery)
        let session = try TerminalSession(arguments: [server.url("/index.xml")], environment: home.environment())
        try #require(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" })
        kill(try #require(Processes.fetchers(of: session.process).first), SIGKILL)
        #expect(session.until(shows: "The program vitrine-fetcher ended unexpectedly. Vitrine started it again."))
        session.type("G")
        #expect(session.until(shows: "28 of 28"))
        session.type("\r")
        #expect(session.until(shows: "28 of 28 · fit"))
        session.type("qr")
        #expect(session.until(shows: "Updated:"))
        #expect(Processes.fetchers(of: session.process).count == 1)
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test(
        "Vitrine restarts a fetcher whose deaths are a minute apart, and gives up after five deaths in a row",
        arguments: [true, false])
    func deathsInARow(areApart: Bool) throws {
        let server = try Nginx(serving: Built.testGallery)
        // A minute of the program takes 300 ms.
        let session = try TerminalSession(
            arguments: [server.url("/index.xml")], environment: home.environment(areApart ? Faults.hurry(200) : [:]))
        try #require(session.until(shows: "Updated:"))
        var last: pid_t = 0
        func hasNewFetcher() -> Bool {
            isSoon {
                session.untilQuiet(milliseconds: 0)
                return Processes.fetchers(of: session.process).contains { $0 != last }
            }
        }
        for _ in 1...(areApart ? 7 : 5) {
            try #require(hasNewFetcher())
            if areApart { poll(nil, 0, 400) }
            last = try #require(Processes.fetchers(of: session.process).first)
            kill(last, SIGKILL)
            try #require(waitForEnd(of: last))
        }
        if areApart {
            #expect(hasNewFetcher())
        } else {
            session.type("q")
            #expect(session.until(shows: "Vitrine fetches nothing until its next start"))
        }
        session.type("Q")
        #expect(session.wait() == 0)
    }

    /// The reason why another fetcher continues a transfer.
    enum Change: CaseIterable {
        case death, otherFolder, otherSettings
    }

    @Test("A photo's transfer is resumed by each later fetcher of the run", arguments: Change.allCases)
    func resumedPhoto(change: Change) throws {
        let (gate, lastRound) = (Gate(), Gate())
        let owl = FileManager.default.contents(atPath: Built.testGallery + "/thumbnails/owl.jpg").map(Array.init) ?? []
        let photo = owl + [UInt8](repeating: 7, count: 600_000)
        let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(photo.count)\r\n\r\n"
        let server = try ScriptedServer { request in
            guard request.path == "/p" else {
                return .answer(
                    200,
                    "<album><photo id=\"a\" name=\"Lake\" date=\"2006-01-01T00:00:00Z\">"
                        + "<image kind=\"image\" srcURL=\"p\"/></photo></album>")
            }
            guard let range = request.headers["range"], let start = Int(range.dropFirst(6).prefix { $0 != "-" }),
                start > 0
            else { return [.send(head), .send(Array(photo.prefix(300_000))), .hold(gate)] }
            let rest: [ScriptedServer.Step] = .answer(
                206, Array(photo.dropFirst(start)),
                headers: ["ETag: \"1\"", "Content-Range: bytes \(start)-\(photo.count - 1)/\(photo.count)"])
            return lastRound.isOpen ? rest : [rest[0], .hold(gate)]
        }
        defer { gate.open() }
        let session = try TerminalSession(
            arguments: ["--transfers", "1", server.url("/index.xml")], environment: home.environment())
        try #require(session.until(shows: "1 of 1"))
        session.type("\r")
        // The part is on the disk when the screen shows its size.
        let folder = ".cache/vitrine/galleries/"
        let gallery = try #require(home.folder.entries(folder).first)
        let partial = home.folder.path(folder + gallery + "/partial")
        try #require(
            isSoon {
                let names = (try? FileManager.default.contentsOfDirectory(atPath: partial)) ?? []
                return names.contains { name in
                    let facts = try? FileManager.default.attributesOfItem(atPath: partial + "/" + name)
                    return facts?[.size] as? Int == 300_000
                }
            })
        if change == .otherFolder {
            // The export needs the photo while another gallery is open.
            session.type("s")
            try #require(session.until(shows: " to:"))
            session.type("\u{15}~/saved\r")
        }
        for round in 1...3 {
            if round == 3 { lastRound.open() }
            switch change {
            case .death: kill(try #require(Processes.fetchers(of: session.process).first), SIGKILL)
            case .otherFolder:
                home.folder.write("folder\(round)/owl.jpg", owl)
                session.type(":open \(home.folder.path("folder\(round)"))\r")
            case .otherSettings: session.type(":set client-certificate-host example\(round).org\r")
            }
            let resumed = isSoon {
                session.untilQuiet(milliseconds: 0)
                return server.requests.count { $0.headers["range"]?.hasPrefix("bytes=300000-") == true } >= round
            }
            try #require(resumed, "\(server.requests.map(\.headers)) \(session.screen.text)")
        }
        if change == .otherFolder { #expect(session.until(shows: "Saved “Lake”")) }
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(home.waitForPrograms())
    }

    /// An empty gallery needs no fetcher before the user refreshes it.
    @Test("A refresh opens a cache that the fetcher could not open before")
    func reopenedCache() throws {
        let list = home.folder.write("album/index.xml", "<album></album>")
        #expect(try home.vitrine("sync", list).status == 0)
        let session = try TerminalSession(arguments: ["--sync-on-open=no", list], environment: home.environment())
        try #require(session.until(shows: "Updated:"))
        let gallery = try #require(home.folder.entries(".cache/vitrine/galleries").first)
        let photos = home.folder.path(".cache/vitrine/galleries/\(gallery)/photos")
        try FileManager.default.moveItem(atPath: photos, toPath: photos + "-away")
        home.folder.write(".cache/vitrine/galleries/\(gallery)/photos", "")
        session.type("r")
        #expect(session.until(shows: "Update failed"), "\(session.screen.text)")
        try FileManager.default.removeItem(atPath: photos)
        try FileManager.default.moveItem(atPath: photos + "-away", toPath: photos)
        session.type("r")
        #expect(
            session.until { $0.text.contains("Updated:") && !$0.text.contains("Update failed") },
            "\(session.screen.text)")
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("The emptied cache of a removed folder stays empty")
    func removedFolder() throws {
        func copy(_ picture: String, to path: String) throws {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(Built.testGallery)/thumbnails/\(picture).jpg"))
            home.folder.write(path, [UInt8](bytes))
        }
        try copy("owl", to: "album/owl.jpg")
        try copy("moon", to: "other/moon.jpg")
        let album = home.folder.path("album")
        home.folder.write(".config/vitrine/galleries", "file://\(album)\n")
        let session = try TerminalSession(
            arguments: [album], columns: 110, environment: home.environment())
        try #require(session.until { $0.text(inRow: 0).contains("1 of 1") && $0.text.contains("Updated:") })
        session.type("q")
        try #require(session.until { $0.text(inRow: 0).contains("Galleries") && $0.text.contains("1 photo") })
        session.type("d")
        try #require(session.until(shows: "and its cache"))
        session.type("cs")
        try #require(session.until(shows: "Saved the list of galleries."))
        try #require(isSoon { (try? home.vitrine("list", album))?.text == "" })
        // The fetcher still watches the folder. It is started again to read another folder.
        try copy("tulips", to: "album/tulips.jpg")
        session.type(":open \(home.folder.path("other"))\r")
        #expect(session.until { $0.text(inRow: 0).contains("1 of 1") && $0.text.contains("Updated:") })
        try copy("owl", to: "other/owl.jpg")
        #expect(session.until { $0.text(inRow: 0).contains("of 2") })
        session.type("Q")
        #expect(session.wait() == 0 && home.waitForPrograms())
        #expect(try home.vitrine("list", album).text.isEmpty)
    }

    @Test("A folder inside an open one is read by the same fetcher")
    func innerFolder() throws {
        for name in ["album/owl.jpg", "album/inner/moon.jpg"] {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(Built.testGallery)/thumbnails/owl.jpg"))
            home.folder.write(name, [UInt8](bytes))
        }
        let album = home.folder.path("album")
        let session = try TerminalSession(arguments: [album], columns: 110, environment: home.environment())
        try #require(session.until { $0.text(inRow: 0).contains("1 of 2") && $0.text.contains("Updated:") })
        let fetchers = Processes.fetchers(of: session.process)
        session.type(":open \(album)/inner\r")
        #expect(session.until { $0.text(inRow: 0).contains("1 of 1") && $0.text.contains("Updated:") })
        #expect(Processes.fetchers(of: session.process) == fetchers && fetchers.count == 1)
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("Without its fetcher, Vitrine shows what it has and says why it fetches nothing")
    func missingFetcher() throws {
        #expect(try home.vitrine("sync", Built.testGallery).status == 0)
        let folder = try programsWithoutFetcher()
        let program = folder.path("vitrine")
        let sync = try Command(program, ["sync", Built.testGallery], environment: home.environment())
        #expect(sync.status == 1)
        #expect(sync.errors.contains("vitrine-fetcher cannot be started: No such file or directory"), "\(sync.errors)")
        let session = try TerminalSession(
            program, arguments: [Built.testGallery], environment: home.environment())
        #expect(session.until(shows: "Dawn over the ridge"))
        #expect(session.until(shows: "Vitrine fetches nothing, because the program"))
        // A photo that is not cached does not seem to load.
        session.type("\r")
        #expect(session.until(shows: "Load failed"))
        session.type("Q")
        #expect(session.wait() == 0)
    }

    private func programsWithoutFetcher() throws -> TestFolder {
        let folder = TestFolder()
        for name in ["vitrine", "vitrine-decoder"] {
            // A copy could be open for writing in a process that another test is starting, and then not run.
            if link("\(Built.folder)/\(name)", folder.path(name)) != 0 {
                try FileManager.default.copyItem(atPath: "\(Built.folder)/\(name)", toPath: folder.path(name))
            }
        }
        return folder
    }

    @Test("After an upgrade while Vitrine runs, Vitrine says that its programs have different versions")
    func otherVersion() throws {
        let folder = try programsWithoutFetcher()
        // The beginning of an empty message of version 99.
        let fetcher = folder.write(
            "vitrine-fetcher", "#!/bin/sh\nprintf '\\143\\0\\0\\0\\0' >&0\nexec cat >/dev/null\n")
        #expect(chmod(fetcher, 0o700) == 0)
        let session = try TerminalSession(
            folder.path("vitrine"), arguments: [Built.testGallery], environment: home.environment())
        #expect(session.until(shows: "3 and 99. Start Vitrine again"), "\(session.screen.text)")
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("The fetcher answers a program of another version, so that this program can name the reason")
    func otherProgram() throws {
        var sockets: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &sockets) == 0)
        let (ours, theirs) = (FileHandle(fileDescriptor: sockets[0]), FileHandle(fileDescriptor: sockets[1]))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Built.folder + "/vitrine-fetcher")
        process.standardInput = theirs
        try process.run()
        try theirs.close()
        try ours.write(contentsOf: [99, 0, 0, 0, 0])
        #expect(try ours.read(upToCount: 5)?.count == 5)
        process.waitUntilExit()
        #expect(process.terminationStatus == 2)
        try ours.close()
    }

    @Test("Started by hand, the fetcher says that it is no command")
    func startedByAUser() throws {
        let command = try Command(Built.folder + "/vitrine-fetcher", [], environment: home.environment())
        #expect(command.status == 2 && command.errors.hasPrefix("vitrine-fetcher: "), "\(command.errors)")
    }
}

/// Processes of the program under test.
enum Processes {
    /// The fetchers of a process, which its launcher has started.
    static func fetchers(of process: pid_t) -> [pid_t] {
        let started = children(of: process).flatMap { children(of: $0) }
        return started.filter { text("/proc/\($0)/comm") == "vitrine-fetcher\n" }
    }

    static func children(of process: pid_t) -> [pid_t] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        return tasks.flatMap {
            text("/proc/\(process)/task/\($0)/children").split(separator: " ").compactMap { pid_t($0) }
        }
    }

    /// The children of a process, their children, and so on: also the programs that its launcher has started.
    static func descendants(of process: pid_t) -> [pid_t] {
        children(of: process).flatMap { [$0] + descendants(of: $0) }
    }

    /// Reads a file of /proc, which states no size.
    static func text(_ path: String) -> String {
        guard let file = FileHandle(forReadingAtPath: path) else { return "" }
        return String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
    }
}
