import Foundation
import TestSupport
import Testing

/// Folders on servers as galleries.
@Suite(.ownThread, .serialized) struct ServerFolderTests {
    private let home = Household()

    private func picture(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(Built.testGallery)/thumbnails/\(name)")))
    }

    /// A NAS with photos behind a password.
    private func nas() throws -> LoopbackServer {
        try LoopbackServer.apache(
            isDAV: true, files: ["photos/owl.jpg": picture("owl.jpg"), "photos/night/moon.jpg": picture("moon.jpg")])
    }

    @Test("A newcomer types the address of a NAS, signs in and sees the photos, without a manual")
    func newcomer() throws {
        let server = try nas()
        let tmux = try Tmux([Built.vitrine], environment: home.environment())
        try tmux.until { $0.contains("a") && $0.contains("add") }
        try tmux.type("a", server.url("/photos/"), "Enter")
        // The new gallery is open, or selected in the list.
        let prompt = try tmux.until { $0.contains("Password:") || $0.contains("Enter") }
        if !prompt.contains("Password:") { try tmux.type("Enter") }
        #expect(try tmux.until(shows: "Password:").contains("“photos”"))
        try tmux.type("me", "Enter", "s3cret", "Enter")
        let list = try tmux.until { $0.contains("1 of 2") && $0.contains("▀▀▀▀") }
        #expect(list.contains("owl.jpg") && list.contains("moon.jpg"))
        try tmux.type("Enter")
        let photo = try tmux.until { $0.contains("1 of 2 · fit") && $0.filter { $0 == "▀" }.count > 200 }
        #expect(photo.contains(".jpg"))
        try tmux.type("Q")
        #expect(try tmux.until(shows: "ended with").contains("ended with 0"))
    }

    @Test("A newcomer signs in to Nextcloud with the browser, and the password is kept")
    func browser() async throws {
        let folder = TestFolder()
        folder.write("birds/owl.jpg", try picture("owl.jpg"))
        let server = try await NextcloudServer.start(serving: folder.path)
        let tmux = try Tmux([Built.vitrine, "--passwords=file", server.url("/")], environment: home.environment())
        try tmux.allowClipboard()
        try tmux.until(shows: "sign in with the browser")
        try tmux.type("Up", "Enter")
        let prompt = try tmux.until(shows: "/login/v2/flow/")
        let page = try tmux.clipboard()
        #expect(page.hasPrefix(server.url("/login/v2/flow/")) && prompt.contains(page.prefix(60)))
        #expect(try Command("/usr/bin/curl", ["-s", "-d", "", page]).text.contains("grant access"))
        let list = try tmux.until(shows: "1 of 1")
        #expect(list.contains("owl.jpg") && !list.contains("Keep:"))
        try tmux.type("Q")
        #expect(try tmux.until(shows: "ended with").contains("ended with 0"))
        // Another run needs no sign-in.
        folder.write("birds/moon.jpg", try picture("moon.jpg"))
        let sync = try home.vitrine("sync", "--list-only", server.url("/"))
        #expect(sync.status == 0 && sync.text.contains("2 photos"), "\(sync.text)\(sync.errors)")
    }

    @Test("Commands fetch and print the albums of a photo server")
    func albums() async throws {
        let folder = TestFolder()
        folder.write("owl.jpg", try picture("owl.jpg"))
        let server = try await NextcloudServer.start(
            serving: folder.path, albums: ["Summer 2024": ["owl.jpg"], "None": []])
        let account = "http://\(NextcloudServer.user):\(NextcloudServer.password)@"
        let address = server.url("/").replacing("http://", with: account)
        func run(_ arguments: String...) throws -> Command {
            try Command(Built.vitrine, arguments, environment: home.environment())
        }
        #expect(try run("list", "--albums", address).errors.contains("vitrine sync --albums"))
        let sync = try run("sync", "--list-only", "--albums", address)
        #expect(sync.status == 0 && sync.text.contains("1 photo, 2 albums"), "\(sync.text)\(sync.errors)")
        let list = try run("list", "--albums", address)
        let lines = list.text.split(separator: "\n").sorted()
        #expect(
            lines == [
                "\(server.url("/apps/photos/albums/None"))\talbum\tNone\t0",
                "\(server.url("/apps/photos/albums/Summer%202024"))\talbum\tSummer 2024\t1",
            ], "\(list.text)\(list.errors)")
        let json = try run("list", "--albums", "--json", address).text
        #expect(json.contains(#""kind":"album","name":"Summer 2024","count":1}"#), "\(json)")
    }

    @Test("The dates that Nextcloud read from photos are by the camera’s clock, in the user’s time zone")
    func cameraTimes() async throws {
        let folder = TestFolder()
        folder.write("taken.jpg", "\u{FFFD}Exif 2019:05:04 12:00:00\0")
        let server = try await NextcloudServer.start(serving: folder.path, shares: ["a1B2c3D4e5F6g7H": .init(of: "")])
        let address = server.url("/s/a1B2c3D4e5F6g7H")
        let sync = try home.vitrine("sync", "--list-only", address, environment: ["TZ": "EST5"])
        #expect(sync.status == 0, "\(sync.text)\(sync.errors)")
        let list = try home.vitrine("list", address)
        #expect(list.text.contains("2019-05-04T17:00:00Z"), "\(list.text)\(list.errors)")
        // A later update in another zone reads the folder again, and finds the photo unchanged.
        folder.write("new.jpg", "another")
        let again = try home.vitrine("sync", "--list-only", address, environment: ["TZ": "UTC"])
        #expect(again.status == 0, "\(again.text)\(again.errors)")
        let both = try home.vitrine("list", address)
        #expect(both.lines.count == 2 && both.text.contains("2019-05-04T17:00:00Z"), "\(both.text)\(both.errors)")
    }

    @Test("Commands take folders on servers")
    func commands() async throws {
        let folder = TestFolder()
        folder.write("birds/owl.jpg", try picture("owl.jpg"))
        let server = try await FolderServer.Kind.caddy.start(serving: folder.path)
        func run(_ arguments: String...) throws -> Command {
            try Command(Built.vitrine, arguments, environment: home.environment())
        }
        let sync = try run("sync", "--photos", server.address)
        #expect(sync.status == 0, "\(sync.text)")
        #expect(try run("list", server.address).text.contains("birds/owl.jpg"))
        let export = home.folder.path("export")
        #expect(try run("export", server.address, export).status == 0)
        #expect(FileManager.default.subpaths(atPath: export)?.contains { $0.hasSuffix("owl.jpg") } == true)
    }
}
