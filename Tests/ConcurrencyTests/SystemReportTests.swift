import Concurrency
import Glibc
import TestSupport
import Testing

/// The reports of the system about memory and its time zone.
@Suite struct SystemReportTests {
    private let folder = TestFolder()

    /// Counts the calls of a closure.
    private struct Reports: Sendable {
        private let stream = AsyncStream<Void>.makeStream()

        func add() { stream.continuation.yield() }

        /// Ends the stream, and returns the number of calls.
        func count() async -> Int {
            stream.continuation.finish()
            return await stream.stream.reduce(0) { count, _ in count + 1 }
        }

        /// Waits for a call, which is no longer counted.
        func next() async { for await _ in stream.stream { return } }
    }

    @Test("Each report of the kernel about memory counts once", .timeLimit(.minutes(1)))
    func pressure() async throws {
        // Urgent data of a socket stands in for the kernel's reports, since both make a descriptor urgent.
        var sockets: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
        defer { close(sockets[0]) }
        let reports = Reports()
        var kernel = KernelReports([sockets[1]]) { reports.add() }
        try #require(kernel != nil)
        #expect(send(sockets[0], "x", 1, Int32(MSG_OOB)) == 1)
        await reports.next()
        // The same urgent data is not reported again, and later data is.
        #expect(send(sockets[0], "y", 1, Int32(MSG_OOB)) == 1)
        await reports.next()
        kernel = nil
        _ = kernel
        #expect(await reports.count() == 0)
    }

    @Test("Without reports of the kernel, there is nothing to watch")
    func noPressure() {
        #expect(KernelReports([]) {} == nil)
        // The system has no urgent data in files.
        let file = open(folder.write("file", "x"), O_RDONLY)
        #expect(KernelReports([file]) {} == nil)
        #expect(fcntl(file, F_GETFD) == -1, "the descriptor is closed")
    }

    @Test("A mounted disk is reported, and an unmounted one", .enabled(if: getuid() == 0), .timeLimit(.minutes(1)))
    func mounts() async throws {
        let reports = Reports()
        let watch = try #require(MountWatch { reports.add() })
        await reports.next()
        try #require(mount("none", folder.path, "tmpfs", 0, nil) == 0)
        // Each change is reported twice.
        await reports.next()
        await reports.next()
        #expect(umount2(folder.path, Int32(MNT_DETACH)) == 0)
        await reports.next()
        withExtendedLifetime(watch) {}
    }

    @Test("Another file of the time zone is noticed, and other changes beside it are not", .timeLimit(.minutes(1)))
    func zone() async throws {
        for name in ["zones/here", "zones/there"] { folder.write(name, name) }
        let link = folder.path("localtime")
        #expect(symlink("zones/here", link) == 0)
        let reports = Reports()
        let made = TimeZoneWatch(file: link) { reports.add() }
        let watch = try #require(made)
        folder.write("hosts", "x")
        #expect(symlink("zones/there", link + ".new") == 0 && rename(link + ".new", link) == 0)
        await reports.next()
        unlink(link)
        await reports.next()
        withExtendedLifetime(watch) {}
        #expect(await reports.count() == 0)
    }
}
