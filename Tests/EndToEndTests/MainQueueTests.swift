import TestSupport
import Testing

/// The descriptor by which Dispatch wakes the main thread, until it closes the descriptor.
@Suite(.ownThread) struct MainQueueTests {
    /// If another thread announced work at that moment, its eight bytes could go to the terminal or to a database: the
    /// number of the closed descriptor is free. This happened in one of some hundred starts on a busy machine.
    @Test("In both programs, only the first thread announces work by the descriptor that Dispatch closes")
    func announcements() throws {
        let gallery = try SmallGallery()
        let trace = gallery.folder.path("trace")
        let sync = try Command(
            "/usr/bin/strace",
            [
                "-f", "-o", trace, "-e", "trace=execve,eventfd2,write", Built.vitrine, "sync", "--list-only",
                gallery.path,
            ],
            environment: gallery.home.environment())
        #expect(sync.status == 0)
        let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").map {
            // The number of the thread, which for the first thread is that of the process, and the call.
            $0.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true).map(String.init)
        }
        for program in ["/vitrine\"", "/vitrine-fetcher\""] {
            let first = try #require(lines.first { $0[1].contains("execve(") && $0[1].contains(program) })[0]
            let made = try #require(lines.first { $0[0] == first && $0[1].contains("eventfd2(") }, "\(program)")[1]
            let descriptor = try #require(made.split(separator: "= ").last)
            let announcement = "write(\(descriptor), \"\\1\\0\\0\\0\\0\\0\\0\\0\", 8)"
            #expect(lines.contains { $0[0] == first && $0[1].contains(announcement) }, "\(program)")
        }
    }
}
