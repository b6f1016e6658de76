import Foundation
import TestSupport
import Testing

@testable import Publishing

@Suite(.ownThread) struct FolderWalkTests {
    private let folder = TestFolder()

    private func walk() throws -> (files: [String], others: Int, unreadable: [String]) {
        var walk = try FolderWalk(OpenFolder(folder.path))
        var found: (files: [String], others: Int, unreadable: [String]) = ([], 0, [])
        while let item = walk.next() {
            switch item {
            case .file(let path, _): found.files.append(path.text)
            case .other: found.others += 1
            case .unreadable(let path, _): found.unreadable.append(path)
            }
        }
        return found
    }

    @Test("Files are returned in the order of their names") func order() throws {
        for name in ["b.jpg", "a/z.jpg", "a/y/x.jpg", "a.jpg", "ä.jpg", "c\nd.jpg"] { folder.write(name, "") }
        #expect(try walk().files == ["a/y/x.jpg", "a/z.jpg", "a.jpg", "b.jpg", "c\nd.jpg", "ä.jpg"])
        #expect(try FolderWalk.count(OpenFolder(folder.path)) == 6)
    }

    @Test("Hidden files and the gallery's own files are skipped") func skippedFiles() throws {
        for name in [".hidden.jpg", ".git/a.jpg", "thumbnails/a.jpg", "gallery.xml", "a/thumbnails/a.jpg"] {
            folder.write(name, "")
        }
        folder.write("a/gallery.xml", "")
        #expect(try walk().files == ["a/gallery.xml"])
        #expect(try FolderWalk.count(OpenFolder(folder.path)) == 1)
    }

    @Test("Deleted files, previews and snapshots of systems are skipped") func systemFolders() throws {
        for name in ["#recycle/a.jpg", "a/@eaDir/a.jpg/b.jpg", "#snapshot/a/a.jpg", "lost+found/a.jpg"] {
            folder.write(name, "")
        }
        folder.write("a/a@eaDir.jpg", "")
        #expect(try walk().files == ["a/a@eaDir.jpg"])
        #expect(try FolderWalk.count(OpenFolder(folder.path)) == 1)
    }

    @Test("Links are not followed") func links() throws {
        folder.write("a/b/photo.jpg", "")
        symlink(folder.path, folder.path("a/b/loop"))
        symlink("..", folder.path("a/up"))
        symlink(folder.path("a/b/photo.jpg"), folder.path("link.jpg"))
        symlink("/nowhere", folder.path("dangling"))
        mkfifo(folder.path("pipe"), 0o600)
        let found = try walk()
        #expect(found.files == ["a/b/photo.jpg"] && found.others == 5 && found.unreadable.isEmpty)
    }

    @Test("A name that is not UTF-8 is reported") func invalidNames() throws {
        let made = try Command("/bin/sh", ["-c", #"touch "$0/$(printf 'caf\351.jpg')""#, folder.path])
        #expect(made.status == 0)
        #expect(try walk().unreadable == ["caf\u{FFFD}.jpg"])
    }

    @Test("A missing or invalid folder is an error") func unreadableFolders() {
        #expect(throws: PublishingError.file(path: folder.path("none"), reason: "No such file or directory")) {
            try OpenFolder(folder.path("none"))
        }
        let file = folder.write("file", "")
        #expect(throws: PublishingError.file(path: file, reason: "Not a directory")) { try OpenFolder(file) }
    }
}
