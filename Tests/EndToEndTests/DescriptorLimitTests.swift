import Foundation
import TestSupport
import Testing

/// With few file descriptors every command works or ends with the reason. None traps, hangs, or reports another reason.
@Suite(.ownThread, .serialized) struct DescriptorLimitTests {
    /// Below three descriptors there is no standard error.
    private static let limits = Array(3...64)
    /// The time limit in seconds.
    private static let patience = 60

    private let gallery: SmallGallery
    private var home: Household { gallery.home }

    init() throws { gallery = try SmallGallery() }

    /// A shell closes inherited descriptors, lowers the limit, and becomes the program.
    private static let script = """
        for file in /proc/$$/fd/*; do file=${file##*/}; [ "$file" -gt 2 ] && eval "exec $file>&-"; done
        ulimit -n "$1" && shift && exec "$@"
        """

    private func run(_ limit: Int, _ arguments: [String]) throws -> Command {
        try Command(
            "/usr/bin/timeout",
            ["-s", "KILL", "\(Self.patience)", "/bin/bash", "-c", Self.script, "sh", "\(limit)", Built.vitrine]
                + arguments,
            environment: home.environment())
    }

    /// The program reports the shortage only. With three descriptors the system's loader reports it.
    private func expectShortage(_ said: String, _ status: Int32, _ comment: Comment) {
        let isSaid = said.contains("too few file descriptors") || said.contains("Too many open files")
        #expect(status == 1 && isSaid || status == 127 && said.contains("Error 24"), comment)
        #expect(!said.contains("disk reports"), comment)
    }

    private func empty() throws {
        for folder in [".cache", ".local", "out"] where FileManager.default.fileExists(atPath: home.folder.path(folder))
        {
            try FileManager.default.removeItem(atPath: home.folder.path(folder))
        }
    }

    /// Runs a command at every limit. Returns the lowest that works.
    private func lowest(
        isFresh: Bool = true, _ arguments: String..., works: (Command) -> Bool
    ) throws -> Int {
        var lowest = Int.max
        for limit in Self.limits {
            if isFresh { try empty() }
            let command = try run(limit, arguments)
            let comment = Comment("\(arguments[0]), \(limit) descriptors: \(command.status) \(command.errors)")
            guard command.status == 0 else {
                expectShortage(command.errors, command.status, comment)
                continue
            }
            #expect(works(command), comment)
            lowest = min(lowest, limit)
        }
        return lowest
    }

    @Test("With any number of file descriptors sync fills the cache or reports too few")
    func sync() throws {
        #expect(try lowest("sync", "--photos", gallery.path) { $0.text.contains(SmallGallery.everything) } <= 64)
    }

    @Test("With any number of file descriptors sync over the network fills the cache or reports too few")
    func network() throws {
        let server = try Nginx(serving: gallery.folder.path)
        let url = server.url("/index.xml")
        #expect(try lowest("sync", "--photos", url) { $0.text.contains(SmallGallery.everything) } <= 64)
    }

    @Test("With any number of file descriptors export copies all photos or reports too few")
    func export() throws {
        let folder = home.folder.path("out")
        #expect(try lowest("export", gallery.path, folder) { $0.lines.count == 10 } <= 64)
    }

    @Test("With any number of file descriptors list prints the gallery or reports too few")
    func list() throws {
        try #require(gallery.sync().status == 0)
        #expect(try lowest(isFresh: false, "list", gallery.path) { $0.lines.count == 10 } <= 24)
    }

    @Test(
        "With any number of file descriptors show draws pictures or reports too few",
        arguments: ["show", "info"])
    func pictures(command: String) throws {
        let picture = Built.testGallery + "/images/owl.jpg"
        #expect(try lowest(isFresh: false, command, picture) { !$0.output.isEmpty } <= 40)
    }

    @Test("With any number of file descriptors browsing works or ends with a report")
    func browse() throws {
        var lowest = Int.max
        for limit in Self.limits {
            try empty()
            let session = try TerminalSession(
                "/bin/bash", arguments: ["-c", Self.script, "sh", "\(limit)", Built.vitrine, gallery.path],
                environment: home.environment())
            let isOver = Gate()
            Thread.detachNewThread { [process = session.process] in
                if !isOver.wait(seconds: Double(Self.patience)) { kill(process, SIGKILL) }
            }
            let isShown = session.until { $0.text.contains("of 10") && $0.text.contains("Updated:") }
            if isShown {
                session.type("\r")
                #expect(session.until { $0.text(inRow: 0).contains("· fit") }, "\(limit): \(session.screen.text)")
                session.type("Q")
                lowest = min(lowest, limit)
            }
            let status = session.wait()
            isOver.open()
            let comment = Comment("browse, \(limit) descriptors: \(status) \(session.screen.text)")
            if isShown {
                #expect(status == 0, comment)
                #expect(!session.screen.text.contains("vitrine:"), comment)
            } else {
                expectShortage(session.screen.text.replacingOccurrences(of: "\n", with: ""), status, comment)
            }
        }
        #expect(lowest <= 64)
    }

    /// Opens of files for photos and lists. SQLite's files are left out: it opens them again for reading and then reports
    /// another reason.
    @Test(
        "Without a descriptor for a file, sync retries or reports the shortage, and never blames the disk"
    )
    func oneIsRefused() throws {
        // Each kind is counted separately, since concurrent transfers change the order of calls.
        let partial = Faults.Call(name: "open", path: "/partial/")
        let counting = Faults(in: home.caches, only: partial)
        try #require(gallery.sync(counting).status == 0)
        try #require(!counting.calls.isEmpty)
        for number in 1...counting.calls.count {
            try empty()
            let faults = Faults(in: home.caches, .error(EMFILE, number...number), only: partial)
            let sync = try gallery.sync(faults)
            let comment = Comment("call \(number), \(faults.calls): \(sync.errors)")
            #expect(faults.calls.count >= number, comment)
            if sync.status == 0 {
                #expect(sync.text.hasSuffix(SmallGallery.everything), comment)
            } else {
                expectShortage(sync.errors, sync.status, comment)
            }
            let next = try gallery.sync()
            #expect(next.status == 0 && next.text.hasSuffix(SmallGallery.everything), comment)
        }
    }

    @Test(
        "A shortage of descriptors at run time is reported, and the photo arrives when it ends"
    )
    func whileItRuns() throws {
        let server = try Nginx(serving: gallery.folder.path)
        let session = try TerminalSession(arguments: [server.url("/index.xml")], environment: home.environment())
        try #require(session.until { $0.text.contains("of 10") && $0.text.contains("Updated:") })
        session.untilQuiet()
        func setLimit(_ limit: Int) throws {
            for process in [session.process] + Processes.fetchers(of: session.process) {
                let set = try Command("/usr/bin/prlimit", ["--pid", "\(process)", "--nofile=\(limit):"])
                try #require(set.status == 0, "\(set.errors)")
            }
        }
        try setLimit(16)
        session.type("\r")
        #expect(session.until(shows: "too few file descriptors"), "\(session.screen.text)")
        try setLimit(1_024)
        #expect(
            session.until {
                !$0.text.contains("too few") && $0.text(inRow: 0).contains("· fit") && $0.text.count { $0 == "▀" } > 200
            },
            "\(session.screen.text.split(separator: "\n"))")
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("Vitrine raises its limit as far as the system allows")
    func raised() throws {
        let script = #"ulimit -Sn 16 && exec "$@""#
        let command = try Command(
            "/bin/sh", ["-c", script, "sh", Built.vitrine, "sync", "--photos", gallery.path],
            environment: home.environment())
        #expect(command.status == 0 && command.text.contains(SmallGallery.everything), "\(command.errors)")
    }
}
