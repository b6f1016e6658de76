import Foundation
import TestSupport
import Testing

@testable import Files

@Suite struct TemporaryFolderTests {
    private let parent = TestFolder()

    @Test("A temporary folder is private and is removed with its contents")
    func goes() throws {
        let folder = try TemporaryFolder(in: parent.path)
        var status = stat()
        #expect(stat(folder.path, &status) == 0 && status.st_mode & 0o7777 == 0o700)
        let name = try #require(parent.entries().first)
        let outside = parent.write("outside/file", "stays")
        parent.write("\(name)/a/b/file", "")
        symlink(parent.path("outside"), parent.path("\(name)/a/link"))
        folder.remove()
        #expect(parent.entries() == ["outside"] && FileManager.default.fileExists(atPath: outside))
        folder.remove()
    }

    @Test("A sweep removes the folder of a killed program, but not of a running one")
    func swept() throws {
        parent.write("vitrine-run-12-34/galleries/file", "")
        chmod(parent.path("vitrine-run-12-34"), 0o700)
        let folder = try TemporaryFolder(in: parent.path)
        #expect(parent.entries().count == 1, "\(parent.entries())")
        let other = try TemporaryFolder(in: parent.path)
        TemporaryFolder.sweep(parent.path)
        #expect(parent.entries().count == 2 && folder.path != other.path)
    }

    @Test("A sweep removes nothing that may belong to another program or user")
    func stays() throws {
        let names = ["vitrine-run-12", "vitrine-run-12-x", "vitrine-abcdef", "vitrine-run-1-2-3"]
        for name in names {
            parent.write("\(name)/file", "")
            chmod(parent.path(name), 0o700)
        }
        parent.write("vitrine-run-1-1/file", "")
        chmod(parent.path("vitrine-run-1-1"), 0o755)
        symlink("vitrine-run-12", parent.path("vitrine-run-1-2"))
        parent.write("vitrine-run-1-3", "")
        let before = FileManager.default.subpaths(atPath: parent.path)
        TemporaryFolder.sweep(parent.path)
        #expect(FileManager.default.subpaths(atPath: parent.path) == before)
    }

    @Test("A folder that cannot be created fails with the system's reason")
    func fails() {
        #expect(throws: SystemError(ENOENT)) { try TemporaryFolder(in: parent.path("none")) }
        #expect(throws: SystemError(ENOTDIR)) { try TemporaryFolder(in: parent.write("file", "")) }
    }

    @Test("A folder that can be written to or created has no obstacle")
    func writability() {
        parent.write("file", "")
        #expect(Writability.obstacle(in: parent.path) == nil)
        #expect(Writability.obstacle(in: parent.path("new/and/new")) == nil)
        #expect(Writability.obstacle(in: parent.path("file")) == SystemError(ENOTDIR))
        #expect(Writability.obstacle(in: parent.path("file/below")) == SystemError(ENOTDIR))
        #expect(parent.entries() == ["file"])
    }
}
