import Foundation
import TestSupport
import Testing

/// The real program and a gallery behind a password, on a real web server.
@Suite(.ownThread, .serialized) struct SignInTests {
    private let home = Household()
    private let gallery = TestFolder()
    private let other: ScriptedServer
    private let server: Nginx

    private static let password = "s3cret-of-mine"

    init() throws {
        other = try ScriptedServer { _ in .answer(404, "not here") }
        let photos = ["dawn-ridge", "owl"].enumerated().map { number, name in
            """
            <photo id="\(number)" name="Photo \(number)" date="2006-07-30T07:47:17Z"><image kind="image" srcURL="p.jpg"/>
            <image kind="thumbnail" srcURL="t.jpg"/></photo>
            """
        }
        let stranger = """
            <photo id="9" name="Elsewhere" date="2007-07-30T07:47:17Z"><image kind="image" srcURL="p.jpg"/>
            <image kind="thumbnail" srcURL="\(other.url("/t.jpg"))"/></photo>
            """
        gallery.write("index.xml", "<album>\(photos.joined())\(stranger)</album>")
        for (name, source) in [("p.jpg", "images"), ("t.jpg", "thumbnails")] {
            try FileManager.default.copyItem(
                atPath: "\(Built.testGallery)/\(source)/owl.jpg", toPath: gallery.path(name))
        }
        server = try Nginx(serving: gallery.path, users: ["me": Self.password], realm: "Pictures of mine")
    }

    private func tmux(_ arguments: String..., environment: [String: String] = [:]) throws -> Tmux {
        try Tmux(
            [Built.vitrine, "--log-level=debug", "--log-file=\(home.folder.path("log"))"] + arguments
                + [server.url("/index.xml")], environment: home.environment(environment))
    }

    /// Returns the files in the home that contain the password, plain or encoded.
    private func filesWithPassword() throws -> [String] {
        let needles = [Self.password, Data("me:\(Self.password)".utf8).base64EncodedString()].map { Data($0.utf8) }
        let files = try #require(FileManager.default.enumerator(atPath: home.folder.path))
        var found: [String] = []
        for case let file as String in files {
            let bytes = FileManager.default.contents(atPath: home.folder.path(file)) ?? Data()
            if needles.contains(where: { bytes.range(of: $0) != nil }) { found.append(file) }
        }
        return found
    }

    private func quit(_ tmux: Tmux) throws {
        try tmux.type("Q")
        #expect(try tmux.until(shows: "ended with").contains("ended with 0"))
    }

    @Test("BEHAVIOURS 5.10: Vitrine asks for a gallery's password, uses it, and stores it nowhere")
    func asked() throws {
        let tmux = try tmux()
        let prompt = try tmux.until(shows: "Password:")
        #expect(prompt.contains("http://127.0.0.1:\(server.port)") && prompt.contains("“Pictures of mine”"))
        #expect(prompt.contains("others can read what you type"))
        // A wrong password comes first.
        try tmux.type("me", "Enter", "wrong", "Enter")
        #expect(try tmux.until(shows: "The previous password was rejected.").contains("rejected"))
        // The name stays, and the cursor is in the password field.
        try tmux.type(Self.password)
        #expect(try tmux.until(shows: String(repeating: "•", count: Self.password.count)).contains("User:     me"))
        try tmux.type("Enter")
        let list = try tmux.until { $0.contains("Updated:") && $0.contains("1 of 3") && $0.contains("▀▀▀▀") }
        #expect(list.contains("Photo 0") && list.contains("▀▀▀▀") && !list.contains("Password"))
        try tmux.type("Enter")
        let photo = try tmux.until { $0.contains("1 of 3 · fit") && $0.filter { $0 == "▀" }.count > 200 }
        #expect(photo.contains("1 of 3 · fit") && photo.filter { $0 == "▀" }.count > 200)
        try quit(tmux)
        #expect(try filesWithPassword() == [])
        let log = try String(contentsOfFile: home.folder.path("log"), encoding: .utf8)
        #expect(log.contains("a password is needed for 127.0.0.1:\(server.port)") && !log.contains(Self.password))
        // The other server got requests but no password.
        #expect(!other.requests.isEmpty && other.requests.allSatisfy { $0.headers["authorization"] == nil })
    }

    @Test("BEHAVIOURS 5.10: the next run and commands use a password kept in a file")
    func kept() throws {
        let tmux = try tmux("--passwords=file")
        try tmux.until(shows: "[in a file]")
        try tmux.type("me", "Enter", Self.password, "Enter")
        #expect(try tmux.until(shows: "Updated:").contains("Updated:"))
        try quit(tmux)
        #expect(try filesWithPassword() == [".config/vitrine/passwords"])
        let sync = try home.vitrine("sync", "--photos", server.url("/index.xml"))
        // The photo on the other server is missing.
        #expect(
            sync.text.hasSuffix("3 photos, 2 thumbnails, 3 photos cached, 1 failed\n"), "\(sync.text)\(sync.errors)")
        // Without a list to fetch, the first photo meets the sign-in.
        #expect(try home.vitrine("cache", "clear", "--photos", server.url("/index.xml")).status == 0)
        let export = try home.vitrine("export", server.url("/index.xml"), home.folder.path("out"))
        #expect(export.status == 0 && export.lines.count == 3, "\(export.text)\(export.errors)")
        // Vitrine ignores a file that others can read.
        chmod(home.folder.path(".config/vitrine/passwords"), 0o644)
        let open = try home.vitrine("sync", "--list-only", server.url("/index.xml"))
        #expect(open.status == 1 && open.errors.contains("a password is needed for 127.0.0.1:\(server.port)"))
    }

    @Test(
        "BEHAVIOURS 5.10: they use one kept in a real keyring, which is encrypted on disk",
        .enabled(if: DesktopSession.isPossible))
    func keptInAKeyring() throws {
        let desktop = try DesktopSession(home)
        let tmux = try tmux("--passwords=keyring", environment: desktop.environment)
        try tmux.until(shows: "[in the keyring]")
        try tmux.type("me", "Enter", Self.password, "Enter")
        #expect(try tmux.until(shows: "Updated:").contains("Updated:"))
        // Quitting waits until the password is kept.
        try quit(tmux)
        #expect(try filesWithPassword() == [])
        #expect(try home.vitrine("sync", "--list-only", server.url("/index.xml")).status == 1)
        let sync = try home.vitrine(
            "sync", "--list-only", server.url("/index.xml"), environment: desktop.environment)
        #expect(sync.status == 0, "\(sync.errors)")
    }

    @Test func unknownTerminalsGetNoQueries() throws {
        let tmux = try tmux()
        try tmux.until(shows: "Password:")
        try tmux.type("Escape")
        let declined = try tmux.until { !$0.contains("Password:") }
        #expect(declined.contains("The update failed: a password is needed for 127.0.0.1:\(server.port)"))
        try tmux.type("r")
        #expect(try tmux.until(shows: "Password:").contains("User:"))
        try tmux.type("Escape")
        try tmux.until { !$0.contains("Password:") }
        try quit(tmux)
    }
}
