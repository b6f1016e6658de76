import Foundation
import Model
import TestSupport
import Testing

@testable import Cache

/// Kills the program before the first call that changes its cache, before the second, and so on. Each leaves a different disk
/// state.
@Suite(.ownThread, .serialized) struct KillAtCallTests {
    /// A random sample of the calls; `VITRINE_KILLS=1000` for all.
    private func calls(of count: Int, about sample: Int) -> StrideThrough<Int> {
        let isFull = ProcessInfo.processInfo.environment["VITRINE_KILLS"] != nil
        let step = isFull ? 1 : max(1, count / sample)
        return stride(from: Int.random(in: 1...step), through: count, by: step)
    }

    /// The library knows every call that the kernel reports.
    @Test func everyCallIsCounted() throws {
        let gallery = try SmallGallery()
        let trace = gallery.folder.path("trace")
        let faults = Faults(in: gallery.home.caches)
        let kinds =
            "open,openat,creat,write,writev,pwrite64,pwritev,pwritev2,fsync,fdatasync,sync_file_range,ftruncate,"
            + "truncate,fallocate,chmod,fchmod,fchmodat,chown,fchown,fchownat,utimensat,mkdir,mkdirat,rmdir,unlink,"
            + "unlinkat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,copy_file_range,sendfile,splice"
        let variables = faults.environment.map { "-E\($0.key)=\($0.value)" }
        let sync = try Command(
            "/usr/bin/strace",
            ["-f", "-y", "-s", "0", "-o", trace, "-e", "trace=" + kinds] + variables + [
                Built.vitrine, "sync", "--photos", gallery.path,
            ], environment: gallery.home.environment())
        #expect(sync.status == 0)
        let seen = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").filter { line in
            guard line.contains(gallery.home.caches), !line.contains(" resumed>") else { return false }
            return !line.contains(" open") || line.contains("O_CREAT") || line.contains("O_TRUNC")
        }
        // The library's own log names these files, too, but writes to another.
        let counted = faults.calls
        #expect(counted.count > 300 && seen.count == counted.count)
    }

    @Test("When a file of the user's is replaced, its folder is synced, too")
    func replacedFile() throws {
        let gallery = try SmallGallery()
        let folder = gallery.home.folder.path(".local/state/vitrine")
        let faults = Faults(in: folder)
        let sync = try gallery.home.vitrine("sync", "--list-only", gallery.path, environment: faults.environment)
        #expect(sync.status == 0)
        let calls = faults.calls
        let replacement = try #require(
            calls.firstIndex { $0.name == "rename" && $0.path.hasPrefix(folder + "/places") })
        #expect(calls[replacement...].contains(Faults.Call(name: "fsync", path: folder)))
    }

    @Test("BEHAVIOURS 4.4: a kill at any call of a first update loses nothing acknowledged")
    func firstUpdate() async throws {
        let clean = try SmallGallery()
        let counting = Faults(in: clean.home.caches)
        #expect(try clean.sync(counting).text.hasSuffix(SmallGallery.everything))
        #expect(try clean.aftermath.acknowledged().mapValues(\.count) == SmallGallery.acknowledged)
        for call in calls(of: counting.calls.count, about: 26) {
            let gallery = try SmallGallery()
            try await expectNothingLost(gallery, at: call, ids: [[], try SmallGallery.ids(.before)])
        }
    }

    @Test("BEHAVIOURS 4.4: a kill at any call of an update with changes, additions and removals loses nothing")
    func laterUpdate() async throws {
        let clean = try SmallGallery()
        _ = try clean.sync()
        try clean.serve(.after)
        let counting = Faults(in: clean.home.caches)
        #expect(try clean.sync(counting).text.hasSuffix(SmallGallery.everything))
        for call in calls(of: counting.calls.count, about: 8) {
            let gallery = try SmallGallery()
            _ = try gallery.sync()
            try? FileManager.default.removeItem(atPath: gallery.log)
            try gallery.serve(.after)
            try await expectNothingLost(
                gallery, at: call, ids: [try SmallGallery.ids(.before), try SmallGallery.ids(.after)])
        }
    }

    /// Vitrine recovers rows from a database with a damaged search index.
    @Test("BEHAVIOURS 4.3: a kill at any call of a repair loses nothing")
    func rescue() async throws {
        func damaged() throws -> SmallGallery {
            let gallery = try SmallGallery()
            _ = try gallery.sync()
            let path = "\(gallery.home.caches)/galleries/\(GalleryID(gallery.address))/gallery.sqlite"
            let program = """
                import sqlite3, sys
                database = sqlite3.connect(sys.argv[1])
                database.execute("UPDATE photo_text_config SET v = 77 WHERE k = 'version'")
                database.commit()
                """
            #expect(try Command("/usr/bin/python3", ["-c", program, path]).status == 0)
            return gallery
        }
        let clean = try damaged()
        let counting = Faults(in: clean.home.caches)
        let list = try clean.home.vitrine("list", clean.path, environment: counting.environment)
        #expect(list.lines.count == 10 && counting.calls.contains { $0.path.hasSuffix("/partial/rescued.sqlite") })
        for call in calls(of: counting.calls.count, about: 6) {
            let gallery = try damaged()
            let faults = Faults(in: gallery.home.caches, .kill(at: call))
            let list = try gallery.home.vitrine("list", gallery.path, environment: faults.environment)
            #expect(list.status == -SIGKILL, "call \(call)")
            try await gallery.aftermath.expectWhole(
                gallery.address, ids: [try SmallGallery.ids(.before)],
                "call \(call), \(faults.calls.last.debugDescription)")
        }
    }

    /// - Parameter ids: the photos that may exist afterwards.
    private func expectNothingLost(_ gallery: SmallGallery, at call: Int, ids: Set<Set<String>>) async throws {
        let faults = Faults(in: gallery.home.caches, .kill(at: call))
        let sync = try gallery.sync(faults)
        let comment: Comment = "call \(call), \(faults.calls.last.debugDescription)"
        // Threads interleave differently, so the last calls may not happen.
        #expect(sync.status == -SIGKILL || (sync.status == 0 && faults.calls.count < call), comment)
        try await gallery.aftermath.expectWhole(gallery.address, ids: ids, comment)
        // The next start is normal.
        let next = try gallery.sync()
        #expect(next.status == 0 && next.errors.isEmpty && next.text.hasSuffix(SmallGallery.everything), comment)
    }
}
