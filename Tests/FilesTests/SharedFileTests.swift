import Foundation
import TestSupport
import Testing

@testable import Files

@Suite struct SharedFileTests {
    private let folder = TestFolder()

    @Test("A file is replaced atomically, only its owner can read it, and its folder is created")
    func replaces() throws {
        let path = folder.path("new/folder/file")
        try SharedFile(path).replace(with: "one")
        try SharedFile(path).replace(with: "two")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "two")
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(folder.path("new"), &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(folder.entries("new/folder") == ["file"])
    }

    @Test("A failure has the system's reason and leaves nothing behind")
    func fails() throws {
        folder.write("file", "")
        #expect(throws: SystemError(ENOTDIR)) { _ = try SharedFile(folder.path("file/below")) }
        mkdir(folder.path("folder"), 0o700)
        folder.write("folder/in", "")
        #expect(throws: SystemError.self) { try SharedFile(folder.path("folder")).replace(with: "text") }
        #expect(folder.entries() == ["file", "folder"])
    }
}
