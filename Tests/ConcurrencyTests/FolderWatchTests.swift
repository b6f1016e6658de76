import Concurrency
import Files
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// Tests the events of watched files.
@Suite struct FileWatchesTests {
    private let folder = TestFolder()

    @Test("A watch of a file goes on when another watch of the file ends", .timeLimit(.minutes(1)))
    func twoWatches() async throws {
        let path = folder.write("bell", "x")
        let watches = FileWatches()
        let (events, continuation) = AsyncStream<FileWatch.Event>.makeStream()
        let watch = watches.watch(path) { continuation.yield($0) }
        #expect(watch != nil)
        do {
            let other = watches.watch(path) { _ in }
            #expect(other != nil)
        }
        var iterator = events.makeAsyncIterator()
        #expect(utimes(path, nil) == 0)
        let touch = await iterator.next()
        #expect(touch == .touched)
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        #expect(close(descriptor) == 0)
        let end = await iterator.next()
        #expect(end == .closed)
        withExtendedLifetime(watch) {}
    }

    @Test("A missing file cannot be watched")
    func missingFile() {
        let watch = FileWatches().watch(folder.path("none")) { _ in }
        #expect(watch == nil)
    }
}

/// Tests the changes that a watch reports.
@Suite struct FolderWatchTests {
    private let folder = TestFolder()
    private let seen = Seen()

    /// The changes so far.
    private final class Seen: Sendable {
        private let changes = Mutex<Set<FolderWatch.Change>>([])
        private let news = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

        func add(_ more: Set<FolderWatch.Change>) {
            changes.withLock { $0.formUnion(more) }
            news.continuation.yield()
        }

        func until(_ wanted: FolderWatch.Change) async {
            while !changes.withLock({ $0.contains(wanted) }) {
                for await _ in news.stream { break }
            }
        }

        var all: Set<FolderWatch.Change> { changes.withLock { $0 } }
    }

    private func watch() throws -> FolderWatch {
        folder.write("top/in/a.jpg", "x")
        let made = FolderWatch { [seen] in seen.add($0) }
        let watch = try #require(made)
        #expect(watch.add(Array(folder.path("top").utf8), named: []))
        #expect(watch.add(Array(folder.path("top/in").utf8), named: Array("in/".utf8)))
        return watch
    }

    @Test("A file that is written or renamed is reported with its folder", .timeLimit(.minutes(1)))
    func files() async throws {
        let watch = try watch()
        folder.write("top/b.jpg", "x")
        await seen.until(.files(in: []))
        #expect(rename(folder.path("top/in/a.jpg"), folder.path("top/in/c.jpg")) == 0)
        await seen.until(.files(in: Array("in/".utf8)))
        withExtendedLifetime(watch) {}
    }

    @Test("A removed file is reported with its folder", .timeLimit(.minutes(1)))
    func removedFile() async throws {
        let watch = try watch()
        #expect(unlink(folder.path("top/in/a.jpg")) == 0)
        await seen.until(.files(in: Array("in/".utf8)))
        withExtendedLifetime(watch) {}
    }

    @Test("A complete file that gets a name in a folder is reported", .timeLimit(.minutes(1)))
    func names() async throws {
        folder.write("outside.jpg", "x")
        let watch = try watch()
        #expect(link(folder.path("outside.jpg"), folder.path("top/in/b.jpg")) == 0)
        await seen.until(.files(in: Array("in/".utf8)))
        let top = open(folder.path("top"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(top) }
        let file = try #require(try UnfinishedFile(.unnamed, in: top))
        #expect(write(file.descriptor, "x", 1) == 1)
        #expect(try file.take("c.jpg") == .done)
        await seen.until(.files(in: []))
        withExtendedLifetime((watch, file)) {}
    }

    @Test("A complete file is reported if it lost its earlier name at once", .timeLimit(.minutes(1)))
    func movedNames() async throws {
        let file = folder.write("outside.jpg", "x")
        // The kernel's clock may not advance between the two calls.
        let times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, file, times, 0) == 0)
        let gate = Gate()
        let made = FolderWatch { [seen] changes in
            seen.add(changes)
            gate.wait()
        }
        defer { gate.open() }
        let watch = try #require(made)
        #expect(mkdir(folder.path("top"), 0o700) == 0 && mkdir(folder.path("top/in"), 0o700) == 0)
        #expect(watch.add(Array(folder.path("top").utf8), named: []))
        #expect(watch.add(Array(folder.path("top/in").utf8), named: Array("in/".utf8)))
        // The watch reads no event while it reports this file.
        folder.write("top/b.jpg", "x")
        await seen.until(.files(in: []))
        #expect(link(file, folder.path("top/in/c.jpg")) == 0 && unlink(file) == 0)
        gate.open()
        await seen.until(.files(in: Array("in/".utf8)))
        withExtendedLifetime(watch) {}
    }

    @Test("A new folder and a removed one are reported themselves", .timeLimit(.minutes(1)))
    func folders() async throws {
        let watch = try watch()
        #expect(mkdir(folder.path("top/new"), 0o700) == 0)
        await seen.until(.folder(Array("new/".utf8)))
        try FileManager.default.removeItem(atPath: folder.path("top/in"))
        await seen.until(.folder(Array("in/".utf8)))
        withExtendedLifetime(watch) {}
    }

    @Test("A file that is still being written is not reported", .timeLimit(.minutes(1)))
    func unfinished() async throws {
        let watch = try watch()
        let file = open(folder.path("top/in/new.jpg"), O_WRONLY | O_CREAT, 0o600)
        #expect(write(file, "x", 1) == 1)
        // The kernel reports in order.
        folder.write("top/b.jpg", "x")
        await seen.until(.files(in: []))
        #expect(!seen.all.contains(.files(in: Array("in/".utf8))))
        close(file)
        await seen.until(.files(in: Array("in/".utf8)))
        withExtendedLifetime(watch) {}
    }

    @Test("A renamed folder is watched under its new name once it is added again", .timeLimit(.minutes(1)))
    func renamed() async throws {
        let watch = try watch()
        #expect(rename(folder.path("top/in"), folder.path("top/out")) == 0)
        await seen.until(.folder(Array("out/".utf8)))
        #expect(watch.add(Array(folder.path("top/out").utf8), named: Array("out/".utf8)))
        folder.write("top/out/d.jpg", "x")
        await seen.until(.files(in: Array("out/".utf8)))
    }

    @Test("A missing folder cannot be watched")
    func missing() throws {
        let watch = try watch()
        #expect(!watch.add(Array(folder.path("nowhere").utf8), named: []))
    }

    @Test("An unmounted disk may have changed anything", .enabled(if: getuid() == 0), .timeLimit(.minutes(1)))
    func unmounted() async throws {
        let watch = try watch()
        let disk = folder.path("top/in")
        try #require(mount("none", disk, "tmpfs", 0, nil) == 0)
        #expect(watch.add(Array(disk.utf8), named: Array("in/".utf8)))
        #expect(umount2(disk, Int32(MNT_DETACH)) == 0)
        await seen.until(.anything)
        withExtendedLifetime(watch) {}
    }
}
