import Foundation
import TestSupport
import Testing

/// A password that the user typed, and everything that the program writes.
@Suite(.ownThread, .serialized) struct SecretsTests {
    private let home = Household()
    private static let password = "s3cretword"
    private static let encoded = Data("me:\(password)".utf8).base64EncodedString()

    @Test("BEHAVIOURS 5.10: a password is written nowhere: not to the terminal, nor to the disk")
    func nowhere() throws {
        let server = try ScriptedServer { request in
            guard request.headers["authorization"] == "Basic \(Self.encoded)" else {
                return .answer(401, headers: ["WWW-Authenticate: Basic realm=\"photos\""])
            }
            guard request.path == "/index.xml" else { return .answer(404, "sorry") }
            return .answer(
                200,
                """
                <album><photo id="1" name="One" date="2006-01-01T00:00:00Z"><image kind="image" srcURL="p"/>
                <image kind="thumbnail" srcURL="t"/></photo></album>
                """)
        }
        let address = "http://me:\(Self.password)@127.0.0.1:\(server.port)/index.xml"
        let log = home.folder.path("log")
        let session = try TerminalSession(
            arguments: ["--log-level", "debug", "--log-file", log, address], environment: home.environment())
        #expect(session.until(shows: "Updated:"))
        // The photo, which cannot be had; then every screen that speaks of the network.
        session.type("\r")
        #expect(session.until(shows: "not found"))
        for key in ["T", "L", "E", "I", "?", "\u{1B}"] {
            session.type(key)
            session.untilQuiet()
        }
        session.type("Q")
        #expect(session.wait() == 0)
        let command = try home.vitrine("sync", "--log-level", "debug", "--log-file", log, address)
        let list = try home.vitrine("list", address)
        #expect(command.status != 2 && list.status == 0)

        let files = try #require(FileManager.default.enumerator(atPath: home.folder.path))
        var written: [(String, [UInt8])] = [
            ("the terminal", session.bytes), ("sync", command.output + Array(command.errors.utf8)),
            ("list", list.output + Array(list.errors.utf8)),
        ]
        for case let file as String in files {
            guard let bytes = FileManager.default.contents(atPath: home.folder.path(file)) else { continue }
            written.append((file, Array(bytes)))
        }
        #expect(written.count > 5 && written.contains { $0.0 == "log" && !$0.1.isEmpty })
        for (place, bytes) in written {
            for secret in [Self.password, Self.encoded] {
                #expect(Data(bytes).range(of: Data(secret.utf8)) == nil, "\(place)")
            }
        }
    }
}
