import Foundation
import TestSupport
import Testing

@testable import Files

@Suite struct UnfinishedFileTests {
    private let folder = TestFolder()
    private let descriptor: Int32

    init() { descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }

    @Test("A complete file gets its name and never replaces another", arguments: UnfinishedFile.Kind.allCases)
    func takes(kind: UnfinishedFile.Kind) throws {
        defer { close(descriptor) }
        do {
            let file = try #require(try UnfinishedFile(kind, in: descriptor))
            #expect(write(file.descriptor, "whole", 5) == 5)
            #expect(!folder.entries().contains("name") && folder.entries().count == (kind == .unnamed ? 0 : 1))
            #expect(try file.take("name") == .done)
        }
        #expect(folder.entries() == ["name"])
        do {
            let other = try #require(try UnfinishedFile(kind, in: descriptor))
            #expect(try other.take("name") == .nameIsTaken)
        }
        #expect(folder.entries() == ["name"])
        #expect(try String(contentsOfFile: folder.path("name"), encoding: .utf8) == "whole")
    }

    @Test("A sweep removes hidden files of ended programs and nothing else")
    func sweeps() throws {
        defer { close(descriptor) }
        let ended = try ChildProcess("/bin/true", [])
        ended.wait()
        let running = try ChildProcess("/bin/sleep", ["1000"])
        defer { running.end(SIGKILL) }
        let left = folder.write(".vitrine-\(ended.number)-17", "half")
        let others = [
            ".vitrine-\(running.number)-17", ".vitrine-publish-1", ".vitrine-\(ended.number)-17x", ".vitrine-17",
            ".hidden",
            "vitrine-\(ended.number)-17", ".vitrine--\(ended.number)-17",
        ]
        for name in others { folder.write(name, "the user's") }
        symlink("/nowhere", folder.path(".vitrine-\(ended.number)-18"))
        link(folder.path(".hidden"), folder.path(".vitrine-\(ended.number)-19"))
        mkdir(folder.path(".vitrine-\(ended.number)-20"), 0o700)
        // Another export of this program is running.
        let alive = try #require(try UnfinishedFile(.hidden, in: descriptor))
        let before = folder.entries()
        UnfinishedFile.sweep(descriptor)
        #expect(Set(before).subtracting(folder.entries()) == [String(left.dropFirst(folder.path.count + 1))])
        #expect(try alive.take("whole") == .done)
    }
}
