import Foundation
import TestSupport
import Testing

/// Passwords for servers and proxies, in everything that the program writes, shows and passes on.
@Suite(.ownThread, .serialized, .unlessItHangs) struct SecretsTests {
    /// The ways to authenticate.
    enum Way: CaseIterable, Sendable { case basic, digest, bearer }

    private let home = Household()
    private var log: String { home.folder.path("log") }
    private static let passwords = ["s3cretword", "p@ss/wörd%"]

    private static func list(_ other: ScriptedServer) -> String {
        """
        <album><photo id="1" name="One" date="2006-01-01T00:00:00Z"><image kind="image" srcURL="p"/>
        <image kind="thumbnail" srcURL="t"/></photo>
        <photo id="2" name="Two" date="2007-01-01T00:00:00Z"><image kind="image" srcURL="away"/>
        <image kind="thumbnail" srcURL="\(other.url("/t"))"/></photo></album>
        """
    }

    /// A gallery that requires a password, with some photos elsewhere or redirected.
    private static func server(_ way: Way, _ password: String, _ other: ScriptedServer) throws -> ScriptedServer {
        let photo = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/thumbnails/owl.jpg")))
        let basic = "Basic " + Data("me:\(password)".utf8).base64EncodedString()
        return try ScriptedServer { request in
            let said = request.headers["authorization"] ?? ""
            let (isKnown, challenge) =
                switch way {
                case .basic: (said == basic, "Basic realm=\"photos\"")
                case .digest:
                    (said.hasPrefix("Digest "), "Digest realm=\"photos\", nonce=\"n\", qop=\"auth\", algorithm=MD5")
                case .bearer: (said == "Bearer \(password)", "Bearer realm=\"photos\"")
                }
            guard isKnown else { return .answer(401, headers: ["WWW-Authenticate: \(challenge)"]) }
            return switch request.path {
            case "/index.xml": .answer(200, list(other))
            case "/t": .answer(200, photo)
            case "/away": .answer(302, headers: ["Location: \(other.url("/taken"))"])
            default: .answer(404, "sorry")
            }
        }
    }

    /// The password and everything equivalent: digest hashes and each sent header.
    private static func secrets(_ password: String, _ server: ScriptedServer) throws -> [Secret] {
        let digests = server.requests.compactMap { $0.headers["authorization"] }
            .flatMap { $0.matches(of: #/response="([^"]+)"/#).map { String($0.output.1) } }
        return try ([password, MD5.text(of: "me:photos:\(password)")] + Set(digests)).map(Secret.init)
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// Makes a browser that records its arguments and environment. Returns the paths of both.
    private func browser() throws -> (path: String, pipe: String) {
        let pipe = home.folder.path("browser.pipe")
        mkfifo(pipe, 0o600)
        let path = try home.folder.writeProgram(
            "bin/browser", "#!/bin/sh\n{ echo \"$0\" \"$@\"; env; } > '\(pipe)'\n")
        return (path, pipe)
    }

    /// Returns arguments and environment of the running child processes.
    private func children(of process: pid_t) -> [String] {
        // The launcher is a copy of the program, with the command line that the user has typed.
        let launchers = Processes.children(of: process).filter {
            Processes.text("/proc/\($0)/cmdline") == Processes.text("/proc/\(process)/cmdline")
        }
        let others = Set(Processes.children(of: process)).subtracting(launchers)
        return (Array(others) + launchers.flatMap { Processes.children(of: $0) }).map { number in
            ["cmdline", "environ"].map { Processes.text("/proc/\(number)/\($0)") }.joined(separator: "\n")
        }
    }

    /// Every command that concerns a gallery, in this order, and some mistaken ones.
    private func commands(_ address: String) -> [[String]] {
        [
            ["sync", "--photos", "--log-level=debug", "--log-file=\(log)", address], ["list", address],
            ["list", "--json", address], ["info", "\(address)#1"], ["info", "--json", "\(address)#1", "\(address)#2"],
            ["info", "\(address)#1", "\(address)#none", "\(address)#2"], ["cache", "info"], ["cache", "info", address],
            ["cache", "check", address], ["export", address, home.folder.path("out")], ["list", address, address],
            [address, address], ["cache", address], ["cache", "clear", address, address], ["config", "list", address],
            ["info", address], ["info", address, address], ["show", address], ["publish", address], ["-C", address],
            ["sync", "--log-file", address + "/x", address], ["sync", "--netrc", address, address], ["--\(address)"],
            ["--sync-interval=\(address)", address], ["--colors", address], ["cache", "clear", address],
            ["list", address],
        ]
    }

    @Test(
        "BEHAVIOURS 5.10: a password never reaches the terminal or the disk", arguments: Way.allCases,
        Self.passwords)
    func nowhere(way: Way, password: String) throws {
        let other = try ScriptedServer { _ in .answer(404, "not here") }
        let server = try Self.server(way, password, other)
        let user = way == .bearer ? "" : "me:\(Self.encoded(password))@"
        let address = "http://\(user)127.0.0.1:\(server.port)/index.xml"
        let browser = try browser()
        let session = try TerminalSession(
            arguments: ["--log-level", "debug", "--log-file", log, address],
            environment: home.environment(["BROWSER": browser.path]))
        if way == .bearer {
            #expect(session.until(shows: "Token:"))
            session.type(password + "\r")
        }
        #expect(session.until { $0.text.contains("Updated:") && $0.text.contains("▀▀") })
        var written: [(place: String, text: [UInt8])] = children(of: session.process).map {
            ("a child", Array($0.utf8))
        }
        #expect(!written.isEmpty)
        // `y` and `o` pass on the photo's address.
        session.type("y")
        #expect(session.until(shows: "Sent the address to the clipboard."))
        session.type("o")
        let opened = try #require(FileHandle(forReadingAtPath: browser.pipe)).readDataToEndOfFile()
        #expect(opened.range(of: Data("127.0.0.1:\(server.port)/p\n".utf8)) != nil)
        written.append(("the browser", Array(opened)))
        // The test opens the failing photo, then every screen about the network.
        session.type("\r")
        #expect(session.until(shows: "not found"))
        for key in ["T", "L", "E", "I", "?", "\u{1B}"] {
            session.type(key)
            session.untilQuiet()
        }
        session.type("Q")
        #expect(session.wait() == 0)
        written.append(("the terminal", session.bytes))
        let copied = String(decoding: session.bytes, as: UTF8.self).matches(of: #/\x{1B}\]52;c;([^\x{7}]*)\x{7}/#)
            .compactMap { Data(base64Encoded: String($0.output.1)) }
        #expect(copied == [Data("http://127.0.0.1:\(server.port)/p".utf8)])
        written += copied.map { ("the clipboard", Array($0)) }

        let secrets = try Self.secrets(password, server)
        #expect(secrets.count >= (way == .digest ? 3 : 2))
        func look(sourceLocation: SourceLocation = #_sourceLocation) {
            let traces = secrets.flatMap { $0.traces(below: home.folder.path) }
            #expect(traces == [], sourceLocation: sourceLocation)
        }
        look()
        for words in commands(address) {
            let command = try Command(Built.vitrine, words, environment: home.environment())
            written.append((words.joined(separator: " "), command.output + Array(command.errors.utf8)))
        }
        look()
        #expect(!other.requests.isEmpty)
        for request in other.requests {
            let heard = [request.path] + request.headers.map { "\($0.key): \($0.value)" }
            written.append(("another host", Array(heard.joined(separator: "\n").utf8)))
        }
        for (place, text) in written {
            #expect(!text.isEmpty, "\(place)")
            #expect(secrets.flatMap { $0.traces(in: text) } == [], "\(place): \(String(decoding: text, as: UTF8.self))")
        }
        #expect(FileManager.default.contents(atPath: log)?.isEmpty == false)
    }

    @Test(
        "BEHAVIOURS 5.10: a proxy's password never does, whether it is down or refuses", arguments: [true, false],
        Self.passwords)
    func proxies(isGone: Bool, password: String) throws {
        let proxy = try ScriptedServer { _ in .answer(407, headers: ["Proxy-Authenticate: Basic realm=\"way out\""]) }
        if isGone { proxy.stop() }
        let place = "127.0.0.1:\(proxy.port)"
        let environment = home.environment(["http_proxy": "http://me:\(Self.encoded(password))@\(place)"])
        let words =
            isGone ? "the proxy http://\(place) cannot be reached" : "the proxy http://\(place) refuses the password"
        let address = "http://photos.test/index.xml"
        let session = try TerminalSession(
            arguments: ["--log-level", "debug", "--log-file", log, address], columns: 120, environment: environment)
        if !isGone {
            #expect(session.until(shows: "This proxy asks you to sign in"))
            session.type("\u{1B}")
        }
        #expect(session.until(shows: words), "\(session.screen.text)")
        for key in ["T", "L", "E", "?", "\u{1B}"] {
            session.type(key)
            session.untilQuiet()
        }
        session.type("Q")
        #expect(session.wait() == 0)
        let sync = try Command(Built.vitrine, ["sync", "--log-file=\(log)", address], environment: environment)
        #expect(sync.status == 1 && sync.errors == "vitrine: \(address): \(words)\n")
        let secret = Secret(password)
        #expect(secret.traces(in: session.bytes) == [] && secret.traces(in: sync.errors) == [])
        #expect(secret.traces(below: home.folder.path) == [])
        #expect(proxy.requests.isEmpty == isGone)
    }
}
