import Foundation
import TestSupport
import Testing

/// The command printed after quitting during a save, run by a real shell, saves exactly the rest.
@Suite(.ownThread, .serialized) struct ExportContinuationTests {
    private let home = Household()
    private let gate = Gate()
    private var saved: String { home.folder.path("my photos") }

    /// Serves three photos at once, and the others when the gate opens.
    private func serve(_ count: Int, title: (Int) -> String = { "Photo \($0)" }, id: (Int) -> String = { "\($0)" })
        throws
        -> ScriptedServer
    {
        let owl = FileManager.default.contents(atPath: Built.testGallery + "/thumbnails/owl.jpg").map(Array.init) ?? []
        let list = (0..<count).map { number in
            let date = String(format: "2006-01-01T%02d:%02d:%02dZ", number / 3600, number / 60 % 60, number % 60)
            return "<photo id=\"\(id(number))\" name=\"\(title(number))\" date=\"\(date)\">"
                + "<image kind=\"image\" srcURL=\"p/\(number)\"/></photo>"
        }.joined()
        return try ScriptedServer { [gate] request in
            guard request.path.hasPrefix("/p/") else { return .answer(200, "<album>\(list)</album>") }
            // A number at the end makes each picture different.
            let number = request.path.dropFirst(3)
            let picture: [ScriptedServer.Step] = .answer(200, owl + Array(number.utf8))
            return ["0", "1", "2"].contains(number) ? picture : [.hold(gate)] + picture
        }
    }

    /// Saves the marked photos, quits after three, and returns the output behind the screen.
    private func stop(
        _ url: String, count: Int, marking keys: [String], by signal: Int32? = nil, options: [String] = [],
        variables: [String: String] = [:]
    ) throws -> [String] {
        // The photos that the server holds back must not keep the others waiting.
        home.folder.write(".config/vitrine/config", "transfers = 8\n")
        let session = try TerminalSession(
            arguments: options + [url], columns: 100, environment: home.environment(variables))
        try #require(session.until { $0.text.contains("of \(count)") && $0.text.contains("Updated:") })
        for key in keys { session.type(key) }
        session.type("s")
        try #require(session.until(shows: " to:"))
        session.type("\u{15}~/my photos\r")
        try #require(session.until(shows: "saving 3 of"))
        if let signal {
            kill(session.process, signal)
            #expect(session.wait() == 128 + signal)
        } else {
            session.type("Q")
            try #require(session.until(shows: "s quit and stop"))
            session.type("s")
            #expect(session.wait() == 0)
        }
        let text = String(decoding: session.bytes, as: UTF8.self)
        let end = try #require(text.range(of: "vitrine: ", options: .backwards))
        return text[end.lowerBound...].replacingOccurrences(of: "\r", with: "").split(separator: "\n").map(String.init)
    }

    /// Runs the last line in a shell. Returns the photos requested then.
    ///
    /// - Parameter preparation: a command to run before.
    private func goOn(_ lines: [String], _ server: ScriptedServer, after preparation: String = ":") throws -> [String] {
        gate.open()
        let before = server.requests.count
        let line = try #require(lines.last)
        let command = try Command("/bin/sh", ["-c", "\(preparation) && \(line)"], environment: home.environment())
        #expect(command.status == 0, "\(line): \(command.errors)")
        return server.requests[before...].map(\.path).filter { $0.hasPrefix("/p/") }
    }

    private func expectSaved(_ names: [String]) {
        #expect(home.folder.entries("my photos") == names.sorted())
    }

    @Test(
        "BEHAVIOURS 5.8: the command for all photos of a gallery lists none and saves the rest",
        arguments: [nil, SIGTERM, SIGINT])
    func all(signal: Int32?) throws {
        let server = try serve(8)
        let url = server.url("/index.xml")
        let lines = try stop(url, count: 8, marking: ["\u{01}"], by: signal)
        #expect(lines.last == "\(Built.vitrine) export \(url) '\(saved)'")
        expectSaved((0..<3).map { "Photo \($0).jpg" })
        #expect(try goOn(lines, server).sorted() == (3..<8).map { "/p/\($0)" })
        expectSaved((0..<8).map { "Photo \($0).jpg" })
    }

    @Test("The command for some photos lists the rest, with any ids")
    func some() throws {
        let ids = ["0", "1", "2", "it's", "-n", "$HOME `id`", "a b", "7"]
        let server = try serve(8, id: { ids[$0] })
        let lines = try stop(server.url("/index.xml"), count: 8, marking: Array(repeating: " ", count: 7))
        #expect(lines.last?.hasSuffix(#" 'it'\''s' -n '$HOME `id`' 'a b'"#) == true, "\(lines)")
        #expect(try goOn(lines, server).sorted() == (3..<7).map { "/p/\($0)" })
        expectSaved((0..<7).map { "Photo \($0).jpg" })
    }

    @Test("Photos with the same title keep their numbers")
    func twins() throws {
        let server = try serve(8, title: { $0 == 1 || $0 == 4 ? "Twin" : "Photo \($0)" })
        let lines = try stop(server.url("/index.xml"), count: 8, marking: Array(repeating: " ", count: 6))
        #expect(try goOn(lines, server).sorted() == ["/p/3", "/p/4", "/p/5"])
        expectSaved([0, 2, 3, 5].map { "Photo \($0).jpg" } + ["Twin.jpg", "Twin (2).jpg"])
        let second = FileManager.default.contents(atPath: saved + "/Twin (2).jpg")
        #expect(second?.last == UInt8(ascii: "4"))
    }

    @Test("A script lists very many photos and removes itself when all are saved")
    func many() throws {
        let count = 1_200
        // All ids together are longer than the arguments that the system allows one command.
        let start = String(repeating: "a-rather-long-id-", count: 30)
        let server = try serve(count, id: { start + "\($0)" })
        // All photos but the last are marked.
        let lines = try stop(server.url("/index.xml"), count: count, marking: ["\u{01}", "G", " ", "g"])
        #expect(lines.last?.hasPrefix("sh /") == true, "\(lines)")
        #expect(lines.joined().utf8.count < 1_000)
        // "The total size is limited to 1/4 of the allowed stack size", here 512 KiB.
        #expect(try goOn(lines, server, after: "ulimit -S -s 2048").count == count - 4)
        #expect(home.folder.entries("my photos").count == count - 1)
        #expect(!home.folder.entries(".local/state/vitrine").contains { $0.hasSuffix(".sh") })
    }

    @Test(
        "Queries and control characters do not reach the terminal, and the command still works")
    func secrets() throws {
        let server = try serve(8, id: { $0 == 3 ? "a&#155;[2J" : "\($0)" })
        let lines = try stop(
            server.url("/index.xml?token=geheim"), count: 8, marking: Array(repeating: " ", count: 5),
            options: ["--transfers", "8"])
        #expect(!lines.joined().contains("geheim") && lines.last?.hasPrefix("sh ") == true, "\(lines)")
        let script = try #require(home.folder.entries(".local/state/vitrine").first { $0.hasSuffix(".sh") })
        let facts = try FileManager.default.attributesOfItem(atPath: home.folder.path(".local/state/vitrine/" + script))
        #expect(facts[.posixPermissions] as? Int == 0o600)
        #expect(try goOn(lines, server).sorted() == ["/p/3", "/p/4"])
        expectSaved((0..<5).map { "Photo \($0).jpg" })
    }

    @Test("On a terminal without UTF-8, a script has the names that the terminal cannot show")
    func withoutUnicode() throws {
        let server = try serve(8, id: { "ü\($0)" })
        let lines = try stop(
            server.url("/index.xml"), count: 8, marking: Array(repeating: " ", count: 5),
            variables: ["LC_ALL": "C"])
        #expect(lines.last?.hasPrefix("sh ") == true, "\(lines)")
        #expect(try goOn(lines, server).sorted() == ["/p/3", "/p/4"])
        expectSaved((0..<5).map { "Photo \($0).jpg" })
    }

    @Test("A password is not printed, and a message says that it is missing")
    func password() throws {
        let server = try serve(8)
        let url = server.url("/index.xml").replacingOccurrences(of: "://", with: "://me:geheim@")
        let lines = try stop(url, count: 8, marking: ["\u{01}"])
        #expect(!lines.joined().contains("geheim"))
        #expect(lines.contains { $0.contains("contains no password") && $0.contains("~/.netrc") }, "\(lines)")
    }
}
