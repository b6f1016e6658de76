import Foundation
import TestSupport
import Testing

@testable import Settings

@Suite struct PrivateFileTests {
    private let folder = TestFolder()

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func onlyTheUserCanReadIt() throws {
        let path = folder.path("a/b/file")
        try PrivateFile.write("text", to: path)
        #expect(try PrivateFile.read(path) == "text")
        #expect(try mode(path) == 0o600)
        #expect(try mode(folder.path("a")) == 0o700 && mode(folder.path("a/b")) == 0o700)
        #expect(folder.entries("a/b") == ["file"])
    }

    @Test func writingRemovesOthersPermissions() throws {
        let path = folder.write("file", "old")
        chmod(path, 0o644)
        try PrivateFile.write("new", to: path)
        #expect(try PrivateFile.read(path) == "new")
        #expect(try mode(path) == 0o600)
    }

    @Test func missingFileIsNil() throws {
        #expect(try PrivateFile.read(folder.path("none")) == nil)
        folder.write("file", "")
        #expect(try PrivateFile.read(folder.path("file/none")) == nil)
        #expect(try PrivateFile.read(folder.path("file")) == "")
    }

    @Test func unreadableFileIsAnError() throws {
        let error = #expect(throws: SettingsError.self) { try PrivateFile.read(folder.path) }
        #expect(error?.description == "\(folder.path): Is a directory.")
    }

    @Test func largeFileIsAnError() throws {
        let path = folder.write("file", [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20))
        #expect(try PrivateFile.read(path)?.utf8.count == 1 << 20)
        folder.write("file", [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20 + 1))
        let error = #expect(throws: SettingsError.self) { _ = try PrivateFile.read(path) }
        #expect(error?.description == "\(path): the file is larger than 1 MiB.")
    }

    @Test func failedWriteKeepsTheOldFile() throws {
        let path = folder.write("file", "old")
        // The new file cannot be created: its temporary name is taken.
        let temporary = "\(path).\(getpid())"
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
        #expect(throws: SettingsError.self) { try PrivateFile.write("new", to: path) }
        #expect(try PrivateFile.read(path) == "old")
        // A written file that cannot be renamed is removed.
        try FileManager.default.removeItem(atPath: temporary)
        try FileManager.default.createDirectory(atPath: folder.path("other/in"), withIntermediateDirectories: true)
        #expect(throws: SettingsError.self) { try PrivateFile.write("new", to: folder.path("other")) }
        #expect(folder.entries() == ["file", "other"])
    }

    @Test func unfinishedFileIsReplaced() throws {
        let path = folder.path("file")
        folder.write("file.\(getpid())", "half of something longer than what comes")
        try PrivateFile.write("whole", to: path)
        #expect(try PrivateFile.read(path) == "whole")
        #expect(folder.entries() == ["file"])
    }

    /// Some users keep their settings elsewhere and link to them.
    @Test func linkTargetIsWritten() throws {
        let target = folder.write("dotfiles-config", "old")
        try FileManager.default.createSymbolicLink(atPath: folder.path("config"), withDestinationPath: target)
        try PrivateFile.write("new", to: folder.path("config"))
        #expect(try PrivateFile.read(target) == "new")
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("config")) == target)
    }

    @Test func linksAtTheTemporaryNameAreNotFollowed() throws {
        let victim = folder.write("victim", "precious")
        let path = folder.path("file")
        try FileManager.default.createSymbolicLink(atPath: "\(path).\(getpid())", withDestinationPath: victim)
        try PrivateFile.write("new", to: path)
        #expect(try PrivateFile.read(victim) == "precious" && PrivateFile.read(path) == "new")
    }

    @Test func sharedFilesAreRefused() throws {
        let path = folder.write("file", "text")
        chmod(path, 0o600)
        try PrivateFile.check(path)
        for mode: mode_t in [0o640, 0o604, 0o660, 0o620] {
            chmod(path, mode)
            #expect(throws: SettingsError.self) { try PrivateFile.check(path) }
        }
        #expect(throws: SettingsError.self) { try PrivateFile.check(folder.path) }
        let error = #expect(throws: SettingsError.self) { try PrivateFile.check(folder.path("nothing")) }
        #expect(error?.description == "\(folder.path("nothing")): No such file or directory.")
    }

    @Test(.ownThread) func concurrentChangesAreKept() async throws {
        let path = folder.path("new/list")
        try PrivateFile.change(path) { $0 ?? "none" }
        #expect(try PrivateFile.read(path) == "none" && mode(path) == 0o600)
        // Writers in one process use different temporary names, too; otherwise they would overwrite each other.
        await withTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    for round in 0..<20 {
                        try? PrivateFile.change(path) { ($0 ?? "") + "\n\(number).\(round)" }
                    }
                }
            }
        }
        let lines = try #require(try PrivateFile.read(path)).split(separator: "\n")
        #expect(lines.count == 161 && Set(lines).count == 161)
        #expect(folder.entries("new") == ["list"])
    }
}
