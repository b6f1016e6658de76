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

    @Test("An open file is read from any offset, as far as it goes")
    func reads() throws {
        let descriptor = open(folder.write("letters", "abcdefgh"), O_RDONLY)
        defer { close(descriptor) }
        #expect(try OpenFile.beginning(of: descriptor, count: 3) == Array("abc".utf8))
        #expect(try OpenFile.beginning(of: descriptor, count: 0) == [])
        #expect(try OpenFile.beginning(of: descriptor, count: 100) == Array("abcdefgh".utf8))
        var bytes = [UInt8](repeating: 0, count: 4)
        #expect(try bytes.withUnsafeMutableBytes { try OpenFile.read(descriptor, at: 6, into: $0) } == 2)
        #expect(bytes == Array("gh".utf8) + [0, 0])
        #expect(throws: SystemError(EBADF)) { try OpenFile.beginning(of: -1, count: 1) }
    }
}
