import Foundation
import TestSupport
import Testing

@testable import Settings

/// The files by which a start knows that an earlier run died.
@Suite struct RunMarkTests {
    private let folder = TestFolder()
    private var path: String { folder.path("state/running") }
    private var entries: [String] { folder.entries("state/running") }

    @Test("A mark that is held is no death, and one that was removed is none")
    func heldAndRemoved() {
        let mark = RunMark(in: path)
        #expect(mark != nil && entries.count == 1)
        #expect(!RunMark.takeDeaths(in: path) && entries.count == 1)
        mark?.remove()
        mark?.remove()
        #expect(entries.isEmpty && !RunMark.takeDeaths(in: path))
    }

    @Test("A mark that nobody holds is a death, and is told once")
    func notHeld() {
        _ = RunMark(in: path)
        let living = RunMark(in: path)
        #expect(entries.count == 2)
        #expect(RunMark.takeDeaths(in: path))
        #expect(!RunMark.takeDeaths(in: path) && entries.count == 1)
        living?.remove()
    }

    @Test("A mark of an earlier boot, and one that was never finished, go without a word")
    func earlierBoot() {
        _ = RunMark(in: path, boot: "1")
        folder.write("state/running/2.99.1.new", "")
        #expect(!RunMark.takeDeaths(in: path, boot: "2") && entries.isEmpty)
    }

    @Test("Other files and links in the folder stay, and say nothing")
    func others() throws {
        folder.write("state/running/notes.txt", "mine")
        folder.write("elsewhere", "mine")
        try FileManager.default.createSymbolicLink(
            atPath: path + "/2.99.1", withDestinationPath: folder.path("elsewhere"))
        #expect(!RunMark.takeDeaths(in: path, boot: "2"))
        #expect(entries == ["2.99.1", "notes.txt"])
    }

    @Test("Where nothing can be written there is no mark")
    func nowhere() {
        #expect(RunMark(in: "/dev/null/running") == nil && !RunMark.takeDeaths(in: "/dev/null/running"))
    }
}
