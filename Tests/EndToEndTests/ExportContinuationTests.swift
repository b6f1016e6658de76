import Foundation
import TestSupport
import Testing

/// Quitting while photos are being saved: what is printed then, run by a real shell, saves the rest and nothing else.
@Suite(.ownThread, .serialized) struct ExportContinuationTests {
    private let home = Household()
    private let gate = Gate()
    private var saved: String { home.folder.path("my photos") }

    /// Serves photos: the first three come at once, and the others when the gate is open.
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
            // Each is a picture of its own: behind its end there is a number.
            let number = request.path.dropFirst(3)
            let picture: [ScriptedServer.Step] = .answer(200, owl + Array(number.utf8))
            return ["0", "1", "2"].contains(number) ? picture : [.hold(gate)] + picture
        }
    }

    /// Saves what the keys mark, quits when three are there, and returns what was printed behind the screen.
    private func stop(
        _ url: String, count: Int, marking keys: [String], by signal: Int32? = nil, options: [String] = []
    ) throws -> [String] {
        let session = try TerminalSession(arguments: options + [url], columns: 100, environment: home.environment())
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
            try #require(session.until(shows: "Quit all the same?"))
            session.type("y")
            #expect(session.wait() == 0)
        }
        let text = String(decoding: session.bytes, as: UTF8.self)
        let end = try #require(text.range(of: "vitrine: ", options: .backwards))
        return text[end.lowerBound...].replacingOccurrences(of: "\r", with: "").split(separator: "\n").map(String.init)
    }

    /// Runs the last line with a shell. Returns which photos the server was asked for then.
    private func goOn(_ lines: [String], _ server: ScriptedServer) throws -> [String] {
        gate.open()
        let before = server.requests.count
        let line = try #require(lines.last)
        let command = try Command("/bin/sh", ["-c", line], environment: home.environment())
        #expect(command.status == 0, "\(line): \(command.errors)")
        return server.requests[before...].map(\.path).filter { $0.hasPrefix("/p/") }
    }

    private func expectSaved(_ names: [String]) {
        #expect(home.folder.entries("my photos") == names.sorted())
    }

    @Test(
        "BEHAVIOURS 5.8: all photos of a gallery: the command that is printed names none, and saves the rest",
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

    @Test("Some photos: the command names those that are left, whatever their ids hold")
    func some() throws {
        let ids = ["0", "1", "2", "it's", "-n", "$HOME `id`", "a b", "7"]
        let server = try serve(8, id: { ids[$0] })
        let lines = try stop(server.url("/index.xml"), count: 8, marking: Array(repeating: " ", count: 7))
        #expect(lines.last?.hasSuffix(#" 'it'\''s' -n '$HOME `id`' 'a b'"#) == true, "\(lines)")
        #expect(try goOn(lines, server).sorted() == (3..<7).map { "/p/\($0)" })
        expectSaved((0..<7).map { "Photo \($0).jpg" })
    }

    @Test("Photos of one title keep their numbers")
    func twins() throws {
        let server = try serve(8, title: { $0 == 1 || $0 == 4 ? "Twin" : "Photo \($0)" })
        let lines = try stop(server.url("/index.xml"), count: 8, marking: Array(repeating: " ", count: 6))
        #expect(try goOn(lines, server).sorted() == ["/p/3", "/p/4", "/p/5"])
        expectSaved([0, 2, 3, 5].map { "Photo \($0).jpg" } + ["Twin.jpg", "Twin (2).jpg"])
        let second = FileManager.default.contents(atPath: saved + "/Twin (2).jpg")
        #expect(second?.last == UInt8(ascii: "4"))
    }

    @Test("Very many photos are named in a script, which is gone when all are saved")
    func many() throws {
        let count = 1_200
        let server = try serve(count, id: { "a-rather-long-id-\($0)" })
        // All but the last.
        let lines = try stop(server.url("/index.xml"), count: count, marking: ["\u{01}", "G", " ", "g"])
        #expect(lines.last?.hasPrefix("sh /") == true, "\(lines)")
        #expect(lines.joined().utf8.count < 1_000)
        #expect(try goOn(lines, server).count == count - 4)
        #expect(home.folder.entries("my photos").count == count - 1)
        #expect(!home.folder.entries(".local/state/vitrine").contains { $0.hasSuffix(".sh") })
    }

    @Test(
        "The query of an address and control characters do not reach the terminal, and the command works all the same")
    func secrets() throws {
        let server = try serve(8, id: { $0 == 3 ? "a&#155;[2J" : "\($0)" })
        let lines = try stop(
            server.url("/index.xml?token=geheim"), count: 8, marking: Array(repeating: " ", count: 5),
            options: ["--transfers", "4"])
        #expect(!lines.joined().contains("geheim") && lines.last?.hasPrefix("sh ") == true, "\(lines)")
        let script = try #require(home.folder.entries(".local/state/vitrine").first { $0.hasSuffix(".sh") })
        let facts = try FileManager.default.attributesOfItem(atPath: home.folder.path(".local/state/vitrine/" + script))
        #expect(facts[.posixPermissions] as? Int == 0o600)
        #expect(try goOn(lines, server).sorted() == ["/p/3", "/p/4"])
        expectSaved((0..<5).map { "Photo \($0).jpg" })
    }

    @Test("A password is not printed, and that it is missing is said")
    func password() throws {
        let server = try serve(8)
        let url = server.url("/index.xml").replacingOccurrences(of: "://", with: "://me:geheim@")
        let lines = try stop(url, count: 8, marking: ["\u{01}"])
        #expect(!lines.joined().contains("geheim"))
        #expect(lines.contains { $0.contains("has no password") && $0.contains("~/.netrc") }, "\(lines)")
    }
}
