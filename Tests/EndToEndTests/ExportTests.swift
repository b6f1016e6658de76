import Foundation
import Model
import TestSupport
import Testing

/// `vitrine export`, as people and scripts use it.
@Suite(.ownThread, .serialized) struct ExportTests {
    private let home = Household()
    /// The list of a hundred photos, “Photo 0” at `p/0` and so on.
    private static let album: String =
        "<album>"
        + (0..<100).map {
            "<photo id=\"\($0)\" name=\"Photo \($0)\" date=\"2006-01-01T00:00:00Z\">"
                + "<image kind=\"image\" srcURL=\"p/\($0)\"/></photo>"
        }.joined() + "</album>"

    @Test func exportFetchesAndCopiesPhotos() throws {
        let server = try Nginx(serving: Built.testGallery)
        let folder = home.folder.path("out")
        let export = try home.vitrine("export", server.url("/index.xml"), folder, "dawn-ridge", "owl")
        #expect(export.status == 0 && export.errors.isEmpty)
        #expect(export.lines.first == folder + "/Dawn over the ridge.jpg" && export.lines.count == 2)
        // Requests are the list and these two photos.
        #expect(try server.paths().count == 3)
        let copy = FileManager.default.contents(atPath: folder + "/Dawn over the ridge.jpg")
        #expect(copy == FileManager.default.contents(atPath: Built.testGallery + "/images/dawn-ridge.jpg"))
        let all = try home.vitrine("export", server.url("/index.xml"), folder)
        #expect(all.status == 0 && all.lines.count == 28 && home.folder.entries("out").count == 28)
        // Everything is cached now.
        server.stop()
        let again = try home.vitrine("export", "--offline", server.url("/index.xml"), folder)
        #expect(again.status == 0 && again.lines.count == 28 && home.folder.entries("out").count == 28)
    }

    @Test("Offline, an export fetches the photos of a list that are on the disk, and no others")
    func offlineList() throws {
        let owl = try Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/images/owl.jpg"))
        home.folder.write("album/owl.jpg", [UInt8](owl))
        let photos = [("Owl", "owl.jpg"), ("Moon", "http://127.0.0.1:9/moon.jpg")].map { name, address in
            "<photo id=\"\(name)\" name=\"\(name)\" date=\"2006-01-01T00:00:00Z\">"
                + "<image kind=\"image\" srcURL=\"\(address)\"/></photo>"
        }
        home.folder.write("album/gallery.xml", "<album>\(photos.joined())</album>")
        let saved = try home.vitrine("export", "--offline", home.folder.path("album"), home.folder.path("saved"))
        #expect(saved.status == 1 && home.folder.entries("saved") == ["Owl.jpg"], "\(saved.errors)")
        #expect(saved.errors.contains("Moon: The photo is not in the cache"), "\(saved.errors)")
    }

    @Test("A gallery that was named for an export belongs to the galleries that an update without names fetches")
    func namedGallery() throws {
        let folder = home.folder.path("out")
        #expect(try home.vitrine("export", Built.testGallery, folder, "owl").status == 0)
        let sync = try home.vitrine("sync", "--list-only")
        #expect(sync.status == 0 && sync.errors.isEmpty && sync.text.hasSuffix("\t28 photos\n"), "\(sync.errors)")
    }

    @Test("Commands take up ratings that the user copied from another machine")
    func copiedRatings() throws {
        let gallery = try SmallGallery()
        let home = gallery.home
        func rate(_ id: String, _ rating: Int) {
            home.folder.write(
                ".local/share/vitrine/ratings/\(GalleryID(gallery.address))",
                "# \(gallery.address.textWithoutSecrets)\n\(rating) \(id)\n")
        }
        #expect(try home.vitrine("sync", "--list-only", gallery.path).status == 0)
        let ids = try SmallGallery.ids(.before).sorted()
        rate(ids[0], 3)
        let list = try home.vitrine("list", "--matching", "rating:3", gallery.path)
        #expect(list.lines.count == 1 && list.text.hasPrefix(ids[0] + "\t"), "\(list.text)\(list.errors)")
        rate(ids[1], 4)
        let info = try home.vitrine("info", "--json", "\(gallery.path)#\(ids[1])")
        let facts = try #require(try JSONSerialization.jsonObject(with: Data(info.output)) as? [String: Any])
        #expect(facts["rating"] as? Int == 4, "\(info.text)\(info.errors)")
        rate(ids[2], 5)
        let export = try home.vitrine("export", "--matching", "rating:5", gallery.path, gallery.folder.path("out"))
        #expect(export.status == 0 && gallery.folder.entries("out").count == 1, "\(export.errors)")
    }

    @Test func mistakesAreSaid() throws {
        let (gallery, folder) = (Built.testGallery, home.folder.path("out"))
        #expect(try home.vitrine("export").errors.contains("Missing gallery"))
        #expect(try home.vitrine("export", gallery).errors.contains("Missing folder"))
        let server = "http://127.0.0.1:9/index.xml"
        #expect(try home.vitrine("export", "--offline", server, folder).errors.contains("has never fetched"))
        let unknown = try home.vitrine("export", gallery, folder, "owl", "nobody")
        #expect(unknown.status == 1 && unknown.lines.count == 1)
        #expect(unknown.errors.contains("has no photo “nobody”") && unknown.errors.contains("1 of 2 photos are in"))
        let path = try #require(unknown.lines.first)
        home.folder.write("out/" + path.split(separator: "/").suffix(1).joined(), "mine")
        let other = try home.vitrine("export", gallery, folder, "owl")
        #expect(other.status == 1 && other.errors.contains("already exists with different content"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        home.folder.write("file", "")
        #expect(try home.vitrine("export", gallery, home.folder.path("file")).errors.contains("Not a directory"))
        let nowhere = try home.vitrine("export", gallery, home.folder.path("no/such"), "owl")
        #expect(nowhere.status == 1 && nowhere.errors.contains("No such file or directory"))
    }

    @Test(
        "BEHAVIOURS 5.8: an interrupted export reports its result, and the same command continues",
        .unlessItHangs, arguments: [SIGINT, SIGTERM, SIGHUP])
    func interrupted(signal: Int32) async throws {
        let gate = Gate()
        let owl = FileManager.default.contents(atPath: Built.testGallery + "/images/owl.jpg").map(Array.init) ?? []
        let server = try ScriptedServer { request in
            switch request.path {
            case "/index.xml": .answer(200, Self.album)
            case "/p/0", "/p/1", "/p/2": .answer(200, owl)
            // Half of each photo has arrived.
            default:
                [
                    .send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(owl.count)\r\n\r\n"),
                    .send(Array(owl[..<(owl.count / 2)])), .hold(gate), .send(Array(owl[(owl.count / 2)...])),
                ]
            }
        }
        let (words, input) = try ChildProcess.makePipe()
        let errors = home.folder.write("errors", "")
        let file = open(errors, O_WRONLY)
        let command = try ChildProcess(
            Built.vitrine, ["export", server.url("/index.xml"), home.folder.path("out")],
            environment: home.environment(), output: input, errors: file)
        close(file)
        close(input)
        // Three lines mean three photos; the fourth never comes.
        var text = ""
        var byte: UInt8 = 0
        while text.count(where: { $0 == "\n" }) < 3, read(words, &byte, 1) == 1 {
            text.append(Character(UnicodeScalar(byte)))
        }
        #expect(command.end(signal) == 128 + signal)
        close(words)
        gate.open()
        #expect(home.folder.entries("out") == ["Photo 0.jpg", "Photo 1.jpg", "Photo 2.jpg"])
        let said = try String(contentsOfFile: errors, encoding: .utf8)
        #expect(said.contains("3 of 100 photos are in"))
        #expect(said.contains("97 not saved yet; run the same command to continue."))
        let again = try home.vitrine("export", server.url("/index.xml"), home.folder.path("out"))
        #expect(again.status == 0 && again.lines.count == 100 && home.folder.entries("out").count == 100)
    }

    @Test("A signal ends an export that waits for another process", .unlessItHangs)
    func waiting() throws {
        let server = try ScriptedServer { _ in .answer(404, "not here") }
        #expect(try home.vitrine("sync", server.url("/index.xml")).status == 1)
        let galleries = home.caches + "/galleries"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: galleries).first)
        let turn = open("\(galleries)/\(name)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(turn) }
        try #require(flock(turn, LOCK_EX) == 0)
        let session = try TerminalSession(
            arguments: ["export", server.url("/index.xml"), home.folder.path("out")], environment: home.environment())
        #expect(session.until(shows: "waiting for another process"))
        kill(session.process, SIGTERM)
        #expect(session.wait() == 128 + SIGTERM)
    }

    @Test("If the reader of its results closes the pipe, an export stops, and the same command continues")
    func closedPipe() throws {
        let (gallery, folder) = (Built.testGallery, home.folder.path("out"))
        let (reading, writing) = try ChildProcess.makePipe()
        close(reading)
        let errors = home.folder.write("errors", "")
        let file = open(errors, O_WRONLY | O_CLOEXEC)
        let command = try ChildProcess(
            Built.vitrine, ["export", gallery, folder], environment: home.environment(), output: writing, errors: file)
        close(file)
        close(writing)
        #expect(command.wait() == 128 + SIGPIPE)
        #expect(home.folder.entries("out").count == 1)
        let said = try String(contentsOfFile: errors, encoding: .utf8)
        #expect(said.contains("1 of 28 photos are in"), "\(said)")
        let again = try home.vitrine("export", gallery, folder)
        #expect(again.status == 0 && again.lines.count == 28 && home.folder.entries("out").count == 28)
    }

    @Test(
        "An export to a full or lost disk fetches no further photos, and the same command continues later",
        arguments: [ENOSPC, ENOTCONN])
    func fullDisk(error: Int32) throws {
        let owl = FileManager.default.contents(atPath: Built.testGallery + "/images/owl.jpg").map(Array.init) ?? []
        let server = try ScriptedServer { .answer(200, $0.path == "/index.xml" ? Array(Self.album.utf8) : owl) }
        let folder = home.folder.path("out")
        let trial = Faults(in: folder, only: Faults.Call(name: "write", path: ""))
        let one = try home.vitrine("export", server.url("/index.xml"), folder, "0", environment: trial.environment)
        #expect(one.status == 0 && !trial.calls.isEmpty, "\(one.errors)")
        server.forgetRequests()
        // The next two photos fit.
        let faults = Faults(
            in: folder, .errorFrom(error, 2 * trial.calls.count + 1), only: Faults.Call(name: "write", path: ""))
        let export = try home.vitrine("export", server.url("/index.xml"), folder, environment: faults.environment)
        #expect(export.status == 1 && export.lines.count == 3)
        let reason = String(cString: strerror(error))
        #expect(export.errors.contains("Photo 3: \(folder)/Photo 3.jpg: \(reason)."), "\(export.errors)")
        #expect(
            export.errors.contains("3 of 100 photos are in")
                && export.errors.contains("97 not saved yet; run the same command to continue."))
        #expect(server.requests.count <= 20 && home.folder.entries("out").count == 3)
        let again = try home.vitrine("export", server.url("/index.xml"), folder)
        #expect(again.status == 0 && again.lines.count == 100 && home.folder.entries("out").count == 100)
    }

    @Test("On a USB stick, which allows fewer names, photos get names without the forbidden signs, and keep them")
    func refusedNames() throws {
        let owl = FileManager.default.contents(atPath: Built.testGallery + "/images/owl.jpg").map(Array.init) ?? []
        let photos = ["Why?", "Why_", "5:30"].map {
            "<photo id=\"\($0)\" name=\"\($0)\" date=\"2006-01-01T00:00:00Z\">"
                + "<image kind=\"image\" srcURL=\"p\"/></photo>"
        }
        let list = "<album>\(photos.joined())</album>"
        let server = try ScriptedServer { .answer(200, $0.path == "/index.xml" ? Array(list.utf8) : owl) }
        let folder = home.folder.path("out")
        let environment = Faults(in: folder).environment.merging(["VITRINE_FAULTS_FAT": "1"]) { $1 }
        for _ in 0..<2 {
            let export = try home.vitrine("export", server.url("/index.xml"), folder, environment: environment)
            #expect(export.status == 0 && export.errors.isEmpty, "\(export.errors)")
            #expect(export.lines == ["Why_.jpg", "Why_ (2).jpg", "5_30.jpg"].map { folder + "/" + $0 })
            #expect(home.folder.entries("out") == ["5_30.jpg", "Why_ (2).jpg", "Why_.jpg"])
        }
    }

    @Test("A folder that refuses dates receives photos without their dates")
    func refusedDates() throws {
        let folder = home.folder.path("out")
        let faults = Faults(in: folder, .errorFrom(EPERM, 1), only: Faults.Call(name: "futimens", path: ""))
        let export = try home.vitrine(
            "export", Built.testGallery, folder, "dawn-ridge", environment: faults.environment)
        #expect(export.status == 0 && export.errors.isEmpty, "\(export.errors)")
        #expect(faults.calls.count == 1 && home.folder.entries("out") == ["Dawn over the ridge.jpg"])
    }

    /// Kills the program at every call that changes the folder, on file systems with and without unnamed files.
    @Test(
        "A killed export leaves nothing behind after the next one", arguments: [true, false])
    func killed(hasUnnamedFiles: Bool) throws {
        let more = hasUnnamedFiles ? [:] : ["VITRINE_FAULTS_NO_TMPFILE": "1"]
        let (gallery, folder) = (Built.testGallery, home.folder.path("out"))
        let photo = "Dawn over the ridge.jpg"
        let picture = FileManager.default.contents(atPath: gallery + "/images/dawn-ridge.jpg")
        #expect(try home.vitrine("sync", "--photos", gallery).status == 0)
        func export(_ kind: Faults.Kind) throws -> (status: Int32, calls: Int) {
            try? FileManager.default.removeItem(atPath: folder + "/" + photo)
            let faults = Faults(in: folder, kind)
            let command = try home.vitrine(
                "export", "--offline", gallery, folder, "dawn-ridge",
                environment: faults.environment.merging(more) { $1 })
            return (command.status, faults.calls.count)
        }
        // The first run makes the folder.
        #expect(try export(.none).status == 0)
        let all = try export(.none)
        try #require(all.status == 0 && all.calls > 3)
        var mostLeft = 0
        for call in 1...all.calls {
            #expect(try export(.kill(at: call)).status == -SIGKILL)
            // Before its last call, an unnamed file is complete and has its name.
            let isDone = hasUnnamedFiles && FileManager.default.contents(atPath: folder + "/" + photo) == picture
            let left = home.folder.entries("out").filter { !isDone || $0 != photo }
            mostLeft = max(mostLeft, left.count)
            // Runs are sequential: each removes the leftovers of the one before.
            #expect(left.count <= (hasUnnamedFiles ? 0 : 1) && left.allSatisfy { $0.hasPrefix(".vitrine-") }, "\(left)")
        }
        #expect(mostLeft == (hasUnnamedFiles ? 0 : 1))
        #expect(try export(.none).status == 0 && home.folder.entries("out") == [photo])
    }
}
