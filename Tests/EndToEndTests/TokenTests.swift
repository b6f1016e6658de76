import Foundation
import TestSupport
import Testing

/// Tokens in addresses' queries, in everything that the program writes and prints.
@Suite(.ownThread) struct TokenTests {
    private let home = Household()
    private let secret = Secret("s3cretword")

    /// A gallery that requires a token for everything; one photo is missing, and one entry is invalid.
    private func server() throws -> ScriptedServer {
        let photo = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/thumbnails/owl.jpg")))
        let list = """
            <album><photo id="1" name="One" date="2006-01-01T00:00:00Z">
            <image kind="image" srcURL="p?X-Amz-Signature=\(secret.text)&amp;w=1"/>
            <image kind="thumbnail" srcURL="t?sig=\(secret.text)"/></photo>
            <photo id="2" name="Two" date="2007-01-01T00:00:00Z"><image kind="image" srcURL="gone?key=\(secret.text)"/>
            <image kind="thumbnail" srcURL="http://127.0.0.1:99999/?token=\(secret.text)"/></photo></album>
            """
        return try ScriptedServer { [secret] request in
            guard request.path.contains("=\(secret.text)") else { return .answer(403) }
            if request.path.hasPrefix("/index.xml") { return .answer(200, list) }
            return request.path.hasPrefix("/gone") ? .answer(404) : .answer(200, photo)
        }
    }

    @Test(
        "BEHAVIOURS 5.10: a token is sent, and stored only where a later fetch needs it")
    func tokens() throws {
        let server = try server()
        let address = server.url("/index.xml?page=1&access_token=\(secret.text)")
        let log = home.folder.path("log")
        home.folder.write(".config/vitrine/config", "log-level = debug\nlog-file = \(log)\n")
        let commands = try [
            ["sync", "--photos", address], ["list", address], ["list", "--json", address],
            ["info", "\(address)#1"], ["info", "--json", "\(address)#1", "\(address)#2", "\(address)#3"],
            ["cache", "info"], ["cache", "check"], ["export", address, home.folder.path("out")],
            ["sync", server.url("/else?token=\(secret.text)"), "http://127.0.0.1:1/?token=\(secret.text)"],
            ["sync", "relative:?token=\(secret.text)"], ["cache", "info", "\(address)x"], [address, "x", address],
        ].map { try Command(Built.vitrine, $0, environment: home.environment()) }
        #expect(commands[0].text.contains("?page=1&access_token=…\t") && commands[3].text.contains("access_token=…"))
        for command in commands {
            #expect(secret.traces(in: command.output) == [], "\(command.text)")
            #expect(secret.traces(in: command.errors) == [], "\(command.errors)")
        }
        #expect(secret.traces(in: try String(contentsOfFile: log, encoding: .utf8)) == [])
        // Both requests had the full query.
        #expect(server.requests.filter { $0.path.hasPrefix("/p?X-Amz-Signature=s3cretword&w=1") }.count == 1)
        let traces = secret.traces(below: home.folder.path)
        #expect(
            !traces.isEmpty
                && traces.allSatisfy { $0.contains(".cache/vitrine/galleries/") && $0.contains("gallery.sqlite") })
    }
}
