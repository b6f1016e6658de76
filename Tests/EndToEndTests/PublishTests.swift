import Foundation
import Model
import TestSupport
import Testing

/// `vitrine publish`, as people and scripts use it, and the result as Vitrine reads it.
@Suite(.ownThread, .serialized) struct PublishTests {
    private let home = Household()
    private let folder = TestFolder()

    private func add(_ picture: String, as name: String) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(Built.testGallery)/\(picture)"))
        folder.write(name, [UInt8](bytes))
    }

    /// Returns inode, size, times and content of every file, by path.
    private func state() throws -> [String: [Int]] {
        var state: [String: [Int]] = [:]
        for path in [""] + (FileManager.default.subpaths(atPath: folder.path) ?? []) {
            var status = stat()
            guard lstat(folder.path(path), &status) == 0 else { continue }
            state[path] = [
                Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
            ]
        }
        return state
    }

    /// Returns the photos that Vitrine reads from a gallery: name and date by id.
    private func photos(of gallery: String) throws -> [String: [String]] {
        let sync = try home.vitrine("sync", "--photos", gallery)
        #expect(
            sync.status == 0 && !sync.text.contains("skipped") && !sync.text.contains("failed"),
            "\(sync.text)\(sync.errors)")
        let command = try home.vitrine("list", "--json", gallery)
        let photos = try #require(try JSONSerialization.jsonObject(with: Data(command.output)) as? [[String: Any]])
        #expect(photos.allSatisfy { $0["photo"] as? Bool == true && $0["thumbnail"] as? Bool == true }, "\(photos)")
        return Dictionary(
            uniqueKeysWithValues: photos.map { photo in
                (photo["id"] as? String ?? "", [photo["name"] as? String ?? "", photo["date"] as? String ?? ""])
            })
    }

    /// `F_SETPIPE_SZ`, which glibc declares for GNU programs only.
    private let setPipeSize: Int32 = 1_031

    private static let names = [
        "Bär am See.jpg", "a & b <c> \"d\" 'e'.jpg", "50% #1?.jpg", "two\nlines.jpg", "deep/er/und tiefer/Å.png",
        "a:b.jpg", "100%25.jpg", "~home.jpg", "odd.ending.jpg",
    ]

    private func fill() throws {
        for name in Self.names {
            try add(name.hasSuffix("png") ? "images/dot.png" : "thumbnails/owl.jpg", as: name)
            var times = [timeval(tv_sec: 1_000_000_000, tv_usec: 0), timeval(tv_sec: 1_000_000_000, tv_usec: 0)]
            utimes(folder.path(name), &times)
        }
        try add("images/dawn-ridge.jpg", as: "dawn.jpg")
        try add("images/lighthouse.jpg", as: "lighthouse.jpg")
        folder.write("notes.txt", "no picture")
        folder.write("empty.jpg", "")
        folder.write(".hidden/a.jpg", "hidden")
        symlink(folder.path, folder.path("deep/loop"))
        symlink(Built.testGallery, folder.path("out"))
    }

    @Test("A photo whose file cannot be read counts as failed, not as another file")
    func unreadablePhoto() throws {
        for name in ["a.jpg", "b.jpg"] { try add("thumbnails/owl.jpg", as: name) }
        let faults = Faults(in: folder.path, .errorFrom(EIO, 1), only: .init(name: "read", path: "b.jpg"))
        let publish = try home.vitrine("publish", folder.path, environment: faults.environment)
        #expect(!faults.calls.isEmpty)
        #expect(publish.status == 1, "\(publish.text)")
        #expect(publish.lines.last?.hasSuffix("1 photo, 1 added, 1 failed") == true, "\(publish.text)")
        #expect(publish.errors.contains("b.jpg") && publish.errors.contains("Input/output error"), "\(publish.errors)")
        let again = try home.vitrine("publish", folder.path)
        #expect(again.status == 0 && again.lines.last?.hasSuffix("2 photos, 1 added") == true, "\(again.text)")
    }

    @Test("A folder whose entries cannot all be read is an error", arguments: ["", "sub"])
    func unreadableEntries(below: String) throws {
        for name in ["a.jpg", "sub/b.jpg"] { try add("thumbnails/owl.jpg", as: name) }
        #expect(try home.vitrine("publish", folder.path).status == 0)
        let before = try state()
        let path = below.isEmpty ? folder.path : folder.path(below)
        // Three calls read two names, or the links of the folder to itself and to its parent.
        let faults = Faults(in: path, .errorFrom(EIO, 3), only: .init(name: "readdir", path: ""))
        let publish = try home.vitrine("publish", folder.path, environment: faults.environment)
        #expect(faults.calls.count >= 3)
        #expect(
            publish.status == 1 && publish.errors.contains("Input/output error"), "\(publish.text)\(publish.errors)")
        // Nothing is known of the outermost folder's photos. Those of another unreadable folder leave the gallery.
        if below.isEmpty { #expect(try state() == before) }
    }

    @Test("The photos of a subfolder that was unreadable in one run return without work")
    func unreadableOnce() throws {
        for name in ["a.jpg", "sub.jpg", "sub/b.jpg", "sub/deeper/c.jpg"] { try add("thumbnails/owl.jpg", as: name) }
        let counted = try CountedDecoder()
        func publish(_ more: [String: String] = [:]) throws -> Command {
            try Command(counted.vitrine, ["publish", folder.path], environment: home.environment(more))
        }
        #expect(try publish().status == 0 && counted.count() == 1)
        let list = try String(contentsOfFile: folder.path("gallery.xml"), encoding: .utf8)
        let thumbnails = folder.entries("thumbnails")
        let faults = Faults(in: folder.path("sub"), .errorFrom(EIO, 3), only: .init(name: "readdir", path: ""))
        let failed = try publish(faults.environment)
        #expect(failed.status == 1 && failed.lines == ["\(folder.path)\t2 photos, 1 failed"], "\(failed.text)")
        #expect(folder.entries("thumbnails") == thumbnails)
        let again = try publish()
        #expect(again.status == 0 && again.lines == ["\(folder.path)\t4 photos"], "\(again.text)\(again.errors)")
        #expect(try String(contentsOfFile: folder.path("gallery.xml"), encoding: .utf8) == list)
        #expect(counted.count() == 0)
    }

    @Test func publishedGalleryIsReadable() throws {
        try fill()
        let publish = try home.vitrine("publish", folder.path)
        #expect(publish.status == 0 && publish.errors.isEmpty, "\(publish.errors)")
        #expect(publish.lines.last == "\(folder.path)\t11 photos, 11 added, 4 other files ignored")
        #expect(publish.lines.count == 12 && publish.lines.contains("added\tdeep/er/und tiefer/Å.png"))
        #expect(publish.lines.contains("added\ttwo␊lines.jpg"))
        let server = try Nginx(serving: folder.path)
        chmod(folder.path, 0o755)
        let photos = try self.photos(of: folder.path)
        #expect(photos.count == 11)
        // The same works over the network and fetches the same files.
        #expect(try self.photos(of: server.url("/gallery.xml")) == photos)
        for (id, name) in [
            ("B%C3%A4r%20am%20See.jpg", "Bär am See"),
            ("a%20%26%20b%20%3Cc%3E%20%22d%22%20%27e%27.jpg", "a & b <c> \"d\" 'e'"),
            ("50%25%20%231%3F.jpg", "50% #1?"), ("two%0Alines.jpg", "two lines"),
            ("deep/er/und%20tiefer/%C3%85.png", "Å"), ("a%3Ab.jpg", "a:b"), ("100%2525.jpg", "100%25"),
            ("~home.jpg", "~home"), ("odd.ending.jpg", "odd.ending"),
        ] {
            #expect(photos[id] == [name, "2001-09-09T01:46:40Z"], "\(id)")
        }
        #expect(photos["dawn.jpg"] == ["dawn", "2006-07-30T07:47:17Z"])
        // Thumbnails are upright and as readable as the photos.
        let list = try String(contentsOfFile: folder.path("gallery.xml"), encoding: .utf8)
        let lines = list.components(separatedBy: "\n")
        let place = try #require(lines.firstIndex { $0.contains("id=\"lighthouse.jpg\"") })
        let thumbnail = try #require(lines[place + 2].firstMatch(of: #/srcURL="([^"]*)"/#)).output.1
        let facts = try home.vitrine("info", "--json", folder.path(String(thumbnail)))
        let size = try #require(try JSONSerialization.jsonObject(with: Data(facts.output)) as? [String: Any])
        #expect(try #require(size["height"] as? Int) == 240 && #require(size["width"] as? Int) < 240)
    }

    @Test func secondRunWritesNothing() throws {
        try fill()
        let counted = try CountedDecoder()
        func publish() throws -> Command {
            try Command(counted.vitrine, ["publish", folder.path], environment: home.environment())
        }
        // One decoder server decodes all photos.
        #expect(try publish().status == 0 && counted.count() == 1)
        let before = try state()
        let again = try publish()
        #expect(again.status == 0 && counted.count() == 0)
        #expect(again.lines == ["\(folder.path)\t11 photos, 4 other files ignored, nothing new"])
        #expect(try state() == before)
        // A second run writes nothing, so a read-only folder is no problem.
        let copy = TestFolder()
        #expect(try Command("/bin/cp", ["-a", folder.path + "/.", copy.path]).status == 0)
        let moved = try Command(counted.vitrine, ["publish", copy.path], environment: home.environment())
        #expect(moved.status == 0 && moved.text.hasSuffix("nothing new\n") && counted.count() == 0)
    }

    @Test func onlyChangesAreDone() throws {
        try fill()
        _ = try home.vitrine("publish", folder.path)
        let before = try state()
        try add("thumbnails/moon.jpg", as: "a:b.jpg")
        try add("thumbnails/moon.jpg", as: "new/moon.jpg")
        unlink(folder.path("50% #1?.jpg"))
        let publish = try home.vitrine("publish", folder.path)
        #expect(publish.lines.dropLast() == ["changed\ta:b.jpg", "added\tnew/moon.jpg", "removed\t50% #1?.jpg"])
        #expect(publish.lines.last?.contains("11 photos, 1 added, 1 changed, 1 removed") == true)
        let after = try state()
        let kept = before.filter {
            $0.key.hasPrefix("thumbnails/") && $0.key.hasSuffix(".jpg") && after[$0.key] == $0.value
        }
        #expect(kept.count == 9 && folder.entries("thumbnails").count == 12)
        #expect(try self.photos(of: folder.path).count == 11)
    }

    @Test func unreadablePhotosAreReported() throws {
        try fill()
        try add("images/truncated.jpg", as: "cut.jpg")
        try add("thumbnails/owl.jpg", as: "locked.jpg")
        folder.write("broken.jpg", [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xD9])
        folder.write("locked/photo.jpg", "")
        chmod(folder.path("locked.jpg"), 0)
        chmod(folder.path("locked"), 0)
        defer { chmod(folder.path("locked"), 0o700) }
        let publish = try unprivileged("publish", folder.path)
        #expect(publish.status == 1)
        #expect(publish.errors.contains("vitrine: locked.jpg: Permission denied."), "\(publish.errors)")
        #expect(publish.errors.contains("vitrine: locked: Permission denied."))
        #expect(publish.errors.contains("vitrine: broken.jpg: The picture is damaged"))
        #expect(publish.errors.contains("vitrine: cut.jpg is truncated."))
        #expect(publish.lines.last?.contains("12 photos, 12 added, 3 failed") == true)
        // Each run names them, and none writes anything.
        let before = try state()
        let again = try unprivileged("publish", folder.path)
        #expect(again.status == 1 && again.errors == publish.errors)
        #expect(try state() == before)
        chmod(folder.path("locked.jpg"), 0o600)
        #expect(try unprivileged("publish", folder.path).lines.first == "added\tlocked.jpg")
    }

    @Test func unwritableFolderIsReported() throws {
        try add("thumbnails/owl.jpg", as: "owl.jpg")
        chmod(folder.path, 0o500)
        defer { chmod(folder.path, 0o700) }
        let publish = try unprivileged("publish", folder.path)
        #expect(publish.status == 1 && publish.text.isEmpty)
        #expect(publish.errors == "vitrine: \(folder.path)/thumbnails: Permission denied.\n")
        // Published photos no longer need the permission.
        chmod(folder.path, 0o700)
        _ = try unprivileged("publish", folder.path)
        chmod(folder.path, 0o500)
        #expect(try unprivileged("publish", folder.path).status == 0)
    }

    @Test func foreignListIsKept() throws {
        try add("thumbnails/owl.jpg", as: "owl.jpg")
        folder.write("gallery.xml", "<album/>")
        let before = try state()
        let publish = try home.vitrine("publish", folder.path)
        #expect(publish.status == 1 && publish.errors.contains("“vitrine publish” did not make the file"))
        #expect(try state() == before)
    }

    @Test func mistakesAreSaid() throws {
        for (arguments, status, says) in [
            (["publish"], 2, "Missing folder"),
            (["publish", "a", "b"], 2, "“b” names no bucket: write s3://BUCKET/PREFIX"),
            (["publish", folder.path("none")], 1, "none: No such file or directory."),
            (["publish", folder.write("file", "")], 1, "file: Not a directory."),
            (["publish", folder.path], 1, "contains no photos"),
        ] {
            let command = try Command(Built.vitrine, arguments, environment: home.environment())
            #expect(command.status == Int32(status) && command.errors.contains(says), "\(command.errors)")
        }
        #expect(folder.entries() == ["file"])
    }

    @Test("On a terminal, an error stands in place of the progress")
    func errorOnTerminal() throws {
        folder.write("notes.txt", "no picture")
        let session = try TerminalSession(
            arguments: ["publish", folder.path], columns: 200, environment: home.environment())
        #expect(session.wait() == 1)
        #expect(String(decoding: session.bytes, as: UTF8.self).contains("1 of 1 files"))
        #expect(session.screen.text.hasPrefix("vitrine: \(folder.path) contains no photos"), "\(session.screen.text)")
    }

    /// Ends the program in the middle, at once or on request.
    @Test(.unlessItHangs, arguments: [SIGKILL, SIGINT]) func interruptedRunContinues(signal: Int32) throws {
        try add("thumbnails/owl.jpg", as: "owl.jpg")
        #expect(try home.vitrine("publish", folder.path).status == 0)
        let list = try String(contentsOfFile: folder.path("gallery.xml"), encoding: .utf8)
        for number in 0..<80 {
            try add("thumbnails/moon.jpg", as: "\(number)" + String(repeating: "x", count: 200) + ".jpg")
        }
        let (words, input) = try ChildProcess.makePipe()
        // The pipe holds a few lines, so that the writer waits for the test.
        _ = fcntl(input, setPipeSize, 4_096)
        let command = try ChildProcess(
            Built.vitrine, ["publish", folder.path], environment: home.environment(), output: input)
        close(input)
        var byte: UInt8 = 0
        var lines = 0
        while lines < 3, read(words, &byte, 1) == 1 { if byte == UInt8(ascii: "\n") { lines += 1 } }
        kill(command.number, signal)
        if signal == SIGINT { while read(words, &byte, 1) == 1 { if byte == UInt8(ascii: "\n") { lines += 1 } } }
        #expect(command.wait() == (signal == SIGINT ? 128 + SIGINT : -SIGKILL))
        close(words)
        // The old gallery is intact.
        #expect(try String(contentsOfFile: folder.path("gallery.xml"), encoding: .utf8) == list)
        #expect(try self.photos(of: folder.path).count == 1)
        let counted = try CountedDecoder()
        let again = try Command(counted.vitrine, ["publish", folder.path], environment: home.environment())
        #expect(again.status == 0 && again.lines.last?.contains("81 photos") == true)
        #expect(counted.count() <= 80 - lines)
        #expect(folder.entries("thumbnails").count == 82 && !folder.entries().contains { $0.hasPrefix(".vitrine") })
        #expect(try self.photos(of: folder.path).count == 81)
    }

    @Test("If the reader of its results closes the pipe, publishing does not end with exit code 0")
    func closedPipe() throws {
        try add("thumbnails/owl.jpg", as: "owl.jpg")
        let (reading, writing) = try ChildProcess.makePipe()
        close(reading)
        let command = try ChildProcess(
            Built.vitrine, ["publish", folder.path], environment: home.environment(), output: writing)
        close(writing)
        #expect(command.wait() == 128 + SIGPIPE)
        #expect(try home.vitrine("publish", folder.path).status == 0)
        #expect(try photos(of: folder.path).count == 1)
    }

    /// Runs the command as a user to whom file modes apply.
    private func unprivileged(_ arguments: String...) throws -> Command {
        guard geteuid() == 0 else { return try Command(Built.vitrine, arguments, environment: home.environment()) }
        let without = "-dac_override,-dac_read_search"
        return try Command(
            "/usr/bin/setpriv",
            ["--bounding-set", without, "--inh-caps", without, Built.vitrine] + arguments,
            environment: home.environment())
    }
}
