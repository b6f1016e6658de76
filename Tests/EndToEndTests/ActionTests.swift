import Foundation
import TestSupport
import Testing

/// Actions on photos in the real program: opening, copying, saving.
@Suite(.ownThread, .serialized) struct ActionTests {
    private let home = Household()

    private func session(_ arguments: String..., environment: [String: String] = [:]) throws -> TerminalSession {
        try TerminalSession(
            arguments: arguments, columns: 100, rows: 30, environment: home.environment(environment))
    }

    /// The clipboard's content, as the terminal received it.
    private func copied(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).matches(of: #/\x{1B}\]52;c;([^\x{7}]*)\x{7}/#).compactMap {
            Data(base64Encoded: String($0.output.1)).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// A program that records its arguments, its terminal and the file's content.
    private func viewer(named name: String = "viewer", ending code: Int = 0) throws -> (path: String, pipe: String) {
        let pipe = home.folder.path(name + ".pipe")
        mkfifo(pipe, 0o600)
        let path = try home.folder.writeProgram(
            "bin/" + name,
            """
            #!/bin/sh
            { for word; do echo "$word"; done
              (: < /dev/tty) 2> /dev/null && echo "a terminal"
              cmp -s "$1" '\(Built.testGallery)/images/dawn-ridge.jpg' && echo "the photo"; } > '\(pipe)'
            exit \(code)
            """)
        return (path, pipe)
    }

    /// Returns the program's output from its pipe.
    private func words(_ pipe: String) -> [String] {
        let descriptor = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // Without a writer, the pipe has no end yet.
        while poll(&entry, 1, 60_000) > 0, case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test(.unlessItHangs) func namedProgramOpensThePhoto() throws {
        let (path, pipe) = try viewer()
        let temporary = home.folder.path("tmp")
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
        let session = try session(
            "--open-with=\(path)", Built.testGallery, environment: ["TMPDIR": temporary])
        #expect(session.until(shows: "1 of 28"))
        // The photo is not cached yet.
        session.type("o")
        #expect(words(pipe) == ["file://\(Built.testGallery)/images/dawn-ridge.jpg"])
        #expect(session.until(shows: "Opened in another program: “Dawn over the ridge”."))
        session.type("\r")
        #expect(session.until { $0.text.contains("1 of 28 · fit") && !$0.text.contains("Loading") })
        session.type("o")
        let opened = words(pipe)
        #expect(opened.first?.hasPrefix(temporary + "/vitrine-") == true)
        #expect(opened.first?.hasSuffix("/Dawn over the ridge.jpg") == true)
        #expect(opened.dropFirst() == ["the photo"])
        #expect(home.folder.entries("tmp").count == 1)
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(home.folder.entries("tmp").isEmpty)
    }

    @Test("A program in the home folder gets each marked photo as an argument of its own", .unlessItHangs)
    func argumentsOfMarkedPhotos() throws {
        let pipe = try viewer().pipe
        let session = try session("--open-with=~/bin/viewer --file=%s", Built.testGallery)
        #expect(session.until(shows: "1 of 28"))
        session.type("  ")
        #expect(session.until(shows: "2 marked"))
        session.type("o")
        let opened = words(pipe)
        #expect(opened.count == 2 && Set(opened).count == 2, "\(opened)")
        #expect(opened.allSatisfy { $0.hasPrefix("--file=file://\(Built.testGallery)/images/") }, "\(opened)")
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("A program gets the address of a large saved video, and no copy", .unlessItHangs)
    func largeVideo() throws {
        let (path, pipe) = try viewer()
        let film = home.folder.write("server/film.mp4", [0, 0, 0, 16] + Array("ftypisom".utf8) + [0, 0, 0, 0])
        #expect(truncate(film, 257 << 20) == 0)
        let server = try Nginx(serving: home.folder.path("server"), listsFolders: true)
        let export = try home.vitrine("export", server.url("/"), home.folder.path("saved"))
        #expect(export.status == 0, "\(export.errors)")
        let temporary = home.folder.path("tmp")
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
        let session = try session("--open-with=\(path)", server.url("/"), environment: ["TMPDIR": temporary])
        #expect(session.until { $0.text.contains("film") && $0.text.contains("1 of 1") })
        session.type("o")
        #expect(words(pipe) == [server.url("/film.mp4")])
        #expect(home.folder.entries("tmp").isEmpty)
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test(.unlessItHangs) func missingDisplayIsReported() throws {
        let none = try session("--open-with=/no/such/program", Built.testGallery)
        #expect(none.until(shows: "1 of 28"))
        none.type("o")
        #expect(none.until(shows: "Vitrine cannot start “/no/such/program”: No such file or directory."))
        let dark = try session(Built.testGallery)
        #expect(dark.until(shows: "1 of 28"))
        dark.type("o")
        #expect(dark.until(shows: "No desktop found. Choose a program with the setting “open-with”."))
        // xdg-open fails if the desktop has no suitable program.
        let (path, pipe) = try viewer(named: "xdg-open", ending: 3)
        let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
        let desktop = try session(Built.testGallery, environment: ["DISPLAY": ":9", "PATH": folder + ":/usr/bin:/bin"])
        #expect(desktop.until(shows: "1 of 28"))
        desktop.type("o")
        #expect(words(pipe) == ["file://\(Built.testGallery)/images/dawn-ridge.jpg"])
        // Notices about the user's own actions come first.
        #expect(desktop.until(shows: "Opened in another program"))
        desktop.type("g")
        #expect(desktop.until(shows: "xdg-open failed with code 3. Choose a program with the setting “open-with”."))
    }

    @Test(.unlessItHangs) func addressesGoToTheUsersBrowser() throws {
        let (path, pipe) = try viewer()
        let server = try Nginx(serving: Built.testGallery)
        let session = try session(server.url("/index.xml"), environment: ["BROWSER": "\(path) %s --new:other"])
        #expect(session.until(shows: "1 of 28"))
        session.type("o")
        #expect(words(pipe) == [server.url("/images/dawn-ridge.jpg"), "--new"])
    }

    @Test(.unlessItHangs) func addressAndPathReachTheClipboard() throws {
        let server = try Nginx(serving: Built.testGallery)
        let session = try session(server.url("/index.xml"))
        #expect(session.until(shows: "1 of 28"))
        session.type("y")
        #expect(session.until(shows: "Sent the address to the clipboard."))
        #expect(copied(session.bytes) == [server.url("/images/dawn-ridge.jpg")])
        session.type("\r")
        #expect(session.until { $0.text.contains("1 of 28 · fit") && !$0.text.contains("Loading") })
        session.type("Y")
        #expect(session.until(shows: "Sent the path to the clipboard."))
        let path = try #require(copied(session.bytes).last)
        #expect(path.hasPrefix(home.folder.path(".cache/vitrine/galleries/")))
        let photo = FileManager.default.contents(atPath: Built.testGallery + "/images/dawn-ridge.jpg")
        #expect(FileManager.default.contents(atPath: path) == photo)
        #expect(session.screen.violations.isEmpty)
    }

    @Test(.unlessItHangs) func tmuxPassesTheClipboardOn() throws {
        let tmux = try Tmux([Built.vitrine, Built.testGallery], environment: home.environment())
        try tmux.allowClipboard()
        try tmux.until(shows: "1 of 28")
        try tmux.type("y")
        try tmux.until(shows: "Sent the address to the clipboard.")
        #expect(try tmux.clipboard() == "file://\(Built.testGallery)/images/dawn-ridge.jpg")
    }

    @Test(
        "BEHAVIOURS 5.8: a gallery is added, a photo is saved, and the next failure is reported",
        .unlessItHangs)
    func addViewAndSave() throws {
        let server = try Nginx(serving: Built.testGallery)
        let folder = home.folder.path("saved")
        let session = try session()
        #expect(session.until(shows: "1 gallery"))
        session.type("a" + server.url("/index.xml") + "\r")
        #expect(session.until(shows: "2 galleries"))
        session.type("\r")
        #expect(session.until { $0.text.contains("1 of 28") && $0.text.contains("Dawn over the ridge") })
        session.type("\r")
        #expect(session.until { $0.text.contains("1 of 28 · fit") && !$0.text.contains("Loading") })
        session.type("s")
        #expect(session.until(shows: "Save “Dawn over the ridge” to:"))
        session.type("\u{15}~/saved\r")
        #expect(session.until(shows: "Saved “Dawn over the ridge” to \(folder)."))
        let copy = FileManager.default.contents(atPath: folder + "/Dawn over the ridge.jpg")
        #expect(copy == FileManager.default.contents(atPath: Built.testGallery + "/images/dawn-ridge.jpg"))
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(home.folder.entries("saved") == ["Dawn over the ridge.jpg"])
        let list = try String(contentsOfFile: home.folder.path(".config/vitrine/galleries"), encoding: .utf8)
        #expect(list.contains(server.url("/index.xml")))
    }

    @Test(
        "BEHAVIOURS 5.8: quitting during a save asks first and reports the rest",
        .unlessItHangs)
    func quittingReportsTheRest() throws {
        let gate = Gate()
        let server = try ScriptedServer { request in
            guard request.path == "/index.xml" else { return [.hold(gate)] }
            return .answer(
                200,
                "<album><photo id=\"a\" name=\"Lake\" date=\"2006-01-01T00:00:00Z\">"
                    + "<image kind=\"image\" srcURL=\"a\"/></photo></album>")
        }
        let session = try session(server.url("/index.xml"))
        #expect(session.until(shows: "1 of 1"))
        session.type("s")
        #expect(session.until(shows: "Save “Lake” to:"))
        session.type("\u{15}~/saved\r")
        #expect(session.until(shows: "saving 0 of 1"))
        session.type("Q")
        #expect(session.until(shows: "Vitrine has saved 0 of 1 photo so far."))
        session.type("s")
        #expect(session.wait() == 0)
        let said = String(decoding: session.bytes, as: UTF8.self)
        #expect(
            said.contains("vitrine: “Lake”: not saved yet; save again to continue."))
        gate.open()
    }

    @Test(
        "BEHAVIOURS 4.4, 6.1: two programs merge their changes of the list of galleries",
        .unlessItHangs)
    func twoLists() throws {
        let sessions = try [session(), session()]
        for (session, name) in zip(sessions, ["one", "two"]) {
            #expect(session.until(shows: "1 gallery"))
            session.type("a\(name).example.org\r")
            #expect(session.until(shows: "2 galleries"))
        }
        for session in sessions {
            session.type("s")
            #expect(session.until(shows: "Saved the list of galleries."))
        }
        // The second program has read the first one's changes.
        #expect(sessions[1].until(shows: "http://one.example.org/"))
        let list = try String(contentsOfFile: home.folder.path(".config/vitrine/galleries"), encoding: .utf8)
        #expect(list.split(separator: "\n").dropFirst() == ["http://one.example.org/", "http://two.example.org/"])
    }
}
