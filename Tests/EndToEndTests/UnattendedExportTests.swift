import Foundation
import TestSupport
import Testing

/// Exports that continue after the browser has ended.
@Suite(.ownThread, .serialized) struct UnattendedExportTests {
    private let home = Household()
    private let gate = Gate()
    private var saved: [String] { home.folder.entries("my photos") }
    private static let password = "geheim"

    /// Serves three photos at once, and the others when the gate opens. The server has lost the photo `missing`.
    private func serve(_ count: Int, needsPassword: Bool = false, missing: Int? = nil) throws -> ScriptedServer {
        let owl = FileManager.default.contents(atPath: Built.testGallery + "/thumbnails/owl.jpg").map(Array.init) ?? []
        let list = (0..<count).map { number in
            // The title of a missing photo is long.
            let title = "Photo \(number)" + (number == missing ? String(repeating: "x", count: 2_000) : "")
            return "<photo id=\"\(number)\" name=\"\(title)\" date=\"2006-01-01T00:00:00Z\">"
                + "<image kind=\"image\" srcURL=\"p/\(number)\"/></photo>"
        }.joined()
        let right = "Basic " + Data("me:\(Self.password)".utf8).base64EncodedString()
        return try ScriptedServer { [gate] request in
            if needsPassword, request.headers["authorization"] != right {
                return .answer(401, "", headers: ["WWW-Authenticate: Basic realm=\"photos\""])
            }
            guard request.path.hasPrefix("/p/") else { return .answer(200, "<album>\(list)</album>") }
            let number = request.path.dropFirst(3)
            // A number at the end makes each picture different.
            let isMissing = missing.map { String($0) == number } ?? false
            let picture: [ScriptedServer.Step] = isMissing ? .answer(404, "") : .answer(200, owl + Array(number.utf8))
            return ["0", "1", "2"].contains(number) ? picture : [.hold(gate)] + picture
        }
    }

    /// Opens a gallery, and saves all its photos until three are saved.
    private func begin(_ url: String, count: Int, more: [String: String] = [:]) throws -> TerminalSession {
        let session = try TerminalSession(arguments: [url], columns: 100, environment: home.environment(more))
        try #require(session.until { $0.text.contains("of \(count)") && $0.text.contains("Updated:") })
        session.type("\u{01}s")
        try #require(session.until(shows: " to:"))
        session.type("\u{15}~/my photos\r")
        try #require(session.until(shows: "saving 3 of"))
        return session
    }

    /// Quits, and lets exports continue.
    private func leave(_ session: TerminalSession) throws {
        session.type("Q")
        try #require(session.until(shows: "b quit and continue the export in the background"))
        session.type("b")
        #expect(session.wait() == 0)
        #expect(String(decoding: session.bytes, as: UTF8.self).contains("Vitrine shows the result at its next start."))
    }

    /// Starts the browser and returns whether it shows a text.
    private func nextStart(shows text: String) throws -> Bool {
        let session = try TerminalSession(
            arguments: [Built.testGallery], columns: 200, environment: home.environment())
        defer {
            session.type("Q")
            #expect(session.wait() == 0)
        }
        return session.until(shows: text)
    }

    @Test("BEHAVIOURS 5.8: An export of 500 photos continues after the user quits, and the next start reports it")
    func quitting() throws {
        let server = try serve(500)
        let session = try begin(server.url("/index.xml"), count: 500)
        try leave(session)
        #expect(try nextStart(shows: "Vitrine is saving photos of"))
        gate.open()
        #expect(home.waitForPrograms())
        #expect(saved.count == 500)
        #expect(server.requests.filter { $0.path.hasPrefix("/p/") }.count <= 500 + 16)
        #expect(try nextStart(shows: "Saved 500 photos to \(home.folder.path("my photos"))."))
        #expect(home.folder.entries(".local/state/vitrine/reports").isEmpty)
    }

    @Test("BEHAVIOURS 5.8: An export continues after its terminal was closed")
    func closedTerminal() throws {
        let server = try serve(20)
        let session = try begin(server.url("/index.xml"), count: 20)
        session.hangUp()
        #expect(session.wait() == 128 + SIGHUP)
        gate.open()
        #expect(home.waitForPrograms())
        #expect(saved.count == 20)
        #expect(try nextStart(shows: "Saved 20 photos to"))
    }

    @Test("If the process that continues an export is killed, the next start says so")
    func killed() throws {
        let server = try serve(20)
        let session = try begin(server.url("/index.xml"), count: 20)
        try leave(session)
        let worker = try #require(home.programs.first { $0.words.contains("--unattended") })
        kill(worker.number, SIGKILL)
        gate.open()
        #expect(home.waitForPrograms())
        let script = try #require(home.folder.entries(".local/state/vitrine").first { $0.hasSuffix(".sh") })
        #expect(try nextStart(shows: "Vitrine was interrupted while it saved photos of"))
        // The notice names a script that continues the export.
        let path = home.folder.path(".local/state/vitrine/" + script)
        #expect(try Command("/bin/sh", [path], environment: home.environment()).status == 0)
        #expect(saved.count == 20)
    }

    @Test("If the server lacks a photo, the report names the script that continues the export")
    func missingPhoto() throws {
        let server = try serve(8, missing: 5)
        try leave(begin(server.url("/index.xml"), count: 8))
        gate.open()
        #expect(home.waitForPrograms())
        #expect(saved.count == 7)
        let script = try #require(home.folder.entries(".local/state/vitrine").first { $0.hasSuffix(".sh") })
        let report = try #require(
            home.folder.entries(".local/state/vitrine/reports").first { $0.hasSuffix(".report") })
        let text = try String(
            contentsOfFile: home.folder.path(".local/state/vitrine/reports/" + report), encoding: .utf8)
        #expect(text.contains("To continue, run: sh ") && text.contains(script), "\(text)")
    }

    @Test("Several exports continue, each with a report of its own")
    func several() throws {
        let server = try serve(20)
        let session = try begin(server.url("/index.xml"), count: 20)
        session.type("\u{01}s")
        try #require(session.until(shows: " to:"))
        session.type("\u{15}~/others\r")
        try #require(session.until { $0.text.contains("of 40") })
        try leave(session)
        gate.open()
        #expect(home.waitForPrograms())
        #expect(saved.count == 20 && home.folder.entries("others").count == 20)
        let reports = home.folder.entries(".local/state/vitrine/reports").filter { $0.hasSuffix(".report") }
        #expect(reports.count == 2)
        #expect(!home.folder.entries(".local/state/vitrine").contains { $0.hasSuffix(".sh") })
    }

    @Test("If no report can be kept, Vitrine prints the command that continues the export")
    func noReports() throws {
        let server = try serve(20)
        let session = try begin(server.url("/index.xml"), count: 20)
        // A file in place of the folder.
        home.folder.write(".local/state/vitrine/reports", "")
        session.type("Q")
        try #require(session.until(shows: "b quit and continue the export in the background"))
        session.type("b")
        #expect(session.wait() == 0)
        let said = String(decoding: session.bytes, as: UTF8.self)
        #expect(said.contains("does not answer") && said.contains("To save the remaining photos, run:"))
        gate.open()
        #expect(home.waitForPrograms())
        #expect(saved.count < 20)
    }

    @Test("Settings of the browser hold for the process that continues")
    func settings() throws {
        let server = try serve(20)
        let session = try begin(server.url("/index.xml"), count: 20)
        session.type(":set transfers 3\r")
        try #require(session.until(shows: "transfers = 3"))
        try leave(session)
        let worker = try #require(home.programs.first { $0.words.contains("--unattended") })
        #expect(worker.words.contains("--transfers=3"))
        gate.open()
        #expect(home.waitForPrograms())
        #expect(saved.count == 20)
    }

    @Test("A password reaches the new process, and no list of processes; the desktop gets the result")
    func password() throws {
        let server = try serve(8, needsPassword: true)
        let url = server.url("/index.xml").replacingOccurrences(of: "://", with: "://me:\(Self.password)@")
        let tools = TestFolder()
        tools.write("notify-send", "#!/bin/sh\nfor word; do echo \"$word\"; done >'\(tools.path("shown"))'\n")
        chmod(tools.path("notify-send"), 0o755)
        let session = try begin(
            url, count: 8,
            more: ["PATH": "\(tools.path):/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"])
        try leave(session)
        // The browser and its launcher, which may be ending, have the user's own command line.
        let words = home.programs.filter { !$0.words.contains(url) }.flatMap(\.words)
        #expect(!words.isEmpty && !words.contains { $0.contains(Self.password) })
        gate.open()
        #expect(home.waitForPrograms())
        #expect(saved.count == 8)
        let shown = try String(contentsOfFile: tools.path("shown"), encoding: .utf8).split(separator: "\n")
        #expect(shown.suffix(2) == ["Vitrine", "All photos are saved."])
    }

    @Test("Started by hand, the process says that users run another command")
    func startedByAUser() throws {
        let command = try home.vitrine("export", "--unattended")
        #expect(command.status == 2 && command.errors.contains("vitrine export GALLERY FOLDER"), "\(command.errors)")
    }
}
