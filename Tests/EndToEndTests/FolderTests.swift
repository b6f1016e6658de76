import Foundation
import TestSupport
import Testing

/// Folders of photos as galleries.
@Suite(.ownThread, .serialized) struct FolderTests {
    private let home = Household()

    /// Copies pictures of the test gallery into the folder "album".
    private func copy(_ pictures: [String: String]) throws {
        for (picture, name) in pictures {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(Built.testGallery)/\(picture)"))
            home.folder.write("album/" + name, [UInt8](bytes))
        }
    }

    private var files: [String] {
        (FileManager.default.subpaths(atPath: home.folder.path("album")) ?? []).sorted()
    }

    private func browse(_ argument: String) throws -> TerminalSession {
        try TerminalSession(arguments: [argument], environment: home.environment())
    }

    /// Browses a folder while a script mounts disks. The script gets the folder as `$1` and photos as `$3`. Each call of
    /// `signal` sends it a line through the FIFO `$2`.
    private func browse(
        _ folder: String, _ script: String, photos: String
    ) throws -> (session: TerminalSession, signal: () throws -> Void) {
        let fifo = home.folder.path("signal")
        try #require(mkfifo(fifo, 0o600) == 0)
        let arguments = Mounting.arguments(script + "\nexec \"$0\" \"$1\"", Built.vitrine, folder, fifo, photos)
        let session = try TerminalSession(Mounting.program, arguments: arguments, environment: home.environment())
        return (session, { try "\n".write(toFile: fifo, atomically: false, encoding: .utf8) })
    }

    @Test("A folder shows the photos of all subfolders with thumbnails, and stays as it is")
    func browsing() throws {
        try copy(["thumbnails/owl.jpg": "owl.jpg", "thumbnails/moon.jpg": "night/moon.jpg"])
        let session = try browse(home.folder.path("album"))
        #expect(session.until { $0.text(inRow: 0).contains("1 of 2") && $0.text.contains("moon.jpg") })
        #expect(session.until { screen in screen.text.count { $0 == "▀" } > 20 })
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(files == ["night", "night/moon.jpg", "owl.jpg"])
        let galleries = ".cache/vitrine/galleries"
        let gallery = try #require(home.folder.entries(galleries).first)
        #expect(home.folder.entries("\(galleries)/\(gallery)/photos").isEmpty)
    }

    @Test("Vitrine shows the cached photos of a folder before it reads the folder")
    func cachedFolder() throws {
        try copy(["thumbnails/owl.jpg": "night/owl.jpg"])
        let album = home.folder.path("album")
        #expect(try home.vitrine("sync", album).status == 0)
        let faults = Faults(in: album, only: .init(name: "readdir", path: ""))
        let session = try TerminalSession(
            arguments: ["--sync-on-open=no", album], environment: home.environment(faults.environment))
        #expect(session.until { $0.text(inRow: 0).contains("1 of 1") && $0.text.contains("owl.jpg") })
        #expect(faults.calls.isEmpty, "\(faults.calls)")
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("While an update makes thumbnails of a folder, it counts the photos")
    func progress() throws {
        let names = ["owl", "moon", "tulips"]
        try copy(Dictionary(uniqueKeysWithValues: names.map { ("images/\($0).jpg", "\($0).jpg") }))
        let session = try TerminalSession(
            arguments: ["sync", home.folder.path("album")], columns: 200, environment: home.environment())
        #expect(session.wait() == 0)
        let output = String(decoding: session.bytes, as: UTF8.self)
        #expect(output.contains("\t3 photos, 3 thumbnails"), "\(output)")
        for number in 1...3 { #expect(output.contains(": \(number) of 3 photos"), "\(output)") }
    }

    @Test("Offline, local folders are read, watched and saved, and galleries on servers are left alone")
    func offline() throws {
        try copy(["thumbnails/owl.jpg": "owl.jpg"])
        let album = home.folder.path("album")
        let session = try TerminalSession(arguments: ["--offline", album], environment: home.environment())
        #expect(session.until { $0.text(inRow: 0).contains("1 of 1") && $0.text.contains("owl.jpg") })
        try copy(["thumbnails/moon.jpg": "night/moon.jpg"])
        #expect(session.until { $0.text.contains("moon.jpg") && $0.text(inRow: 0).contains("of 2") })
        session.type("Q")
        #expect(session.wait() == 0)
        let server = "http://127.0.0.1:9/index.xml"
        let sync = try home.vitrine("sync", "--offline", "--photos", album, server)
        #expect(sync.status == 1 && sync.lines.count == 1 && sync.text.contains("2 photos, 2 thumbnails"))
        #expect(sync.errors.contains("\(server) is not updated: it may need a network"))
        #expect(try home.vitrine("sync", "--offline", album).status == 0)
        let saved = try home.vitrine("export", "--offline", album, home.folder.path("saved"))
        #expect(saved.status == 0 && Set(home.folder.entries("saved")) == ["moon.jpg", "owl.jpg"], "\(saved.errors)")
    }

    @Test("A photo that is named by its path is shown, in a new gallery and later")
    func namedPhoto() throws {
        try copy([
            "thumbnails/owl.jpg": "owl.jpg", "thumbnails/moon.jpg": "moon.jpg", "thumbnails/tulips.jpg": "tulips.jpg",
        ])
        for _ in 0..<2 {
            let session = try browse(home.folder.path("album/owl.jpg"))
            #expect(session.until { $0.text(inRow: 0).contains("owl.jpg") && $0.text(inRow: 0).contains("of 3 · fit") })
            session.type("Q")
            #expect(session.wait() == 0)
        }
    }

    @Test("A link to a photo opens the photo's own folder and shows the photo")
    func namedLink() throws {
        try copy(["thumbnails/owl.jpg": "owl.jpg", "thumbnails/moon.jpg": "moon.jpg"])
        home.folder.write("other/note.txt", "text")
        let link = home.folder.path("other/link.jpg")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../album/owl.jpg")
        let session = try browse(link)
        #expect(session.until { $0.text(inRow: 0).contains("owl.jpg") && $0.text(inRow: 0).contains("of 2 · fit") })
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("New and removed files appear while the folder is open")
    func changes() throws {
        try copy(["thumbnails/owl.jpg": "owl.jpg"])
        let session = try browse(home.folder.path("album"))
        #expect(session.until { $0.text(inRow: 0).contains("1 of 1") })
        try copy(["thumbnails/moon.jpg": "night/moon.jpg"])
        #expect(session.until { $0.text.contains("moon.jpg") && $0.text(inRow: 0).contains("of 2") })
        try FileManager.default.removeItem(atPath: home.folder.path("album/night"))
        #expect(session.until { !$0.text.contains("moon.jpg") && $0.text(inRow: 0).contains("1 of 1") })
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("New files appear after a changed setting of connections")
    func changedSetting() throws {
        try copy(["thumbnails/owl.jpg": "owl.jpg"])
        let session = try browse(home.folder.path("album"))
        #expect(session.until { $0.text(inRow: 0).contains("1 of 1") && $0.text.contains("Updated:") })
        let former = Processes.fetchers(of: session.process)
        session.type(":set client-certificate-host example.org\r")
        #expect(
            session.until { _ in Processes.fetchers(of: session.process).contains { !former.contains($0) } },
            "\(session.screen.text)")
        try copy(["thumbnails/moon.jpg": "night/moon.jpg"])
        #expect(session.until { $0.text.contains("moon.jpg") && $0.text(inRow: 0).contains("of 2") })
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("A folder that replaces the open one is read when the user refreshes")
    func replacedFolder() throws {
        try copy(["thumbnails/owl.jpg": "owl.jpg"])
        let album = home.folder.path("album")
        let session = try browse(album)
        #expect(session.until { $0.text(inRow: 0).contains("1 of 1") && $0.text.contains("Updated:") })
        try FileManager.default.moveItem(atPath: album, toPath: home.folder.path("former"))
        try copy(["thumbnails/moon.jpg": "moon.jpg", "thumbnails/tulips.jpg": "tulips.jpg"])
        session.type("r")
        #expect(
            session.until { $0.text.contains("moon.jpg") && $0.text(inRow: 0).contains("of 2") },
            "\(session.screen.text)")
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("Photos of a disk appear when it is mounted on an open folder", .enabled(if: Mounting.isPossible))
    func mountedDisk() throws {
        try copy(["thumbnails/owl.jpg": "owl.jpg"])
        let disk = TestFolder()
        for name in ["moon.jpg", "tulips.jpg"] {
            try FileManager.default.copyItem(
                atPath: "\(Built.testGallery)/thumbnails/\(name)", toPath: disk.path(name))
        }
        let script = "(read line <\"$2\"; mount --bind \"$3\" \"$1\"; read line <\"$2\"; umount -l \"$1\") &"
        let (session, signal) = try browse(home.folder.path("album"), script, photos: disk.path)
        #expect(session.until { $0.text(inRow: 0).contains("1 of 1") && $0.text.contains("Updated:") })
        try signal()
        #expect(
            session.until { $0.text.contains("moon.jpg") && $0.text(inRow: 0).contains("of 2") },
            "\(session.screen.text)")
        try signal()
        #expect(
            session.until { $0.text.contains("owl.jpg") && $0.text(inRow: 0).contains("of 1") },
            "\(session.screen.text)")
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("Photos of a disk appear when the disk returns", .enabled(if: Mounting.isPossible))
    func returningDisk() throws {
        try copy(["thumbnails/owl.jpg": "owl.jpg"])
        // Linux often gives the second disk the numbers of the first.
        let script = """
            plug() { mkdir "$1" && mount -t tmpfs none "$1" && cp "$2"/* "$1"; }
            plug "$1" "$3"
            (read line <"$2"; umount -l "$1"; rmdir "$1"; read line <"$2"; plug "$1" "$3") &
            """
        let (session, signal) = try browse(home.folder.path("stick"), script, photos: home.folder.path("album"))
        #expect(session.until { $0.text(inRow: 0).contains("1 of 1") && $0.text.contains("Updated:") })
        try signal()
        #expect(session.until { !$0.text.contains("Updated:") }, "\(session.screen.text)")
        try copy(["thumbnails/moon.jpg": "moon.jpg"])
        try signal()
        #expect(
            session.until { $0.text.contains("moon.jpg") && $0.text(inRow: 0).contains("of 2") },
            "\(session.screen.text)")
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("A second gallery in another folder is read, and changes in the first still appear")
    func twoFolders() throws {
        try copy(["thumbnails/owl.jpg": "owl.jpg"])
        let other = TestFolder()
        try FileManager.default.copyItem(
            atPath: "\(Built.testGallery)/thumbnails/moon.jpg", toPath: other.path("moon.jpg"))
        let session = try browse(home.folder.path("album"))
        #expect(session.until { $0.text(inRow: 0).contains("1 of 1") && $0.text.contains("Updated:") })
        session.type(":open \(other.path)\r")
        #expect(session.until(shows: "moon.jpg"), "\(session.screen.text)")
        try copy(["thumbnails/tulips.jpg": "tulips.jpg"])
        session.type(":open \(home.folder.path("album"))\r")
        #expect(
            session.until { $0.text.contains("tulips.jpg") && $0.text(inRow: 0).contains("of 2") },
            "\(session.screen.text)")
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("A folder whose address would be too long for the fetcher is refused")
    func longPath() throws {
        let names = Array(repeating: String(repeating: "漢", count: 80), count: 12)
        try copy(["thumbnails/owl.jpg": names.joined(separator: "/") + "/owl.jpg"])
        let sync = try home.vitrine("sync", home.folder.path("album/" + names.joined(separator: "/")))
        #expect(sync.status != 0 && sync.errors.contains("bytes in its encoded form"), "\(sync.errors)")
    }

    @Test("One key shows a gallery folder by folder, and the folder is restored")
    func folders() throws {
        try copy(["thumbnails/owl.jpg": "night/owl.jpg", "thumbnails/moon.jpg": "night/moon.jpg"])
        let album = home.folder.path("album")
        let session = try browse(album)
        #expect(session.until { $0.text(inRow: 0).contains("of 2") && $0.text.contains("· night") })
        session.type("t")
        #expect(session.until { $0.text(inRow: 0).contains("album › night") && !$0.text.contains("· night") })
        session.type("h")
        #expect(session.until { $0.text.contains("night/") && $0.text(inRow: 0).contains("1 of 1") })
        session.type("Q")
        #expect(session.wait() == 0)
        let again = try browse(album)
        #expect(again.until { $0.text.contains("night/") && $0.text(inRow: 0).contains("1 of 1") })
        again.type("Q")
        #expect(again.wait() == 0)
    }

    @Test("Programs learn the kind of the gallery and the folder of each photo")
    func json() throws {
        try copy(["thumbnails/owl.jpg": "night/owl.jpg"])
        let album = home.folder.path("album")
        _ = try home.vitrine("sync", "--list-only", album)
        let list = try home.vitrine("list", "--json", album)
        let photos = try #require(try JSONSerialization.jsonObject(with: Data(list.output)) as? [[String: Any]])
        let info = try home.vitrine("info", "--json", album + "#night/owl.jpg")
        let facts = try #require(try JSONSerialization.jsonObject(with: Data(info.output)) as? [String: Any])
        for photo in photos + [facts] {
            #expect(photo["kind"] as? String == "folder" && photo["folder"] as? String == "night")
        }
    }

    @Test(
        "The command info finds a photo if a # is in the photo's id or in the gallery's path",
        arguments: [("album", "Beach #2.jpg"), ("album/part #1", "owl.jpg"), ("album/part #1", "Beach #2.jpg")])
    func numberSigns(gallery: String, photo: String) throws {
        let path = home.folder.path(gallery)
        for isCached in [false, true] {
            try copy(["thumbnails/owl.jpg": String("\(gallery)/\(photo)".dropFirst("album/".count))])
            if isCached { #expect(try home.vitrine("sync", "--list-only", path).status == 0) }
            let info = try home.vitrine("info", "--json", "\(path)#\(photo)")
            guard isCached else {
                #expect(info.errors.contains("has never fetched"))
                continue
            }
            let facts = try #require(try JSONSerialization.jsonObject(with: Data(info.output)) as? [String: Any])
            #expect(info.status == 0 && facts["id"] as? String == photo, "\(info.errors)")
        }
    }

    @Test("Photos of a folder are exported from where they are")
    func exporting() throws {
        try copy(["thumbnails/owl.jpg": "night/owl.jpg"])
        let export = try home.vitrine("export", home.folder.path("album"), home.folder.path("saved"))
        #expect(export.status == 0, "\(export.errors)")
        #expect(home.folder.entries("saved") == ["owl.jpg"])
        #expect(files == ["night", "night/owl.jpg"])
    }
}
