import Foundation
import TestSupport
import Testing

/// `vitrine sync` with the authentication of real servers and proxies: the results and messages.
@Suite(.ownThread) struct SyncSignInTests {
    private let home = Household()
    private static let everything = "2 photos, 2 thumbnails, 2 photos cached\n"

    private static func files() throws -> [String: [UInt8]] {
        let photos = (0..<2).map { number in
            """
            <photo id="\(number)" name="Photo \(number)" date="2006-07-30T07:47:17Z"><image kind="image" srcURL="p.jpg"/>
            <image kind="thumbnail" srcURL="t.jpg"/></photo>
            """
        }
        var files = ["index.xml": Array("<album>\(photos.joined())</album>".utf8)]
        for (name, folder) in [("p.jpg", "images"), ("t.jpg", "thumbnails")] {
            files[name] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(Built.testGallery)/\(folder)/owl.jpg")))
        }
        return files
    }

    /// The ways to pass user and password.
    private func naming(_ user: String, in address: String) -> String {
        address.replacingOccurrences(of: "://", with: "://\(user)@")
    }

    /// Fetches a gallery with an environment and options.
    private func sync(_ address: String, _ options: String..., environment: [String: String] = [:]) throws -> Command {
        try Command(
            Built.vitrine, ["sync", "--photos"] + options + [address], environment: home.environment(environment))
    }

    private func expectStored(_ command: Command, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(
            command.status == 0 && command.text.hasSuffix("\t" + Self.everything) && command.errors.isEmpty,
            "\(command.text)\(command.errors)", sourceLocation: sourceLocation)
        #expect(storedPhotos.count == 2, sourceLocation: sourceLocation)
    }

    /// Checks for a refusal with exactly these words, and for an empty cache.
    private func expectRefused(
        _ command: Command, _ address: String, _ words: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(command.status == 1 && command.output.isEmpty, sourceLocation: sourceLocation)
        #expect(command.errors == "vitrine: \(address): \(words)\n", sourceLocation: sourceLocation)
        let list = try home.vitrine("list", address)
        #expect(list.status == 1 && list.output.isEmpty && storedPhotos.isEmpty, sourceLocation: sourceLocation)
        #expect(list.errors.contains("has never fetched"), sourceLocation: sourceLocation)
    }

    /// Returns the photo files in all caches.
    private var storedPhotos: [String] {
        home.folder.entries(".cache/vitrine/galleries").flatMap {
            home.folder.entries(".cache/vitrine/galleries/\($0)/photos")
        }
    }

    @Test("BEHAVIOURS 5.10: an update authenticates by digest with Apache, or is refused")
    func digest() throws {
        let server = try LoopbackServer.apache(files: Self.files())
        let (address, host) = (server.url("/index.xml"), "127.0.0.1:\(server.port)")
        try expectRefused(try sync(address), address, "a password is needed for \(host)")
        // A user alone is no sign-in.
        try expectRefused(try sync(naming("me", in: address)), address, "a password is needed for \(host)")
        try expectRefused(
            try sync(naming("me:wrong", in: address)), address, "\(host) refuses the password")
        expectStored(try sync(naming("me:s3cret", in: address)))
    }

    @Test(
        "BEHAVIOURS 5.3: a command requests photos again that an earlier one could not fetch without a password",
        arguments: [true, false])
    func laterPassword(isExport: Bool) throws {
        let files = try Self.files()
        let server = try ScriptedServer { request in
            let name = String(request.path.dropFirst())
            guard let file = files[name] else { return .answer(404) }
            let isOpen = name != "p.jpg" || request.headers["authorization"] == "Basic bWU6czNjcmV0"
            return isOpen ? .answer(200, file) : .answer(401, headers: ["WWW-Authenticate: Basic realm=\"photos\""])
        }
        let refused = try sync(server.url("/index.xml"))
        #expect(refused.status == 1 && refused.text.contains("2 failed"), "\(refused.text)\(refused.errors)")
        let netrc = home.folder.write(".netrc", "machine 127.0.0.1 login me password s3cret\n")
        #expect(chmod(netrc, 0o600) == 0)
        if isExport {
            let export = try home.vitrine("export", server.url("/index.xml"), home.folder.path("out"))
            #expect(export.status == 0 && export.lines.count == 2, "\(export.text)\(export.errors)")
        } else {
            expectStored(try sync(server.url("/index.xml")))
        }
    }

    @Test("BEHAVIOURS 5.10: an update authenticates with a kept token, or is refused")
    func bearer() throws {
        let server = try LoopbackServer.nginx(files: Self.files())
        let (address, host) = (server.url("/bearer/index.xml"), "127.0.0.1:\(server.port)")
        try expectRefused(try sync(address), address, "a token is needed for \(host)")
        for token in ["wr0ng", "t0ken"] {
            let kept = home.folder.write(".config/vitrine/passwords", "http://\(host)\t\(token)\n")
            #expect(chmod(kept, 0o600) == 0)
            if token == "t0ken" {
                expectStored(try sync(address))
            } else {
                try expectRefused(try sync(address), address, "\(host) refuses the token")
            }
        }
    }

    @Test(
        "BEHAVIOURS 5.10: an update authenticates to a proxy, for pages and tunnels, or is refused",
        arguments: ["http", "https"])
    func proxy(scheme: String) throws {
        let authority = try TestAuthority()
        let server = try LoopbackServer.nginx(scheme == "https" ? authority.issue(.good) : nil, files: Self.files())
        let proxy = try LoopbackServer.tinyproxy(wantsPassword: true)
        let (address, trust) = (server.url("/index.xml", scheme: scheme), "--ca-file=\(authority.certificate)")
        let place = "http://127.0.0.1:\(proxy.port)"
        func sync(as user: String) throws -> Command {
            try self.sync(address, trust, environment: ["\(scheme)_proxy": "http://\(user)127.0.0.1:\(proxy.port)/"])
        }
        try expectRefused(try sync(as: ""), address, "the proxy \(place) wants a password")
        try expectRefused(try sync(as: "me:wrong@"), address, "the proxy \(place) refuses the password")
        expectStored(try sync(as: "me:s3cret@"))
    }
}
