import Foundation
import TestSupport
import Testing

/// The capabilities of the program and of programs that it starts, when root starts it.
@Suite(.ownThread, .enabled(if: geteuid() == 0)) struct RootTests {
    private let home = Household()

    /// The capabilities in a status of /proc: permitted, effective, inheritable and of programs that it starts.
    private func capabilities(in status: String) -> Set<UInt64> {
        Set(
            status.split(separator: "\n").compactMap { line in
                guard line.hasPrefix("Cap"), let value = line.split(separator: "\t").last else { return nil }
                return UInt64(value, radix: 16)
            })
    }

    /// The capabilities of all threads of a process. There are none after its end.
    private func capabilities(of process: pid_t) -> Set<UInt64> {
        let tasks = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return threads.reduce(into: []) { sets, thread in
            sets.formUnion(capabilities(in: Processes.text("\(tasks)/\(thread)/status")))
        }
    }

    @Test(
        "BEHAVIOURS 7.8: Started by root, no thread of Vitrine has capabilities, except the one that opens files",
        .unlessItHangs)
    func capabilities() throws {
        let pipe = home.folder.path("status")
        #expect(mkfifo(pipe, 0o600) == 0)
        let viewer = try home.folder.writeProgram("viewer", "#!/bin/sh\ncat /proc/self/status > '\(pipe)'\n")
        let session = try TerminalSession(
            arguments: ["--open-with=\(viewer)", Built.testGallery], environment: home.environment())
        // By then the fetcher and the decoders run.
        try #require(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" })
        // CAP_DAC_OVERRIDE has number 1.
        let permitted: Set<UInt64> = [0, 1 << 1]
        var seen: Set<String> = []
        for process in [session.process] + Processes.descendants(of: session.process) {
            let name = Processes.text("/proc/\(process)/comm")
            let held = capabilities(of: process)
            #expect(held.isSubset(of: permitted), "\(name)")
            if !held.isEmpty { seen.insert(name) }
        }
        #expect(seen == ["vitrine\n", "vitrine-fetcher\n", "vitrine-decoder\n"])
        session.type("o")
        let status = try #require(FileHandle(forReadingAtPath: pipe)).readDataToEndOfFile()
        let held = capabilities(in: String(decoding: status, as: UTF8.self))
        #expect(!held.isEmpty && held.isSubset(of: permitted))
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("BEHAVIOURS 7.8: Vitrine says that it gave up capabilities, with its version and in the log")
    func notice() throws {
        let version = try home.vitrine("--version", "--verbose")
        #expect(version.text.contains("gave up its capabilities"), "\(version.text)")
        let log = home.folder.path("log")
        #expect(try home.vitrine("sync", "--log-file", log, Built.testGallery).status == 0)
        #expect(try String(contentsOfFile: log, encoding: .utf8).contains("gave up its capabilities"))
    }

    @Test("BEHAVIOURS 7.8: Root opens files of other users that are closed to all others")
    func otherUsers() throws {
        let folder = home.folder.path("theirs")
        try FileManager.default.copyItem(atPath: Built.testGallery, toPath: folder)
        #expect(chmod(folder, 0o700) == 0 && chown(folder, 65_534, 65_534) == 0)
        #expect(try home.vitrine("sync", "--list-only", folder).status == 0)
    }
}
