import Foundation
import TestSupport
import Testing

/// Debug settings and focus events, from the command line to the server's requests.
@Suite(.ownThread, .serialized) struct DebugSettingsTests {
    private let home = Household()
    private let list =
        "<album>"
        + (1...4).map {
            "<photo id=\"\($0)\" name=\"Photo \($0)\" date=\"2006-01-01T00:00:0\($0)Z\">"
                + "<image kind=\"image\" srcURL=\"p/\($0)\"/><image kind=\"thumbnail\" srcURL=\"t/\($0)\"/></photo>"
        }.joined() + "</album>"

    private func server() throws -> ScriptedServer {
        let thumbnail = try Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/thumbnails/owl.jpg"))
        return try ScriptedServer { [list] request in
            request.path == "/index.xml" ? .answer(200, list) : .answer(200, [UInt8](thumbnail))
        }
    }

    /// The third and the sixth of the requests for a list and two thumbnails fail; the sixth is a retry.
    @Test("BEHAVIOURS 6.5: every third request fails before it is sent, and the failure is reported")
    func failures() throws {
        let server = try server()
        let sync = { try home.vitrine("sync", "--debug-failures=3", server.url("/index.xml")) }
        let first = try sync()
        #expect(first.status == 1 && first.text.contains("4 photos, 3 thumbnails"), "\(first.text)\(first.errors)")
        #expect(server.requests.map(\.path).sorted() == ["/index.xml", "/t/1", "/t/3", "/t/4"])
        // The requests are for the list and the two missing thumbnails.
        let second = try sync()
        #expect(second.status == 0 && second.text.contains("4 photos, 4 thumbnails"), "\(second.text)\(second.errors)")
        #expect(server.requests.dropFirst(4).map(\.path).sorted() == ["/index.xml", "/t/2"])
    }

    /// The delay of ten minutes makes the test independent of the machine's speed.
    @Test("BEHAVIOURS 6.5: a delayed transfer is not sent yet")
    func delay() throws {
        let server = try server()
        let session = try TerminalSession(
            arguments: ["--debug-delay=600000", server.url("/index.xml")], environment: home.environment())
        #expect(session.until(shows: "Updating"))
        session.untilQuiet()
        #expect(server.connectionCount == 0)
        session.type("Q")
        #expect(session.wait() == 0 && server.connectionCount == 0)
        // Without the delay, the request is sent before the first visible change.
        let other = try TerminalSession(arguments: [server.url("/index.xml")], environment: home.environment())
        #expect(other.until(shows: "1 of 4") && !server.requests.isEmpty)
    }

    @Test("BEHAVIOURS 6.5: settings of the network, the log and the limits change while Vitrine runs")
    func changes() throws {
        let server = try server()
        let session = try TerminalSession(
            arguments: ["--offline", server.url("/index.xml")], environment: home.environment())
        #expect(session.until(shows: "not in the cache"))
        session.type(":set log-exchanges 127.0.0.1\r")
        #expect(session.until(shows: "log-exchanges = 127.0.0.1"))
        session.type(":set transfers 1\r:set debug-delay 0\r:set offline no\r")
        #expect(session.until(shows: "1 of 4"))
        session.type("L")
        #expect(session.until(shows: "> GET /"))
        session.type("q")
        // The list and the four thumbnails; after them, only simulated failures follow. A thumbnail that the log hid in
        // the middle was requested twice.
        #expect(session.until { _ in Set(server.requests.map(\.path)).count == 5 }, "\(server.requests.map(\.path))")
        let lists = { server.requests.count { $0.path == "/index.xml" } }
        let count = lists()
        session.type(":set debug-failures 1\rr")
        #expect(session.until(shows: "simulated failure"))
        session.type(":set offline yes\r:set debug-failures 0\r")
        #expect(session.until(shows: "debug-failures = 0"))
        session.type("r")
        #expect(session.until(shows: ":set offline no") && lists() == count)
        session.type(":set log-file \(home.folder.path("log"))\r:set log-level debug\r:set cache-limit 1G\r")
        #expect(session.until(shows: "cache-limit = 1G"))
        session.type(":set log-file -\r")
        #expect(session.until(shows: "would cover the screen"))
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("The log goes to standard error if that is wanted")
    func standardError() throws {
        let run = try home.vitrine("sync", "--log-file", "-", "--log-level", "info", Built.testGallery)
        #expect(run.status == 0 && run.errors.contains(" sync ") && !run.text.contains(" sync "), "\(run.errors)")
    }

    @Test(
        "BEHAVIOURS 2.4: focus updates the gallery if that is set",
        arguments: [true, false])
    func focus(isSet: Bool) throws {
        let server = try server()
        #expect(try home.vitrine("sync", server.url("/index.xml")).status == 0)
        let lists = { server.requests.count { $0.path == "/index.xml" } }
        #expect(lists() == 1)
        let session = try TerminalSession(
            arguments: ["--sync-on-open=no", "--sync-on-focus=\(isSet ? "yes" : "no")", server.url("/index.xml")],
            environment: home.environment())
        #expect(session.until(shows: "1 of 4"))
        session.type("\u{1B}[O\u{1B}[I")
        if isSet { #expect(session.until { _ in lists() == 2 }) }
        // Vitrine has handled the focus event when the later key shows its effect.
        session.type("j")
        #expect(session.until(shows: "2 of 4"))
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(lists() == (isSet ? 2 : 1))
    }
}
