import Foundation
import Model
import TestSupport
import Testing

@testable import Secrets

@Suite struct SecretFileTests {
    private let folder = TestFolder()
    private let place: SignInPlace
    private let other: SignInPlace

    init() throws {
        place = .origin(try #require(Origin("https://example.org:8443")))
        other = .origin(try #require(Origin("https://example.org")))
    }

    private var path: String { folder.path("config/vitrine/passwords") }
    private var file: SecretFile { SecretFile(path: path) }

    @Test(
        "BEHAVIOURS 5.10: A password file returns what was stored in it",
        arguments: [
            SignIn.password(user: "me", password: "s3cret"), .password(user: "", password: ""),
            .password(user: "a\tb\nc", password: "100 % “ünï” \u{0}#"), .token("abc.def-ghi=="),
            .header(name: "x-api-key", value: "k3y\twith tab"),
            .accessKey(AccessKey(id: "AK", secret: "a/b+\t=", region: "garage")),
            .accessKey(AccessKey(id: "AK", secret: "", sessionToken: "t\n")),
        ])
    func roundTrip(signIn: SignIn) throws {
        #expect(try file.signIn(for: place) == nil)
        try file.keep(signIn, for: place)
        try file.keep(.token("other"), for: other)
        // A proxy with the name of a server has its own password.
        let proxy = SignInPlace.proxy("https://example.org")
        try file.keep(.token("proxy"), for: proxy)
        #expect(try file.signIn(for: place) == signIn && file.signIn(for: other) == .token("other"))
        #expect(try file.signIn(for: proxy) == .token("proxy"))
        // A new password replaces the old one.
        try file.keep(.password(user: "you", password: "x"), for: place)
        #expect(try file.signIn(for: place) == .password(user: "you", password: "x"))
        #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 4)
    }

    @Test("BEHAVIOURS 5.10: Only the owner can read the file, from its first byte on")
    func modes() throws {
        try file.keep(.token("x"), for: place)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600 && folder.entries("config/vitrine") == ["passwords"])
        let folderMode =
            try FileManager.default.attributesOfItem(atPath: folder.path("config"))[.posixPermissions] as? Int
        #expect(folderMode == 0o700)
    }

    @Test("A file that is not private is neither read nor written") func notPrivate() throws {
        try file.keep(.token("x"), for: place)
        for mode: mode_t in [0o640, 0o604, 0o622] {
            chmod(path, mode)
            #expect(throws: SecretError.notPrivate(path: path)) { try file.signIn(for: place) }
            #expect(throws: SecretError.notPrivate(path: path)) { try file.keep(.token("y"), for: place) }
        }
        chmod(path, 0o600)
        #expect(try file.signIn(for: place) == .token("x"))
        // A link, even to a private file.
        let link = SecretFile(path: folder.path("link"))
        symlink(path, folder.path("link"))
        #expect(throws: SecretError.notPrivate(path: folder.path("link"))) { try link.keep(.token("y"), for: place) }
        #expect(try file.signIn(for: place) == .token("x"))
        // A pipe must not block.
        mkfifo(folder.path("pipe"), 0o600)
        #expect(throws: SecretError.notPrivate(path: folder.path("pipe"))) {
            try SecretFile(path: folder.path("pipe")).signIn(for: place)
        }
    }

    @Test("The user's own lines are kept") func otherLines() throws {
        folder.write("config/vitrine/passwords", "# mine\nhttps://example.org:8443\tme\told\nnonsense\n")
        chmod(path, 0o600)
        #expect(try file.signIn(for: place) == .password(user: "me", password: "old"))
        #expect(try file.signIn(for: other) == nil)
        try file.keep(.password(user: "me", password: "new one"), for: place)
        #expect(
            try String(contentsOfFile: path, encoding: .utf8)
                == "# mine\nnonsense\nhttps://example.org:8443\tme\tnew%20one\n")
    }

    @Test("A file that cannot be written is an error") func unwritable() throws {
        folder.write("config", "a file in the way")
        let error = #expect(throws: SecretError.self) { try file.keep(.token("x"), for: place) }
        #expect(error?.description == "\(path): Not a directory.")
        #expect(try file.signIn(for: place) == nil)
    }

    @Test("Programs that store passwords at the same time lose none", .ownThread)
    func together() async throws {
        let places = try (0..<8).map { writer in
            try (0..<20).map { SignInPlace.origin(try #require(Origin("https://\(writer)-\($0).example.org"))) }
        }
        // Each opens the file for its own lock, so they exclude each other like separate programs.
        try await withThrowingTaskGroup { group in
            for places in places {
                group.addTask { [path] in
                    for place in places { try SecretFile(path: path).keep(.token(place.name), for: place) }
                }
            }
            try await group.waitForAll()
        }
        for place in places.joined() { #expect(try file.signIn(for: place) == .token(place.name)) }
        #expect(folder.entries("config/vitrine") == ["passwords"])
    }
}
