import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Files

/// Each test runs twice: with the kernel's `openat2`, and with the fallback for older kernels.
@Suite(.ownThread) struct FolderBoundaryTests {
    private let folder = TestFolder()
    private static let ways: [FolderBoundary.Resolution] = [.kernel, .parts]

    init() throws {
        folder.write("secret", "secret")
        folder.write("gallery/photo", "inside")
        folder.write("gallery/deep/er/photo", "inside")
    }

    private func boundary(_ way: FolderBoundary.Resolution) throws -> FolderBoundary {
        try FolderBoundary(bytes: Array(folder.path("gallery").utf8), way)
    }

    private func link(_ name: String, to target: String) {
        #expect(symlink(target, folder.path("gallery/" + name)) == 0)
    }

    private func read(_ path: String, _ way: FolderBoundary.Resolution, _ links: FolderBoundary.Links = .inside) throws
        -> String
    {
        let file = try boundary(way).open(path, links)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = Glibc.read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test("Files and links that stay inside are opened", arguments: ways)
    func inside(way: FolderBoundary.Resolution) throws {
        link("same", to: "photo")
        link("deep/up", to: "../photo")
        link("deep/er/all-the-way", to: "../../photo")
        link("folder", to: "deep/er/")
        link("twice", to: "folder/../../same")
        for path in [
            "photo", "./photo", "deep/../photo", "deep//er/photo", "same", "deep/up", "deep/er/all-the-way",
            "folder/photo", "twice",
        ] {
            #expect(try read(path, way) == "inside", "\(path)")
        }
    }

    @Test("Links and paths that leave the folder are refused", arguments: ways)
    func outside(way: FolderBoundary.Resolution) throws {
        link("absolute", to: folder.path("secret"))
        link("absolute inside", to: folder.path("gallery/photo"))
        link("relative", to: "../secret")
        link("deep/relative", to: "../../secret")
        link("folder", to: "..")
        link("root", to: "/proc/self/root")
        link("chain", to: "deep/relative")
        link("there and back", to: "../gallery/photo")
        for path in [
            "absolute", "absolute inside", "relative", "deep/relative", "folder/secret", "chain", "there and back",
            "root" + folder.path("secret"), "../secret", "deep/../../secret", "..", "../gallery/photo",
            folder.path("secret"), "/",
        ] {
            let error = #expect(throws: SystemError.self, "\(path)") { try read(path, way) }
            #expect(error?.leavesFolder == true, "\(path): \(error.map { "\($0)" } ?? "")")
        }
    }

    @Test("The links in /proc to arbitrary files are refused", arguments: ways)
    func magic(way: FolderBoundary.Resolution) throws {
        let process = try FolderBoundary(bytes: Array("/proc/self".utf8), way)
        for path in ["root/etc/passwd", "root", "cwd", "exe", "fd/0", "root/../status"] {
            #expect(throws: SystemError.self, "\(path)") { close(try process.open(path)) }
        }
        close(try process.open("status"))
    }

    @Test("Paths with a link are refused where links are not allowed", arguments: ways)
    func none(way: FolderBoundary.Resolution) throws {
        link("same", to: "photo")
        link("folder", to: "deep/er")
        #expect(try read("deep/er/photo", way, .none) == "inside")
        for path in ["same", "folder/photo"] {
            #expect(throws: SystemError(ELOOP), "\(path)") { try read(path, way, .none) }
        }
    }

    @Test("A path to nothing fails with the system's reason", arguments: ways)
    func nowhere(way: FolderBoundary.Resolution) throws {
        link("dangling", to: "nothing")
        link("circle", to: "circle")
        for (path, code) in [
            ("nothing", ENOENT), ("dangling", ENOENT), ("photo/", ENOTDIR), ("photo/more", ENOTDIR), ("circle", ELOOP),
            ("", ENOENT), ("a\u{0}b", EINVAL), (String(repeating: "x", count: 300), ENAMETOOLONG),
        ] {
            #expect(throws: SystemError(code), "\(path)") { try read(path, way) }
        }
    }

    @Test("A pipe does not block the caller", arguments: ways)
    func pipe(way: FolderBoundary.Resolution) throws {
        mkfifo(folder.path("gallery/pipe"), 0o600)
        close(try boundary(way).open("pipe"))
    }

    @Test("The path of the folder itself may contain a link", arguments: ways)
    func linkedFolder(way: FolderBoundary.Resolution) throws {
        #expect(symlink("gallery", folder.path("link")) == 0)
        let boundary = try FolderBoundary(bytes: Array(folder.path("link").utf8), way)
        close(try boundary.open("photo"))
        #expect(throws: SystemError(EXDEV)) { close(try boundary.open("../secret")) }
    }

    /// Another program keeps swapping a file, and a folder on the path, for links to the outside.
    @Test("A link swapped in during the resolution never leads outside", arguments: ways)
    func race(way: FolderBoundary.Resolution) throws {
        folder.write("deep/photo", "secret")
        folder.write("gallery/deep/photo", "inside")
        let isOver = Atomic(false)
        let swaps = Atomic(0)
        let thread = DispatchGroup()
        DispatchQueue(label: "swaps").async(group: thread) { [folder] in
            let top = folder.path("gallery/")
            while !isOver.load(ordering: .relaxed) {
                // A file becomes a link to the outside, and a file again.
                symlink("../secret", top + "new")
                rename(top + "new", top + "photo")
                rename(top + "deep", top + "real")
                symlink("../deep", top + "deep")
                folder.write("gallery/new", "inside")
                rename(top + "new", top + "photo")
                unlink(top + "deep")
                rename(top + "real", top + "deep")
                swaps.add(1, ordering: .relaxed)
            }
        }
        defer {
            isOver.store(true, ordering: .relaxed)
            thread.wait()
        }
        var outcomes: [String: Int] = [:]
        while swaps.load(ordering: .relaxed) < 300 || outcomes.values.reduce(0, +) < 4_000 {
            for path in ["photo", "deep/photo", "deep/../photo"] {
                outcomes[(try? read(path, way)) ?? "refused", default: 0] += 1
            }
        }
        #expect(outcomes["secret"] == nil && outcomes["inside"] != nil, "\(outcomes)")
    }
}
