import Foundation
import TestSupport
import Testing

/// The descriptors of Dispatch at the start of both programs.
@Suite(.ownThread) struct MainQueueTests {
    /// If another thread announced the first work, its eight bytes could come after the end of the descriptor. Then they
    /// go to the next file with the same number, such as the terminal. This happened in one of 300 starts on a busy
    /// machine.
    @Test("The first thread announces work itself before Dispatch closes the descriptor for that")
    func announcements() throws {
        for (program, calls) in try firstThreads() {
            // The timers of Dispatch have an eventfd, too, which stays open.
            let closed = calls.indices.compactMap { made -> [String]? in
                guard calls[made].hasPrefix("eventfd2(") else { return nil }
                let end = calls[made...].firstIndex(of: "close(\(result(of: calls[made]))) = 0")
                return end.map { Array(calls[made...$0]) }
            }
            let use = try #require(closed.first, "\(program)")
            let announcement = "write(\(result(of: use[0])), \"\\1\\0\\0\\0\\0\\0\\0\\0\", 8) = 8"
            #expect(closed.count == 1 && use.contains(announcement), "\(program)")
        }
    }

    private func result(of call: String) -> String { call.split(separator: " ").last.map(String.init) ?? "" }

    /// Returns the calls of the first thread of each program, in order.
    private func firstThreads() throws -> [(program: String, calls: [String])] {
        let gallery = try SmallGallery()
        let folder = gallery.folder.path("traces")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // One file for each thread, in which no call is interrupted by another thread's.
        let sync = try Command(
            "/usr/bin/strace",
            [
                "-ff", "-o", folder + "/thread", "-e", "trace=execve,eventfd2,write,close", Built.vitrine, "sync",
                "--list-only", gallery.path,
            ], environment: gallery.home.environment())
        #expect(sync.status == 0)
        let threads = try FileManager.default.contentsOfDirectory(atPath: folder).map { name in
            try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8).split(separator: "\n").map { call in
                // Calls and results stand in columns.
                call.split(separator: " ").joined(separator: " ")
            }
        }
        return try ["/vitrine\"", "/vitrine-fetcher\""].map { program in
            let isFirst = { (call: String) in call.hasPrefix("execve(") && call.contains(program) }
            return (program, try #require(threads.first { $0.contains(where: isFirst) }, "\(program)"))
        }
    }
}
