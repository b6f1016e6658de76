import Foundation
import TestSupport
import Testing

/// The capabilities of the program and of programs that it starts, when root starts it.
@Suite(.ownThread, .enabled(if: geteuid() == 0)) struct RootTests {
    private let home = Household()

    /// The capabilities of all threads of a process: permitted, effective, inheritable and of programs that it starts.
    private func capabilities(of process: pid_t) throws -> Set<UInt64> {
        let tasks = "/proc/\(process)/task"
        let sets = try FileManager.default.contentsOfDirectory(atPath: tasks).flatMap { task -> [UInt64] in
            guard let status = try? String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8) else {
                return []
            }
            return status.split(separator: "\n").compactMap { line in
                guard line.hasPrefix("Cap"), let value = line.split(separator: "\t").last else { return nil }
                return UInt64(value, radix: 16)
            }
        }
        return Set(sets)
    }

    @Test("BEHAVIOURS 7.8: Started by root, no thread of Vitrine has capabilities, except the one that opens files")
    func capabilities() throws {
        let session = try TerminalSession(arguments: [Built.testGallery], environment: home.environment())
        try #require(session.until(shows: "Dawn over the ridge"))
        // CAP_DAC_OVERRIDE has number 1.
        #expect(try capabilities(of: session.process).subtracting([0, 1 << 1]).isEmpty)
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
