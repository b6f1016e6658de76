import Cells
import Testing

@testable import Terminal

@Suite struct InputParserTests {
    private func events(_ text: String, terminfo: [String: String] = [:]) -> [InputEvent] {
        events(Array(text.utf8), terminfo: terminfo)
    }

    private func events(_ bytes: [UInt8], terminfo: [String: String] = [:]) -> [InputEvent] {
        var parser = InputParser(KeySequences { terminfo[$0].map { Array($0.utf8) } })
        return parser.parse(bytes) + parser.parsePending()
    }

    private func keys(_ text: String) -> [Key] {
        events(text).compactMap { if case .key(let key) = $0 { key } else { nil } }
    }

    @Test("Characters are keys") func characters() {
        #expect(keys("aQ/日é") == "aQ/日é".map { .character($0) })
        #expect(keys(" ") == [.character(" ")])
    }

    @Test("Control characters are keys") func controls() {
        #expect(keys("\r\n\t\u{7F}\u{8}") == [Key(.enter), Key(.enter), Key(.tab), Key(.backspace), Key(.backspace)])
        #expect(keys("\u{6}\u{2}\u{C}\u{1A}") == [.control("f"), .control("b"), .control("l"), .control("z")])
        #expect(keys("\u{0}") == [.control(" ")])
    }

    @Test(
        "Known sequences are keys",
        arguments: [
            ("\u{1B}[A", Key(.up)), ("\u{1B}OA", Key(.up)), ("\u{1B}[1;5C", Key(.right, .control)),
            ("\u{1B}[H", Key(.home)), ("\u{1B}[4~", Key(.end)), ("\u{1B}[5~", Key(.pageUp)),
            ("\u{1B}[6;3~", Key(.pageDown, .alt)),
            ("\u{1B}[Z", Key(.tab, .shift)), ("\u{1B}OP", Key(.function(1))), ("\u{1B}[15~", Key(.function(5))),
            ("\u{1B}[24~", Key(.function(12))), ("\u{1B}[3~", Key(.delete)), ("\u{1B}x", Key(.character("x"), .alt)),
            ("\u{1B}é", Key(.character("é"), .alt)), ("\u{1B}\r", Key(.enter, .alt)), ("\u{1B}", Key(.escape)),
            ("\u{1B}[1;2P", Key(.function(1), .shift)), ("\u{1B}OM", Key(.enter)),
            ("\u{1B}O2Q", Key(.function(2), .shift)), ("\u{1B}O5P", Key(.function(1), .control)),
            ("\u{1B}O1;2P", Key(.function(1), .shift)), ("\u{1B}O5D", Key(.left, .control)),
        ])
    func sequences(text: String, key: Key) {
        #expect(keys(text) == [key])
    }

    @Test("The keypad types characters in application mode") func keypad() {
        let letters = "jklmnopqrstuvwxyX"
        #expect(keys(letters.map { "\u{1B}O\($0)" }.joined()) == "*+,-./0123456789=".map { .character($0) })
        #expect(keys("\u{1B}Oi\u{1B}Oz").isEmpty)
    }

    @Test("Terminfo takes precedence") func terminfo() {
        #expect(events("\u{1B}[25~", terminfo: ["kf1": "\u{1B}[25~"]) == [.key(Key(.function(1)))])
        #expect(events("\u{1B}[[A", terminfo: ["kf1": "\u{1B}[[A"]) == [.key(Key(.function(1)))])
        // A key of rxvt with Shift. The next key is not a part of it.
        #expect(
            events("\u{1B}[3$q", terminfo: ["kDC": "\u{1B}[3$"]) == [
                .key(Key(.delete, .shift)), .key(.character("q")),
            ])
    }

    @Test("Split sequences are joined") func pieces() {
        var parser = InputParser()
        var all: [InputEvent] = []
        for byte in "\u{1B}[1;5A日\u{1B}[<0;3;4M\u{1B}O2Q".utf8 { all += parser.parse([byte]) }
        #expect(
            all == [
                .key(Key(.up, .control)), .key(.character("日")), .mouse(.init(.press(1), at: Point(column: 2, row: 3))),
                .key(Key(.function(2), .shift)),
            ])
    }

    @Test("Escape is distinguished from Alt") func escapeThenKey() {
        var parser = InputParser()
        #expect(parser.parse([0x1B]).isEmpty && parser.waiting == .key)
        #expect(parser.parsePending() == [.key(Key(.escape))])
        #expect(parser.parse(Array("q".utf8)) == [.key(.character("q"))])
        #expect(keys("\u{1B}\u{1B}[A") == [Key(.escape), Key(.up)])
    }

    @Test(
        "Replies are never keys",
        arguments: [
            "\u{1B}[?1;2;4c", "\u{1B}[>41;354;0c", "\u{1B}[?2026;2$y", "\u{1B}[6;20;10t", "\u{1B}[24;80R",
            "\u{1B}]11;rgb:0000/0000/0000\u{1B}\\", "\u{1B}]11;rgb:0000/0000/0000\u{7}", "\u{1B}P>|xterm(379)\u{1B}\\",
            "\u{1B}_Gi=1;OK\u{1B}\\", "\u{1B}[?62;22c", "\u{1B}[0n", "\u{1B}^quit\u{1B}\\", "\u{1B}Xqqq\u{1B}\\",
            "\u{1B}[99999999999999999999q", "\u{1B}[1;2;3;4;5;6;7q",
        ])
    func replies(text: String) {
        #expect(events(text).isEmpty)
        // Between keys, and split at any position.
        let bytes = Array("a\(text)b".utf8)
        for cut in 0...bytes.count {
            var parser = InputParser()
            let all = parser.parse(bytes[..<cut]) + parser.parse(bytes[cut...])
            #expect(all == [.key(.character("a")), .key(.character("b"))])
        }
    }

    @Test("A string without an end does not block the keyboard") func unterminatedString() {
        #expect(events("\u{1B}]0;lost\rq") == [.key(Key(.enter)), .key(.character("q"))])
        #expect(keys("\u{1B}[12\u{3}") == [.control("c")] && keys("\u{1B}O2\u{3}") == [.control("c")])
        var parser = InputParser()
        var all = parser.parse(Array("\u{1B}P".utf8) + [UInt8](repeating: 0x41, count: 10_000))
        all += parser.parse(Array("q".utf8))
        #expect(all == [.key(.character("q"))])
    }

    @Test("Pasted text is one event") func pastes() {
        #expect(events("\u{1B}[200~q\r\u{1B}[Axyz\u{1B}[201~q") == [.paste("q\r\u{1B}[Axyz"), .key(.character("q"))])
        var parser = InputParser()
        var all: [InputEvent] = []
        for byte in "\u{1B}[200~ab\u{1B}[20\u{1B}[201~c".utf8 { all += parser.parse([byte]) }
        #expect(all == [.paste("ab\u{1B}[20"), .key(.character("c"))])
    }

    @Test("A paste without an end does not block the keyboard", arguments: ["ab\rq", "ab\u{1B}", "ab\u{1B}[201", ""])
    func unterminatedPaste(text: String) {
        var parser = InputParser()
        #expect(parser.parse(Array("\u{1B}[200~\(text)".utf8)).isEmpty && parser.waiting == .paste)
        #expect(parser.parsePending() == [.paste(text)])
        #expect(parser.waiting == .nothing && parser.parse(Array("q".utf8)) == [.key(.character("q"))])
    }

    @Test(
        "A reset discards incomplete input",
        arguments: ["\u{1B}[200~ab", "\u{1B}[200~ab\u{1B}[2", "\u{1B}]11;rgb", "\u{1B}[1;"])
    func reset(text: String) {
        var parser = InputParser()
        _ = parser.parse(Array("\u{1B}[?62c\(text)".utf8))
        parser.reset()
        #expect(parser.waiting == .nothing && parser.takeReplies().isEmpty)
        #expect(parser.parse(Array("q".utf8)) == [.key(.character("q"))])
    }

    @Test("A long paste is cut") func longPaste() {
        var parser = InputParser()
        let text = [UInt8](repeating: 0x41, count: 1 << 20)
        let all = parser.parse(Array("\u{1B}[200~".utf8) + text + Array("\u{1B}[201~q".utf8))
        guard case .paste(let pasted) = all.first else {
            Issue.record("no paste")
            return
        }
        #expect(pasted.utf8.count == InputParser.maximumPaste && all.last == .key(.character("q")))
    }

    @Test("Mouse and focus events are parsed") func mouseAndFocus() {
        #expect(events("\u{1B}[I\u{1B}[O") == [.focus(true), .focus(false)])
        #expect(events("\u{1B}[<64;1;1M") == [.mouse(.init(.wheelUp, at: Point(column: 0, row: 0)))])
        #expect(events("\u{1B}[<65;5;7M") == [.mouse(.init(.wheelDown, at: Point(column: 4, row: 6)))])
        #expect(
            events("\u{1B}[<20;1;1m") == [
                .mouse(.init(.release(1), at: Point(column: 0, row: 0), modifiers: [.shift, .control]))
            ])
        #expect(events("\u{1B}[<32;1;1M") == [.mouse(.init(.drag(1), at: Point(column: 0, row: 0)))])
        #expect(events("\u{1B}[<0;0;1M\u{1B}[<0;1M\u{1B}[<0;99999;1M").isEmpty)
    }

    /// After any input, typed keys work again.
    @Test("Random bytes do not block the keyboard") func randomBytes() {
        var state: UInt64 = 3
        func random() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        let alphabet = Array("\u{1B}[]P_;<?0123456789~mMRcq\u{7}\\\r".utf8)
        for _ in 0..<20_000 {
            var parser = InputParser()
            let bytes = (0..<Int(random() % 24)).map { _ in
                random() < 200 ? alphabet[Int(random()) % alphabet.count] : random()
            }
            _ = parser.parse(bytes)
            _ = parser.parsePending()
            // Leave a string or paste without an end.
            _ = parser.parse(Array("\u{1B}[201~\u{1B}\\\r".utf8))
            _ = parser.parsePending()
            #expect(parser.parse(Array("z".utf8)).last == .key(.character("z")), "\(bytes)")
        }
    }
}
