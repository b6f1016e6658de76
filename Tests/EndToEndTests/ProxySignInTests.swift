import Foundation
import TestSupport
import Testing

/// The real program behind a real proxy that requires a password.
@Suite(.ownThread, .serialized) struct ProxySignInTests {
    private let home = Household()
    private let proxy: LoopbackServer
    /// An open gallery that records everything the proxy forwards.
    private let server: ScriptedServer

    private static let password = "s3cret"
    private static let question = "This proxy asks you to sign in: “Tinyproxy”"

    init() throws {
        proxy = try LoopbackServer.tinyproxy(wantsPassword: true)
        let photo = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(Built.testGallery)/thumbnails/owl.jpg")))
        server = try ScriptedServer { request in
            request.path.hasSuffix("/index.xml") ? .answer(200, Self.list) : .answer(200, photo)
        }
    }

    private static let list = """
        <album><photo id="1" name="Owl" date="2006-07-30T07:47:17Z"><image kind="image" srcURL="p.jpg"/>
        <image kind="thumbnail" srcURL="t.jpg"/></photo></album>
        """

    private var place: String { "http://127.0.0.1:\(proxy.port)" }

    /// - Parameter user: the user part of the proxy's address.
    private func proxies(_ user: String = "") -> [String: String] {
        let address = "http://\(user)127.0.0.1:\(proxy.port)"
        return ["http_proxy": address, "https_proxy": address]
    }

    private func tmux(_ address: String, _ arguments: String..., user: String = "") throws -> Tmux {
        try Tmux(
            [Built.vitrine, "--log-level=debug", "--log-file=\(home.folder.path("log"))"] + arguments + [address],
            environment: home.environment(proxies(user)))
    }

    private func quit(_ tmux: Tmux) throws {
        try tmux.type("Q")
        #expect(try tmux.until(shows: "ended with").contains("ended with 0"))
    }

    /// Returns the files in the home that contain the password, plain or encoded.
    private func filesWithPassword() throws -> [String] {
        let needles = [Self.password, Data("me:\(Self.password)".utf8).base64EncodedString()].map { Data($0.utf8) }
        let files = try #require(FileManager.default.enumerator(atPath: home.folder.path))
        return files.compactMap { $0 as? String }.filter { file in
            let bytes = FileManager.default.contents(atPath: home.folder.path(file)) ?? Data()
            return needles.contains { bytes.range(of: $0) != nil }
        }
    }

    @Test("BEHAVIOURS 5.10: Vitrine asks for a proxy's password and sends it to the proxy only")
    func asked() throws {
        let tmux = try tmux(server.url("/index.xml"))
        let prompt = try tmux.until(shows: "Password:")
        #expect(prompt.contains(place) && prompt.contains(Self.question), "\(prompt)")
        #expect(prompt.contains("others can read what you type") && server.requests.isEmpty)
        // A wrong password comes first; tinyproxy refuses it like a server.
        try tmux.type("me", "Enter", "wrong", "Enter")
        let again = try tmux.until(shows: "The previous password was rejected.")
        // The name stays, and the cursor is in the password field.
        #expect(again.contains(place) && again.contains(Self.question), "\(again)")
        try tmux.type(Self.password, "Enter")
        let list = try tmux.until { $0.contains("Updated:") && $0.contains("▀▀▀") }
        #expect(list.contains("Owl") && list.contains("▀▀▀") && !list.contains("Password"), "\(list)")
        try tmux.type("Enter")
        #expect(try tmux.until(shows: "1 of 1 · fit").contains("1 of 1 · fit"))
        try quit(tmux)
        #expect(try filesWithPassword() == [])
        // Only the proxy received the password.
        #expect(Set(server.requests.map(\.path)) == ["/index.xml", "/t.jpg", "/p.jpg"])
        for request in server.requests {
            #expect(request.headers["authorization"] == nil && request.headers["proxy-authorization"] == nil)
        }
        let log = try String(contentsOfFile: home.folder.path("log"), encoding: .utf8)
        #expect(log.contains("the proxy \(place) wants a password") && log.contains("the proxy \(place) refuses"))
    }

    @Test("BEHAVIOURS 5.10: a proxy's kept password is used for tunnels and commands, too")
    func tunnel() throws {
        let authority = try TestAuthority()
        let files = ["index.xml": Array(Self.list.utf8), "p.jpg": [0xFF, 0xD8, 0xFF], "t.jpg": [0xFF, 0xD8, 0xFF]]
        let secure = try LoopbackServer.nginx(authority.issue(.good), files: files)
        let (address, trust) = (secure.url("/index.xml", scheme: "https"), "--ca-file=\(authority.certificate)")
        // Vitrine first tries the outdated password in the proxy's address.
        let tmux = try tmux(address, "--passwords=file", trust, user: "me:of-last-year@")
        let prompt = try tmux.until(shows: "Password:")
        #expect(prompt.contains(place) && prompt.contains("This proxy asks you to sign in"), "\(prompt)")
        #expect(prompt.contains("The previous password was rejected.") && prompt.contains("[in a file]"), "\(prompt)")
        try tmux.type("me", "Enter", Self.password, "Enter")
        #expect(try tmux.until(shows: "Updated:").contains("Updated:"))
        try quit(tmux)
        #expect(try filesWithPassword() == [".config/vitrine/passwords"])
        for user in ["", "me:of-last-year@"] {
            let sync = try home.vitrine("sync", "--list-only", trust, address, environment: proxies(user))
            #expect(sync.status == 0 && sync.text.hasSuffix("1 photo\n"), "\(sync.errors)")
        }
        // Neither another proxy nor a server with the same name receives it.
        let other = try LoopbackServer.tinyproxy(wantsPassword: true)
        let elsewhere = try home.vitrine(
            "sync", "--list-only", trust, address, environment: ["https_proxy": "127.0.0.1:\(other.port)"])
        #expect(elsewhere.status == 1)
        #expect(elsewhere.errors.contains("the proxy http://127.0.0.1:\(other.port) wants a password"))
    }

    @Test func unknownTerminalsGetNoQueries() throws {
        let tmux = try tmux(server.url("/index.xml"))
        try tmux.until(shows: "Password:")
        try tmux.type("Escape")
        let declined = try tmux.until { !$0.contains("Password:") }
        #expect(declined.contains("The update failed: the proxy \(place) wants a password"), "\(declined)")
        try tmux.type("r")
        #expect(try tmux.until(shows: "Password:").contains("User:"))
        try tmux.type("Escape")
        try tmux.until { !$0.contains("Password:") }
        try quit(tmux)
        #expect(server.requests.isEmpty)
    }
}
