import Foundation
import TestSupport
import Testing

@testable import Settings

/// The files that show an earlier crash.
@Suite struct RunMarkTests {
    private let folder = TestFolder()
    private var path: String { folder.path("state/running") }
    private var entries: [String] { folder.entries("state/running") }

    @Test("Locked and removed marks are no crashes")
    func heldAndRemoved() {
        let mark = RunMark(in: path)
        #expect(mark != nil && entries.count == 1)
        #expect(!RunMark.takeDeaths(in: path) && entries.count == 1)
        mark?.remove()
        mark?.remove()
        #expect(entries.isEmpty && !RunMark.takeDeaths(in: path))
    }

    @Test("An unlocked mark is a crash and is reported once")
    func notHeld() {
        _ = RunMark(in: path)
        let living = RunMark(in: path)
        #expect(entries.count == 2)
        #expect(RunMark.takeDeaths(in: path))
        #expect(!RunMark.takeDeaths(in: path) && entries.count == 1)
        living?.remove()
    }

    @Test("Marks of an earlier boot and unfinished marks are removed silently")
    func earlierBoot() {
        _ = RunMark(in: path, boot: "1")
        folder.write("state/running/2.99.1.new", "")
        #expect(!RunMark.takeDeaths(in: path, boot: "2") && entries.isEmpty)
    }

    @Test("Other files and links in the folder stay and do not count")
    func others() throws {
        folder.write("state/running/notes.txt", "mine")
        folder.write("elsewhere", "mine")
        try FileManager.default.createSymbolicLink(
            atPath: path + "/2.99.1", withDestinationPath: folder.path("elsewhere"))
        #expect(!RunMark.takeDeaths(in: path, boot: "2"))
        #expect(entries == ["2.99.1", "notes.txt"])
    }

    @Test("An unwritable folder has no mark")
    func nowhere() {
        #expect(RunMark(in: "/dev/null/running") == nil && !RunMark.takeDeaths(in: "/dev/null/running"))
    }
}
