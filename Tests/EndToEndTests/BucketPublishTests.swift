import Foundation
import TestSupport
import Testing

/// `vitrine publish FOLDER s3://BUCKET/PREFIX` with real storage services, which an independent client reads.
@Suite(.ownThread, .serialized) struct BucketPublishTests {
    private let home = Household()
    private let folder = TestFolder()

    private static let names = [
        "a b.jpg", "50% #1?.jpg", "x+y=z&.jpg", "Über 'em \"all\".jpg", "in ner/deep er/Å~.jpg", "a:b;c,d@e$.jpg",
        "(1)!*[2]{3}.jpg", "100%25.jpg",
    ]

    private func add(_ count: Int, first: Int = 0, named ending: String = "") throws {
        let names = ["owl", "moon", "dawn-ridge", "lighthouse"]
        for number in first..<first + count {
            let picture = "\(Built.testGallery)/thumbnails/\(names[number % names.count]).jpg"
            // Photos of one picture must differ, so that a mix-up is found.
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: picture))) + Array("\(number)".utf8)
            let name = ending.isEmpty && number < Self.names.count ? Self.names[number] : "\(number)\(ending).jpg"
            folder.write(name, bytes)
        }
    }

    private func environment(
        _ server: BucketServer, _ key: String = BucketServer.key, _ secret: String = BucketServer.secret
    ) -> [String: String] {
        home.environment([
            "AWS_ENDPOINT_URL": server.url(""), "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret,
        ])
    }

    private func publish(_ server: BucketServer, _ bucket: String = "s3://photos/2024 #1/Ü") throws -> Command {
        try Command(Built.vitrine, ["publish", folder.path, bucket], environment: environment(server))
    }

    private func sent(_ command: Command) -> [String] {
        command.lines.filter { $0.hasPrefix("sent\t") }.map { String($0.dropFirst("sent\t".count)) }
    }

    /// Returns the digests of a folder's files by path, except for Vitrine's record.
    private func digests(_ path: String) throws -> [String: Data] {
        var digests: [String: Data] = [:]
        for name in FileManager.default.subpaths(atPath: path) ?? [] where !name.hasSuffix(".vitrine-publish") {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isFolder)
            if !isFolder.boolValue { digests[name] = FileManager.default.contents(atPath: "\(path)/\(name)") }
        }
        return digests
    }

    /// Returns the ids of the photos that Vitrine reads from a gallery.
    private func ids(_ gallery: String, _ server: BucketServer) throws -> [String] {
        let sync = try Command(Built.vitrine, ["sync", "--photos", gallery], environment: environment(server))
        #expect(sync.status == 0 && !sync.text.contains("failed"), "\(sync.text)\(sync.errors)")
        let list = try Command(Built.vitrine, ["list", gallery], environment: environment(server))
        return list.lines.map { String($0.prefix { $0 != "\t" }) }.sorted()
    }

    @Test(
        "A bucket gets the folder byte for byte, and then only changes",
        arguments: [BucketServer.Kind.seaweed, .rclone])
    func bytes(kind: BucketServer.Kind) throws {
        let server = try BucketServer(writable: kind)
        try add(30)
        folder.write("notes.txt", "no picture")
        let first = try publish(server)
        #expect(first.status == 0 && first.errors.isEmpty, "\(first.errors)")
        #expect(first.lines.last?.hasSuffix("\t61 files sent") == true, "\(first.text)")
        #expect(sent(first).count == 61 && sent(first).last == "gallery.xml")
        let copy = TestFolder()
        let fetched = try server.rclone("copy", "bucket:photos/2024 #1/Ü", copy.path)
        #expect(fetched.status == 0, "\(fetched.errors)")
        var expected = try digests(folder.path)
        expected["notes.txt"] = nil
        #expect(try digests(copy.path) == expected && expected.count == 61)
        let types = try server.rclone("lsf", "-R", "--format", "m", "bucket:photos/2024 #1/Ü").lines
        #expect(types.filter { $0.hasPrefix("image/jpeg") }.count == 60)
        // Other people's Vitrine shows the same photos as the folder.
        let list = "\(server.url("/photos/2024%20%231/%C3%9C/gallery.xml"))"
        #expect(try ids(list, server) == ids(folder.path, server))
        #expect(try ids(server.url("/photos/2024%20%231/%C3%9C/"), server) == ids(folder.path, server))
        // Nothing is sent again.
        let second = try publish(server)
        #expect(second.status == 0 && second.lines.last?.hasSuffix("\t0 files sent, 61 unchanged") == true)
        // A changed photo of the same size is sent again with a new thumbnail; a deleted photo leaves only the list.
        var changed = try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder.path("a b.jpg"))))
        changed[changed.count - 1] ^= 1
        folder.write("a b.jpg", changed)
        unlink(folder.path("50% #1?.jpg"))
        let third = try publish(server)
        let again = sent(third)
        #expect(again.count == 3 && again.first == "a b.jpg" && again.last == "gallery.xml", "\(again)")
        #expect(try server.rclone("cat", "bucket:photos/2024 #1/Ü/a b.jpg").output == changed)
        let left = try server.rclone("lsf", "bucket:photos/2024 #1/Ü/").lines
        #expect(left.contains("50% #1?.jpg"))
        let text = try server.rclone("cat", "bucket:photos/2024 #1/Ü/gallery.xml").text
        #expect(!text.contains("50%25%20%231%3F.jpg") && text.contains("a%20b.jpg"))
    }

    @Test("An emptied photo leaves the list in the bucket")
    func emptied() throws {
        let server = try BucketServer(writable: .rclone)
        try add(3)
        #expect(try publish(server).status == 0)
        folder.write("a b.jpg", "")
        let again = try publish(server)
        #expect(again.status == 0 && again.errors.isEmpty && sent(again) == ["gallery.xml"], "\(again.errors)")
        let text = try server.rclone("cat", "bucket:photos/2024 #1/Ü/gallery.xml").text
        #expect(!text.contains("a%20b.jpg") && text.contains("x%2By%3Dz%26.jpg"))
    }

    @Test(
        "An interrupted upload continues with the rest", .unlessItHangs,
        arguments: [BucketServer.Kind.seaweed, .rclone], [SIGKILL, SIGINT])
    func interruption(kind: BucketServer.Kind, signal: Int32) throws {
        let server = try BucketServer(writable: kind)
        try add(100, named: String(repeating: "x", count: 150))
        // Only the upload is of interest here.
        #expect(try home.vitrine("publish", folder.path).status == 0)
        let (words, input) = try ChildProcess.makePipe()
        // The pipe holds a few lines, so that the writer waits for the test. The number is F_SETPIPE_SZ.
        _ = fcntl(input, 1_031, 4_096)
        let command = try ChildProcess(
            Built.vitrine, ["publish", folder.path, "s3://photos/g"], environment: environment(server), output: input)
        close(input)
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while text.count(where: { $0 == UInt8(ascii: "\n") }) < 40, read(words, &byte, 1) == 1 { text.append(byte) }
        kill(command.number, signal)
        while read(words, &byte, 1) == 1 { text.append(byte) }
        #expect(command.wait() == (signal == SIGINT ? 128 + SIGINT : -SIGKILL))
        close(words)
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        let before = Set(lines.filter { $0.hasPrefix("sent\t") }.map { String($0.dropFirst("sent\t".count)) })
        #expect(before.count >= 38)
        // Until everything is there, there is no list.
        let there = Set(try server.rclone("lsf", "-R", "--files-only", "bucket:photos/g").lines)
        #expect(!there.contains("gallery.xml") && there.count < 201 && before.isSubset(of: there))
        let again = try publish(server, "s3://photos/g")
        #expect(again.status == 0, "\(again.errors)")
        // The server may store more files after the list above: those that it was receiving.
        let sentAgain = Set(sent(again))
        #expect(sentAgain.isDisjoint(with: there) && sent(again).count == sentAgain.count)
        let (count, unchanged) = (sentAgain.count, 201 - sentAgain.count)
        #expect(again.lines.last?.hasSuffix("\t\(count) files sent, \(unchanged) unchanged") == true, "\(again.text)")
        #expect(try server.rclone("check", folder.path, "bucket:photos/g", "--exclude", ".*").status == 0)
    }

    @Test("Wrong keys, missing permissions and missing buckets cause one sentence each")
    func refusals() throws {
        let server = try BucketServer(writable: .seaweed)
        try add(3)
        let (address, host) = (server.url("/photos/g/"), server.url("").dropFirst("http://".count))
        for (key, secret, bucket, words) in [
            (BucketServer.key, "wrong", "photos", "\(address): \(host) refuses the access key"),
            ("UNKNOWN", BucketServer.secret, "photos", "\(address): \(host) refuses the access key"),
            (
                "READER", BucketServer.secret, "photos",
                "\(address): your access key may not list this bucket: it lacks the permission s3:ListBucket"
            ),
            (
                "LISTER", BucketServer.secret, "photos",
                "\(address): your access key may not write to this bucket: it lacks the permission s3:PutObject"
            ),
            (
                BucketServer.key, BucketServer.secret, "absent",
                "\(server.url("/absent/g/")): the server has no bucket with this name"
            ),
        ] {
            let command = try Command(
                Built.vitrine, ["publish", folder.path, "s3://\(bucket)/g"],
                environment: environment(server, key, secret))
            #expect(command.status == 1 && command.errors == "vitrine: \(words)\n", "\(command.errors)")
            #expect(!(command.text + command.errors).contains(BucketServer.secret))
        }
        let none = try home.vitrine("publish", folder.path, address)
        #expect(none.status == 1 && none.errors == "vitrine: \(address): an access key is needed for \(host)\n")
        #expect(try server.rclone("lsf", "-R", "bucket:photos").lines.isEmpty)
    }

    @Test("At a terminal, the command asks for the key, and does not show the secret")
    func question() throws {
        let server = try BucketServer(writable: .rclone)
        try add(2)
        let session = try TerminalSession(
            arguments: ["publish", folder.path, server.url("/photos/g")], columns: 200,
            environment: home.environment())
        for (secret, complaint) in [
            ("wrong", "an access key is needed"), (BucketServer.secret, "refuses the access key"),
        ] {
            #expect(session.until { $0.text.contains(complaint) && $0.text.contains("Access key:") })
            session.type(BucketServer.key + "\n")
            #expect(session.until(shows: "Secret:"))
            session.type(secret + "\n")
        }
        #expect(session.wait() == 0)
        #expect(session.screen.text.contains("5 files sent"))
        #expect(!String(decoding: session.bytes, as: UTF8.self).contains(BucketServer.secret))
    }

    @Test("An interrupted question leaves the terminal as it was")
    func interruptedQuestion() throws {
        let server = try BucketServer(writable: .rclone)
        try add(1)
        let session = try TerminalSession(
            arguments: ["publish", folder.path, server.url("/photos/g")], environment: home.environment())
        #expect(session.until(shows: "Access key:"))
        session.type("ID\n")
        #expect(session.until(shows: "Secret:"))
        session.type("\u{3}")
        #expect(session.wait() == 128 + SIGINT)
        #expect(session.modes.c_lflag == session.original.c_lflag)
    }

    @Test("An address with a key works too, and the output does not contain the key")
    func keyInAddress() throws {
        let server = try BucketServer(writable: .rclone)
        try add(2)
        let host = server.url("").dropFirst("http://".count)
        let command = try home.vitrine(
            "publish", folder.path, "http://\(BucketServer.key):S3cret%2F%2Bkey%3D@\(host)/photos")
        #expect(command.status == 0 && command.lines.last == "http://\(host)/photos\t5 files sent", "\(command.errors)")
        #expect(!(command.text + command.errors).contains("S3cret"))
    }
}
