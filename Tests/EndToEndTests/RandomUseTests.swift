import Foundation
import Synchronization
import TestSupport
import Testing

/// Random keys, clicks and resizes, while the server behaves randomly.
@Suite(.ownThread, .serialized) struct RandomUseTests {
    /// The number of actions and runs; `VITRINE_ACTIONS=10000 VITRINE_SEEDS=20` before a release.
    private static let actions = number("VITRINE_ACTIONS") ?? 700
    private static let seeds = Array(1...UInt64(number("VITRINE_SEEDS") ?? 2))

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    /// The state that many connections share.
    private final class Chance: Sendable {
        private let numbers: Mutex<SeededNumbers>
        init(seed: UInt64) { numbers = Mutex(SeededNumbers(seed: seed)) }
        func next(_ count: Int) -> Int { numbers.withLock { Int.random(in: 0..<count, using: &$0) } }
    }

    private let home = Household()
    private let server: ScriptedServer

    private static let names = [
        "plain", "wide 日本語", "emoji 👩‍👩‍👧‍👦🏔", "marks e\u{301}\u{302}\u{303}", "\u{5E9}\u{5DC}\u{5D5}\u{5DD} right to left",
        "",
        "tab\tand\u{1B}[31mescape", "long " + String(repeating: "long ", count: 60), "photo\u{202E}gpj.exe", "ümläut",
    ]
    private static let keys: [String] =
        [
            "\u{1B}[A", "\u{1B}[B", "\u{1B}[C", "\u{1B}[D", "\u{1B}[5~", "\u{1B}[6~", "\u{1B}[H", "\u{1B}[F", "\r",
            "\t", "\u{1B}",
            "\u{7F}", "\u{4}", "\u{15}", "\u{6}", "\u{2}", "\u{C}", "\u{12}", "\u{1}", "\u{1B}OP",
            "\u{1B}[200~pasted\u{1B}[201~",
            "\u{1B}[I", "\u{1B}[O", "é", "日",
        ] + (0x20...0x7E).map { String(UnicodeScalar($0)) }

    init() throws {
        let picture = try [UInt8](Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/thumbnails/balloon.jpg")))
        let chance = Chance(seed: 7)
        server = try ScriptedServer { request in
            if request.path.hasSuffix(".xml") {
                guard chance.next(6) > 0 else { return .answer(503, "later") }
                let count = chance.next(60)
                let photos = (0..<count).map { index in
                    let name = Self.names[(index + chance.next(3)) % Self.names.count]
                        .replacingOccurrences(of: "\u{1B}", with: "").replacingOccurrences(of: "&", with: "&amp;")
                    return """
                        <photo id="\(index)" name="\(name)" date="20\(10 + index % 9)-0\(1 + index % 9)-01T00:00:00Z">
                        <image kind="image" srcURL="p/\(index)"/><image kind="thumbnail" srcURL="t/\(index)"/></photo>
                        """
                }
                return .answer(200, "<album>\(photos.joined())</album>")
            }
            switch chance.next(8) {
            case 0: return .answer(404, "gone")
            case 1: return [.reset]
            case 2: return .answer(200, "no picture")
            case 3:
                return [
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"), .send(Array(picture.prefix(300))),
                    .close,
                ]
            case 4: return .answer(500, "broken", headers: ["Retry-After: 1"])
            default: return .answer(200, picture)
            }
        }
    }

    private func start() throws -> TerminalSession {
        // The program runs in its own folder, where photos are saved by default.
        try TerminalSession(
            "/bin/sh",
            arguments: ["-c", "cd \"$HOME\" && exec \"$0\" \"$1\"", Built.vitrine, server.url("/index.xml")],
            environment: home.environment(["PATH": "/nowhere", "COLORTERM": "truecolor"]), echoes: false)
    }

    private func act(_ session: TerminalSession, _ numbers: inout SeededNumbers) {
        switch Int.random(in: 0..<20, using: &numbers) {
        case 0:
            session.resize(
                columns: Int.random(in: 1...200, using: &numbers), rows: Int.random(in: 1...60, using: &numbers))
        case 1...3:
            let button = [0, 0, 0, 32, 64, 65, 2, 1].randomElement(using: &numbers) ?? 0
            let (column, row) = (Int.random(in: 1...220, using: &numbers), Int.random(in: 1...70, using: &numbers))
            let end = Bool.random(using: &numbers) ? "M" : "m"
            session.type("\u{1B}[<\(button);\(column);\(row)\(end)")
        default: session.type(Self.keys.randomElement(using: &numbers) ?? "")
        }
    }

    @Test(arguments: seeds) func anything(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed &* 1_000)
        var session = try start()
        for action in 0..<Self.actions {
            act(session, &numbers)
            // Most input comes faster than frames.
            if action % 7 == 0 { session.until(seconds: 0.01) { _ in false } }
            guard session.hasEnded else { continue }
            // A random key quit the program.
            #expect([0, 130].contains(session.wait()), "seed \(seed), action \(action): \(session.screen.text)")
            session.expectRestored()
            session = try start()
        }
        #expect(session.screen.violations.isEmpty, "seed \(seed): \(session.screen.violations.prefix(3))")
        session.untilQuiet()
        // A random key may have quit the program just now.
        kill(session.process, SIGTERM)
        #expect([0, 130, 128 + SIGTERM].contains(session.wait()), "seed \(seed)")
        session.expectRestored()
        let check = try home.vitrine("cache", "check")
        #expect(check.status == 0, "seed \(seed): \(check.text)\(check.errors)")
    }
}
