import Foundation
import Model
import TestSupport
import Testing

@testable import Publishing

@Suite(.ownThread) struct PublishRecordTests {
    private let folder = TestFolder()

    private func stamp(_ size: Int64) -> FileStamp { FileStamp(size: size, seconds: -1, nanoseconds: 999_999_999) }

    private func photo(_ reference: String, size: Int64 = 1) -> RecordLine {
        RecordLine(
            reference: reference, stamp: stamp(size),
            fate: .photo(
                PublishedPhoto(
                    name: "a\tb\nc % 🐻", date: Timestamp(milliseconds: -5), revision: 7, isCutShort: true,
                    thumbnail: ThumbnailName(of: reference, stamp(size)), thumbnailSize: 12)))
    }

    private func left(_ reference: String) -> RecordLine {
        RecordLine(reference: reference, stamp: stamp(1), fate: .gone(revision: 7))
    }

    private func record() throws -> (PublishRecord, OpenFolder) {
        let folder = try OpenFolder(folder.path)
        return (PublishRecord(in: folder), folder)
    }

    private var path: String { folder.path(PublishRecord.name) }
    private var text: String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    @Test("A line is read as it was written") func roundTrip() {
        for fate in [
            photo("a").fate, .other(format: "WebP", decoder: "1-2"), .other(format: "", decoder: ""),
            .failed(reason: "It is\tbroken.", decoder: "1"), .other(format: "", decoder: "1", revision: 3),
            .failed(reason: "", decoder: "1", revision: 0), .gone(revision: 7),
        ] {
            let line = RecordLine(reference: "x%20y", stamp: stamp(3), fate: fate)
            #expect(line.text.hasSuffix("\n") && line.text.count(where: \.isNewline) == 1)
            #expect(RecordLine(line.text.utf8.dropLast()) == line)
        }
        // Earlier versions wrote no revision here.
        let line = RecordLine(reference: "x", stamp: stamp(3), fate: .other(format: "WebP", decoder: "1"))
        #expect(line.text.hasSuffix("\tx\t3\t-1\t999999999\tother\t1\tWebP\n"))
    }

    @Test("Damage to any byte of a line is detected") func damagedLines() {
        let bytes = Array(photo("summer/lake.jpg").text.utf8.dropLast())
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            #expect(RecordLine(damaged) == nil, "\(index)")
            #expect(RecordLine(bytes[..<index]) == nil, "\(index)")
        }
    }

    /// A forged record must not make Vitrine remove other files.
    @Test("A record can only name the gallery's thumbnails") func foreignNames() {
        for name in [
            "../a.jpg", "a.jpg", String(repeating: "a", count: 32) + "/x.jpg",
            "Z" + String(repeating: "0", count: 31) + ".jpg",
        ] {
            #expect(ThumbnailName(written: name) == nil)
        }
        let name = ThumbnailName(of: "a", stamp(1), number: 2)
        #expect(ThumbnailName(written: name.text) == name && name.text.hasSuffix("-2.jpg"))
    }

    @Test("Appended lines are found in the next run") func append() throws {
        do {
            let (record, folder) = try self.record()
            for line in ["a", "b", "c"].map({ photo($0) }) { try record.append(line, in: folder) }
            try record.tidy()
        }
        let before = text
        let (again, _) = try self.record()
        #expect(again.line(of: "b") == photo("b") && again.line(of: "d") == nil)
        _ = (again.line(of: "a"), again.line(of: "c"))
        try again.tidy()
        #expect(text == before)
    }

    @Test("The last line of a file counts and tidying removes the others") func laterLines() throws {
        do {
            let (record, folder) = try self.record()
            for line in [photo("a"), photo("b"), photo("a", size: 2)] { try record.append(line, in: folder) }
        }
        let (again, _) = try self.record()
        #expect(again.line(of: "a") == photo("a", size: 2))
        var gone: [String] = []
        again.forEachGone { gone.append($0.reference) }
        #expect(gone == ["b"])
        var superseded: [ThumbnailName] = []
        again.forEachSuperseded { superseded.append($0.thumbnail) }
        #expect(superseded == [ThumbnailName(of: "a", stamp(1))])
        try again.tidy()
        #expect(text == left("b").text + photo("a", size: 2).text)
        #expect(folder.entries() == [PublishRecord.name])
    }

    @Test("The record keeps the revisions of the photos that left last") func leftPhotos() throws {
        do {
            let (record, folder) = try self.record()
            for line in ["a", "b", "c", "d"].map({ photo($0) }) { try record.append(line, in: folder) }
        }
        func tidy(seeing references: String...) throws -> String {
            let (record, _) = try self.record()
            for reference in references { _ = record.line(of: reference) }
            try record.tidy(rememberingAtMost: 2)
            return text
        }
        #expect(try tidy(seeing: "a", "b", "d") == left("c").text + ["a", "b", "d"].map { photo($0).text }.joined())
        let last = left("a").text + left("b").text + photo("d").text
        #expect(try tidy(seeing: "d") == last)
        var (before, after) = (stat(), stat())
        stat(path, &before)
        #expect(try tidy(seeing: "d") == last)
        stat(path, &after)
        #expect(before.st_ino == after.st_ino, "without changes, the record is not written again")
    }

    @Test("The lines of files below an unreadable folder stay") func unreadableFolder() throws {
        do {
            let (record, folder) = try self.record()
            for line in ["b/c", "a", "bc", "b/d/e", "b.jpg"].map({ photo($0) }) { try record.append(line, in: folder) }
        }
        let (record, _) = try self.record()
        record.leaveOut("b")
        _ = record.line(of: "a")
        var (gone, processed): ([String], [String]) = ([], [])
        record.forEachGone { gone.append($0.reference) }
        record.forEachProcessed { processed.append($0.reference) }
        #expect(gone == ["bc", "b.jpg"] && processed == ["a"])
        try record.tidy()
        let stayed = ["b/c", "a", "b/d/e"].map { photo($0).text }.joined()
        #expect(text == left("bc").text + left("b.jpg").text + stayed)
    }

    @Test("Torn and damaged lines do not affect others") func tornLines() throws {
        let junk = String(repeating: "junk", count: 50_000)
        try Data("\(photo("a").text)what is this\n\(junk)\n\(photo("b").text)\(photo("c").text.dropLast(4))".utf8)
            .write(to: URL(fileURLWithPath: path))
        let (record, folder) = try self.record()
        #expect(record.line(of: "a") == photo("a") && record.line(of: "b") == photo("b") && record.line(of: "c") == nil)
        try record.append(photo("d"), in: folder)
        let (again, _) = try self.record()
        #expect(again.line(of: "d") == photo("d"))
        try record.tidy()
        #expect(text == photo("a").text + photo("b").text + photo("d").text)
    }

    @Test("A link is not read as a record") func link() throws {
        let elsewhere = folder.write("elsewhere", photo("a").text)
        symlink(elsewhere, path)
        let (record, folder) = try self.record()
        #expect(record.line(of: "a") == nil)
        #expect(throws: PublishingError.self) { try record.append(photo("b"), in: folder) }
        #expect(try String(contentsOfFile: elsewhere, encoding: .utf8) == photo("a").text)
    }
}
