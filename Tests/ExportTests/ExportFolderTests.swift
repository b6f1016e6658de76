import Files
import Foundation
import Model
import TestSupport
import Testing

@testable import Export

@Suite struct ExportFolderTests {
    private let folder = TestFolder()
    private let date = Timestamp(milliseconds: 1_154_245_637_250)

    private func put(
        _ contents: [UInt8], as name: String, date: Timestamp? = nil,
        kinds: [UnfinishedFile.Kind] = UnfinishedFile.Kind.allCases
    ) throws -> ExportFolder.Outcome {
        let source = open(folder.write("source", contents), O_RDONLY)
        defer { close(source) }
        let out = try ExportFolder(folder.path("out"), CreationMask(0o022), kinds: kinds)
        return try out.put(source, as: name, date: date ?? self.date)
    }

    /// File systems support unnamed files, hard links, or, like those of USB sticks, neither.
    @Test(
        "A file is written completely, with its date, on every kind of file system",
        arguments: [UnfinishedFile.Kind.allCases, [.hidden], []])
    func writesWholeFile(kinds: [UnfinishedFile.Kind]) throws {
        let contents = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try put(contents, as: "Lake.jpg", kinds: kinds) == .written)
        #expect(folder.entries("out") == ["Lake.jpg"], "no other file remains")
        let path = folder.path("out/Lake.jpg")
        #expect(FileManager.default.contents(atPath: path) == Data(contents))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let written = try #require(attributes[.modificationDate] as? Date)
        #expect(abs(written.timeIntervalSince1970 - 1_154_245_637.25) < 0.001)
        #expect(try put(contents, as: "Lake.jpg", kinds: kinds) == .wasThere)
    }

    @Test("A file of unknown date keeps the time when it was written", arguments: [UnfinishedFile.Kind.allCases, []])
    func unknownDate(kinds: [UnfinishedFile.Kind]) throws {
        #expect(try put([1], as: "Lake.jpg", date: .unknown, kinds: kinds) == .written)
        let dates = try ["source", "out/Lake.jpg"].map { name -> Date in
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name))
            return try #require(attributes[.modificationDate] as? Date)
        }
        #expect(dates[0] <= dates[1])
    }

    @Test(
        "An exported file is as readable as its folder",
        arguments: [(0o755, 0o644), (0o700, 0o600), (0o775, 0o644), (0o2775, 0o644)])
    func permissions(ofFolder: Int, ofFile: Int) throws {
        let path = folder.path("out")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        chmod(path, mode_t(ofFolder))
        #expect(try put([1], as: "a") == .written)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("out/a"))
        #expect(attributes[.posixPermissions] as? Int == ofFile)
    }

    @Test("Existing files of the user are never overwritten") func keepsExistingFiles() throws {
        for (name, contents) in [("longer", "mine and longer"), ("same size", "mine")] {
            folder.write("out/" + name, contents)
            #expect(throws: ExportError.exists(path: folder.path("out/" + name))) {
                try put(Array("them".utf8), as: name)
            }
            #expect(try String(contentsOfFile: folder.path("out/" + name), encoding: .utf8) == contents)
        }
        try FileManager.default.createDirectory(
            atPath: folder.path("out/folder"), withIntermediateDirectories: false)
        #expect(throws: ExportError.exists(path: folder.path("out/folder"))) { try put([1], as: "folder") }
        mkfifo(folder.path("out/pipe"), 0o600)
        #expect(throws: ExportError.exists(path: folder.path("out/pipe"))) { try put([1], as: "pipe") }
    }

    @Test("Links are not followed") func followsNoLinks() throws {
        let target = folder.write("elsewhere", "theirs")
        folder.write("out/other", "")
        for (name, destination) in [("link", target), ("dangling", folder.path("nowhere"))] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("out/" + name), withDestinationPath: destination)
            #expect(throws: ExportError.exists(path: folder.path("out/" + name))) {
                try put(Array("theirs".utf8), as: name)
            }
        }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "theirs")
        #expect(!FileManager.default.fileExists(atPath: folder.path("nowhere")))
    }

    @Test(
        "A folder that was deleted meanwhile stops the export",
        arguments: [UnfinishedFile.Kind.allCases, [.hidden], []])
    func deletedFolder(kinds: [UnfinishedFile.Kind]) throws {
        let source = open(folder.write("source", [1]), O_RDONLY)
        defer { close(source) }
        let out = try ExportFolder(folder.path("out"), .ownerOnly, kinds: kinds)
        #expect(rmdir(folder.path("out")) == 0)
        let error = #expect(throws: ExportError.self) { try out.put(source, as: "Lake.jpg", date: date) }
        #expect(error?.stopsExport == true)
    }

    @Test("A folder that cannot be created is an error") func impossibleFolders() throws {
        folder.write("file", "")
        for path in [folder.path("file"), folder.path("no/such/folder"), ""] {
            #expect(throws: ExportError.self) { _ = try ExportFolder(path, .ownerOnly) }
        }
    }
}
