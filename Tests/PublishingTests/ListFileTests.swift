import Foundation
import Model
import TestSupport
import Testing

@testable import Publishing

@Suite(.ownThread) struct ListFileTests {
    private let folder = TestFolder()

    private func write(_ texts: String...) throws -> Bool {
        let file = try ListFile(in: OpenFolder(folder.path, CreationMask(0o022)))
        try file.write(ListText.beginning)
        for text in texts { try file.write(text) }
        return try file.finish()
    }

    private var text: String { (try? String(contentsOfFile: folder.path("gallery.xml"), encoding: .utf8)) ?? "" }

    private func number() -> UInt64 {
        var status = stat()
        stat(folder.path("gallery.xml"), &status)
        return UInt64(status.st_ino)
    }

    @Test("A list is written only when it changes") func writesOnlyChanges() throws {
        let long = String(repeating: "x", count: 200_000)
        #expect(try write("a", long))
        #expect(text == ListText.beginning + "a" + long)
        let before = number()
        #expect(try !write("a", long) && number() == before)
        // A changed end, a changed beginning, a shorter list, a longer list.
        for texts in [["a", long, "b"], ["b", long], ["a", String(long.dropLast(3)), "yyy"], ["a"], []] {
            let file = try ListFile(in: OpenFolder(folder.path, CreationMask(0o022)))
            try file.write(ListText.beginning)
            for text in texts { try file.write(text) }
            #expect(try file.finish())
            #expect(text == ListText.beginning + texts.joined())
        }
        #expect(folder.entries() == ["gallery.xml"])
    }

    @Test("An unfinished list changes nothing") func unfinished() throws {
        #expect(try write("a"))
        do {
            let file = try ListFile(in: OpenFolder(folder.path, CreationMask(0o022)))
            try file.write(String(repeating: "other", count: 100_000))
        }
        #expect(text == ListText.beginning + "a" && folder.entries() == ["gallery.xml"])
    }

    @Test(
        "A list made by another program is not touched",
        arguments: ["", "<album/>", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Mine -->\n<album/>\n"])
    func usersList(contents: String) throws {
        let path = folder.write("gallery.xml", contents)
        #expect(throws: PublishingError.notOurs(path: path)) { try ListFile(in: OpenFolder(folder.path)) }
        #expect(text == contents)
    }

    @Test("Links and folders with the list's name are not touched") func linksAndFolders() throws {
        let elsewhere = folder.write("elsewhere", ListText.beginning)
        symlink(elsewhere, folder.path("gallery.xml"))
        #expect(throws: PublishingError.self) { try ListFile(in: OpenFolder(folder.path)) }
        unlink(folder.path("gallery.xml"))
        mkdir(folder.path("gallery.xml"), 0o700)
        #expect(throws: PublishingError.self) { try ListFile(in: OpenFolder(folder.path)) }
    }

    @Test("The list is as readable as its folder", arguments: [(0o755, 0o644), (0o700, 0o600)]) func permissions(
        ofFolder: Int, ofFile: Int
    ) throws {
        chmod(folder.path, mode_t(ofFolder))
        #expect(try write("a"))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("gallery.xml"))
        #expect(attributes[.posixPermissions] as? Int == ofFile)
    }
}
