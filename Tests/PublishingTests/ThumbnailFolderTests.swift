import Foundation
import Model
import TestSupport
import Testing

@testable import Publishing

@Suite(.ownThread) struct ThumbnailFolderTests {
    private let folder = TestFolder()
    private let stamp = FileStamp(size: 1, seconds: 2, nanoseconds: 3)

    private func thumbnails() throws -> ThumbnailFolder { ThumbnailFolder(try OpenFolder(folder.path)) }

    private func photo(_ name: ThumbnailName, _ size: Int64) -> PublishedPhoto {
        PublishedPhoto(
            name: "", date: Timestamp(milliseconds: 0), revision: 0, isCutShort: false, thumbnail: name,
            thumbnailSize: size)
    }

    @Test("A taken name gets a number") func takenNames() throws {
        let thumbnails = try self.thumbnails()
        let first = ThumbnailName(of: "a", stamp)
        folder.write(first.text, "mine")
        symlink("/nowhere", folder.path(ThumbnailName(of: "a", stamp, number: 1).text))
        mkdir(folder.path(ThumbnailName(of: "a", stamp, number: 2).text), 0o700)
        #expect(try thumbnails.put([1, 2, 3], of: "a", stamp, slot: 0) == ThumbnailName(of: "a", stamp, number: 3))
        #expect(try String(contentsOfFile: folder.path(first.text), encoding: .utf8) == "mine")
        // The same thumbnail already exists.
        #expect(try thumbnails.put([1, 2, 3], of: "a", stamp, slot: 0) == ThumbnailName(of: "a", stamp, number: 3))
        #expect(folder.entries().count == 4)
    }

    /// A power failure can leave empty files.
    @Test("An empty thumbnail is replaced") func emptyFile() throws {
        folder.write(ThumbnailName(of: "a", stamp).text, "")
        #expect(try thumbnails().put([1], of: "a", stamp, slot: 0) == ThumbnailName(of: "a", stamp))
        #expect(folder.entries().count == 1)
    }

    @Test("Only the gallery's own thumbnails are removed") func removal() throws {
        let thumbnails = try self.thumbnails()
        let name = try thumbnails.put([1, 2, 3], of: "a", stamp, slot: 0)
        #expect(thumbnails.holds(photo(name, 3)) && !thumbnails.holds(photo(name, 4)))
        folder.write(name.text, "another")
        thumbnails.remove(photo(name, 3))
        #expect(folder.entries() == [name.text])
        thumbnails.remove(photo(name, 7))
        #expect(folder.entries().isEmpty)
    }

    @Test("Unfinished files are removed") func unfinishedFiles() throws {
        for name in [NewFile.prefix + "3", PublishRecord.name, ".mine", "photo.jpg"] { folder.write(name, "") }
        try thumbnails().removeUnfinished()
        #expect(folder.entries() == [".mine", PublishRecord.name, "photo.jpg"].sorted())
    }
}
