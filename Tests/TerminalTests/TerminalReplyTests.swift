import Cells
import TestSupport
import Testing

@testable import Terminal

/// Replies are distinguished from typed keys.
@Suite struct TerminalReplyTests {
    /// Replies and their meaning.
    static let replies: [(text: String, reply: TerminalReply)] = [
        ("\u{1B}P>|kitty(0.35.2)\u{1B}\\", .version("kitty(0.35.2)")),
        ("\u{1B}P>|tmux 3.3a\u{1B}\\", .version("tmux 3.3a")),
        ("\u{1B}_Gi=31;OK\u{1B}\\", .kitty(number: 31, isOK: true)),
        ("\u{1B}_Gi=31,p=2;ENOENT:nothing there\u{1B}\\", .kitty(number: 31, isOK: false)),
        ("\u{1B}[6;20;10t", .cellSize(width: 10, height: 20)),
        ("\u{1B}[4;480;800t", .areaSize(width: 800, height: 480)),
        ("\u{1B}]11;rgb:1e1e/1e1e/2e2e\u{1B}\\", .background(red: 0x1E, green: 0x1E, blue: 0x2E)),
        ("\u{1B}]11;rgb:ff/80/0\u{7}", .background(red: 255, green: 128, blue: 0)),
        ("\u{1B}]11;rgba:ffff/ffff/0000/8000\u{7}", .background(red: 255, green: 255, blue: 0)),
        ("\u{1B}[?2026;2$y", .mode(2026, state: 2)),
        ("\u{1B}[?62;4;22c", .attributes([62, 4, 22])),
        ("\u{1B}[?6c", .attributes([6])),
        ("\u{1B}[?1;0;1024S", .sixelColours(1024)),
    ]

    /// Sequences that look like replies but answer no query.
    static let nonsense = [
        "\u{1B}P>!|7\u{1B}\\", "\u{1B}P1$r0m\u{1B}\\", "\u{1B}_Ga=q\u{1B}\\", "\u{1B}_Gi=x;OK\u{1B}\\",
        "\u{1B}_hello\u{1B}\\", "\u{1B}[6;20t", "\u{1B}[8;24;80t", "\u{1B}[?2026$y", "\u{1B}[>1;10;0c", "\u{1B}[=1c",
        "\u{1B}]11;rgb:xx/00/00\u{1B}\\", "\u{1B}]11;rgb:00000/00/00\u{7}", "\u{1B}]11;rgb:0/0\u{7}",
        "\u{1B}]10;rgb:00/00/00\u{7}", "\u{1B}]52;c;eA==\u{7}", "\u{1B}[?2;0;800;600S", "\u{1B}[?1;3;0S",
        "\u{1B}^x\u{1B}\\",
    ]

    @Test("Replies are parsed", arguments: replies) func parsing(text: String, reply: TerminalReply) {
        var parser = InputParser()
        #expect(parser.parse(Array(text.utf8)).isEmpty)
        #expect(parser.takeReplies() == [reply])
        #expect(parser.takeReplies().isEmpty)
    }

    @Test("Nonsense is not a reply", arguments: nonsense) func nonsenseText(text: String) {
        var parser = InputParser()
        #expect(parser.parse(Array(text.utf8)).isEmpty)
        #expect(parser.takeReplies().isEmpty)
    }

    /// Each reply stands among keys and is split at every position. Only the typed keys come out, and the parser reports
    /// each incomplete sequence.
    @Test("Replies are never keys, wherever they are split") func splitReplies() {
        let texts = Self.replies.map(\.text) + Self.nonsense
        let typed: [InputEvent] = [.key(.character("a")), .key(Key(.up)), .key(.character("b"))]
        for text in texts {
            let bytes = Array("a\u{1B}[A\(text)b".utf8)
            for cut in 0...bytes.count {
                var parser = InputParser()
                var events = parser.parse(bytes[..<cut])
                if cut > 6, cut < bytes.count - 1 { #expect(parser.waiting == .sequence, "\(text) cut at \(cut)") }
                events += parser.parse(bytes[cut...])
                #expect(events == typed, "\(text) cut at \(cut)")
                #expect(parser.waiting == .nothing)
            }
            var parser = InputParser()
            #expect(bytes.flatMap { parser.parse([$0]) } == typed, "\(text)")
        }
    }

    /// All replies in random order and pieces, with typed keys in between.
    @Test("Replies are separated from typed keys") func mixed() {
        var numbers = SeededNumbers(seed: 11)
        let keys: [(text: String, event: InputEvent)] = [
            ("q", .key(.character("q"))), ("é", .key(.character("é"))), ("\u{1B}[B", .key(Key(.down))),
            ("\r", .key(Key(.enter))), ("\u{1B}[I", .focus(true)), ("\u{1B}x", .key(Key(.character("x"), .alt))),
            ("\u{1B}[200~q\u{1B}[?6c\u{1B}[201~", .paste("q\u{1B}[?6c")),
        ]
        for _ in 0..<2_000 {
            var (bytes, events, replies): ([UInt8], [InputEvent], [TerminalReply]) = ([], [], [])
            for _ in 0..<Int.random(in: 1...8, using: &numbers) {
                if Bool.random(using: &numbers), let key = keys.randomElement(using: &numbers) {
                    bytes += key.text.utf8
                    events.append(key.event)
                } else if let reply = Self.replies.randomElement(using: &numbers) {
                    bytes += reply.text.utf8
                    replies.append(reply.reply)
                }
            }
            var parser = InputParser()
            var (foundEvents, foundReplies): ([InputEvent], [TerminalReply]) = ([], [])
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...6, using: &numbers)
                foundEvents += parser.parse(rest.prefix(count))
                foundReplies += parser.takeReplies()
                rest = rest.dropFirst(count)
            }
            #expect(foundEvents == events && foundReplies == replies, "\(bytes)")
        }
    }

    @Test("Names are short and harmless") func names() {
        var parser = InputParser()
        _ = parser.parse(Array("\u{1B}P>|a\u{8}\u{9B}\(String(repeating: "x", count: 500))\u{1B}\\".utf8))
        guard case .version(let name) = parser.takeReplies().first else {
            Issue.record("no name")
            return
        }
        #expect(name.hasPrefix("a␈") && name.count == TerminalReply.maximumName)
        #expect(name.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
    }

    @Test("The number of stored replies is limited") func limit() {
        var parser = InputParser()
        let events = parser.parse((0..<5_000).flatMap { _ in Array("\u{1B}[?6c".utf8) } + Array("q".utf8))
        #expect(events == [.key(.character("q"))])
        #expect(parser.takeReplies().count == 64)
    }

    /// Alt with a character that begins a reply.
    @Test("Keys that begin like replies are keys") func keys() {
        for introducer in "[]P_^XO" {
            var parser = InputParser()
            #expect(parser.parse(Array("\u{1B}\(introducer)".utf8)).isEmpty && parser.waiting == .key)
            #expect(parser.parsePending() == [.key(Key(.character(introducer), .alt))])
        }
    }
}
