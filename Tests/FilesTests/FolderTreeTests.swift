import Files
import Foundation
import Glibc
import TestSupport
import Testing

/// Reading a folder with all folders below it.
@Suite struct FolderTreeTests {
    private let folder = TestFolder()

    /// Returns the paths of all files, and the paths of unreadable folders with a `!` in front.
    private func paths(isWanted: @escaping (ArraySlice<UInt8>) -> Bool = { _ in true }) throws -> [[UInt8]] {
        let tree = try FolderTree(bytes: Array(folder.path("top").utf8), isWanted: isWanted)
        var paths: [[UInt8]] = []
        while let piece = tree.next() {
            paths += piece.files.map { piece.path + piece.names[$0.name] }
            if piece.failure != nil { paths.append(Array("!".utf8) + piece.path) }
        }
        return paths
    }

    private func texts(isWanted: @escaping (ArraySlice<UInt8>) -> Bool = { _ in true }) throws -> [String] {
        try paths(isWanted: isWanted).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A folder's files come first, then its subfolders, all in the order of their bytes")
    func order() throws {
        for name in ["b.jpg", "a.jpg", "é.jpg", "B.jpg", "d/2.jpg", "d/10.jpg", "c/e/f.jpg", "c/z.jpg"] {
            folder.write("top/" + name, "x")
        }
        #expect(
            try texts() == [
                "B.jpg", "a.jpg", "b.jpg", "é.jpg", "c/z.jpg", "c/e/f.jpg", "d/10.jpg", "d/2.jpg",
            ])
    }

    @Test("A file has its size and the time of its last change")
    func status() throws {
        folder.write("top/a.jpg", "12345")
        var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1_154_245_637, tv_nsec: 123_456_789)]
        #expect(utimensat(AT_FDCWD, folder.path("top/a.jpg"), &times, 0) == 0)
        let tree = try FolderTree(bytes: Array(folder.path("top").utf8)) { _ in true }
        let file = try #require(tree.next()?.files.first)
        #expect(file.size == 5 && file.seconds == 1_154_245_637 && file.nanoseconds == 123_456_789)
        #expect(tree.next() == nil)
    }

    @Test("Links are skipped, so a loop ends and nothing outside is read")
    func links() throws {
        folder.write("outside/secret.jpg", "x")
        folder.write("top/in/a.jpg", "x")
        for (link, target) in [
            ("top/in/loop", ".."), ("top/out", "../outside"), ("top/b.jpg", "../outside/secret.jpg"),
        ] {
            #expect(symlink(target, folder.path(link)) == 0)
        }
        #expect(try texts() == ["in/a.jpg"])
    }

    @Test("Pipes and sockets are skipped")
    func specialFiles() throws {
        folder.write("top/a.jpg", "x")
        #expect(mkfifo(folder.path("top/b.jpg"), 0o600) == 0)
        #expect(try texts() == ["a.jpg"])
    }

    @Test("Hidden folders and those of systems are skipped")
    func systemFolders() throws {
        for name in [".hidden", "@eaDir", "#recycle", "lost+found", "$RECYCLE.BIN", "mine"] {
            folder.write("top/\(name)/a.jpg", "x")
        }
        #expect(try texts() == ["mine/a.jpg"])
    }

    @Test("Names of any bytes are kept")
    func bytes() throws {
        folder.write("top/a.jpg", "x")
        let name: [UInt8] = Array(folder.path("top/").utf8) + [0x63, 0xFF, 0x0A, 0x2E, 0x6A]
        let file = open((name + [0]).map { CChar(bitPattern: $0) }, O_WRONLY | O_CREAT, 0o600)
        #expect(file >= 0 && close(file) == 0)
        #expect(try paths() == [Array("a.jpg".utf8), [0x63, 0xFF, 0x0A, 0x2E, 0x6A]])
    }

    @Test("Only wanted names are returned")
    func wanted() throws {
        for name in ["a.jpg", "b.txt", "c/d.jpg"] { folder.write("top/" + name, "x") }
        #expect(try texts { $0.last == UInt8(ascii: "g") } == ["a.jpg", "c/d.jpg"])
    }

    @Test("A large folder comes in pieces, and each file once")
    func pieces() throws {
        for number in 0..<2_500 { folder.write("top/\(10_000 + number)", "") }
        let tree = try FolderTree(bytes: Array(folder.path("top").utf8)) { _ in true }
        var counts: [Int] = []
        var names: Set<[UInt8]> = []
        while let piece = tree.next() {
            counts.append(piece.files.count)
            names.formUnion(piece.files.map { Array(piece.names[$0.name]) })
        }
        #expect(counts == [1_000, 1_000, 500] && names.count == 2_500)
    }

    @Test("Folders that are nested too deeply are reported, not read")
    func depth() throws {
        let deep = Array(repeating: "d", count: FolderTree.maximumDepth).joined(separator: "/")
        folder.write("top/" + deep + "/far.jpg", "x")
        folder.write("top/" + deep.dropLast(2) + "/near.jpg", "x")
        #expect(try texts() == [deep.dropLast(2) + "/near.jpg", "!" + deep + "/"])
    }

    @Test("The folders around a tree count for its depth")
    func outerDepth() throws {
        for name in ["a/near.jpg", "a/b/far.jpg"] { folder.write("top/" + name, "x") }
        let name = Array(String(repeating: "o/", count: FolderTree.maximumDepth - 2).utf8)
        let top = open(folder.path("top"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let tree = try FolderTree(consuming: top, named: name) { _ in true }
        let piece = try #require(tree.next())
        #expect(piece.files.count == 1 && piece.failure == nil)
        let tooDeep = try #require(tree.next())
        #expect(tooDeep.path == name + Array("a/b/".utf8) && tooDeep.failure == SystemError(ELOOP))
        #expect(tree.next() == nil)
    }

    @Test("A path shows whether a tree reads the folder")
    func readPaths() {
        let deepest = String(repeating: "d/", count: FolderTree.maximumDepth - 1)
        for path in ["", "a/", "a/b.c/", "a@eaDir/", deepest] { #expect(FolderTree.reads(Array(path.utf8)), "\(path)") }
        for path in [".a/", "a/.b/", ".a/b/", "@eaDir/", "a/lost+found/b/", deepest + "d/"] {
            #expect(!FolderTree.reads(Array(path.utf8)), "\(path)")
        }
    }

    @Test("An unreadable folder is reported, and the others are read", .enabled(if: getuid() != 0))
    func unreadable() throws {
        for name in ["a/1.jpg", "b/2.jpg"] { folder.write("top/" + name, "x") }
        #expect(chmod(folder.path("top/a"), 0) == 0)
        defer { chmod(folder.path("top/a"), 0o700) }
        #expect(try texts() == ["!a/", "b/2.jpg"])
    }

    @Test("A missing folder is an error")
    func missing() {
        #expect(throws: SystemError(ENOENT)) {
            _ = try FolderTree(bytes: Array(folder.path("nowhere").utf8)) { _ in true }
        }
    }
}
