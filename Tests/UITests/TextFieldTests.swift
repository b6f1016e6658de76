import Cells
import Testing

@testable import UI

@MainActor @Suite struct TextFieldTests {
    private let field = TextField()
    private let above = RecordingResponder()

    init() { field.next = above }

    private func press(_ keys: Key...) { for key in keys { field.send(.key(key)) } }

    private func type(_ text: String) { for character in text { field.send(.key(.character(character))) } }

    /// Returns the visible text and the column of the cursor.
    private func shown(_ columns: Int = 40) -> (text: String, cursor: Int?) {
        var surface = Surface(size: Size(columns: columns, rows: 1))
        field.draw(in: &surface, Rect(surface.size))
        return (surface.text, surface.cursor?.column)
    }

    @Test func typing() {
        type("example.org")
        #expect(field.text == "example.org" && shown() == ("example.org", 11))
        press(Key(.backspace), Key(.backspace), .control("h"))
        #expect(field.text == "example.")
        field.begin("again")
        #expect(field.text == "again" && shown().cursor == 5)
    }

    @Test func moving() {
        type("abcd")
        press(Key(.home), Key(.left))
        #expect(shown().cursor == 0)
        type("x")
        press(Key(.right), .control("f"))
        type("y")
        #expect(field.text == "xabycd" && shown().cursor == 4)
        press(Key(.end), Key(.right), .control("b"), Key(.left))
        #expect(shown().cursor == 4)
        press(.control("a"))
        #expect(shown().cursor == 0)
        press(.control("e"))
        #expect(shown().cursor == 6)
    }

    @Test func deleting() {
        type("abcdef")
        press(Key(.home), Key(.backspace), Key(.delete))
        #expect(field.text == "bcdef" && shown().cursor == 0)
        press(Key(.right), Key(.right), .control("k"))
        #expect(field.text == "bc" && shown().cursor == 2)
        press(Key(.delete), .control("k"))
        #expect(field.text == "bc")
        press(Key(.left), .control("u"))
        #expect(field.text == "c" && shown().cursor == 0)
        press(.control("u"))
        #expect(field.text == "c")
    }

    @Test func deletingByWords() {
        type("http://example.org/photos 2006/index.xml  ")
        var left: [String] = []
        for _ in 0..<7 {
            press(.control("w"))
            left.append(field.text)
        }
        #expect(
            left == [
                "http://example.org/photos 2006/index.", "http://example.org/photos 2006/",
                "http://example.org/photos ", "http://example.org/", "http://example.", "http://", "",
            ])
        type("one two")
        press(Key(.left), .control("w"))
        #expect(field.text == "one o" && shown().cursor == 4)
    }

    @Test("BEHAVIOURS 6.1: wide characters and combining marks are edited as a whole")
    func charactersAsSeen() {
        type("日本e\u{301}x")
        #expect(shown() == ("日本e\u{301}x", 6))
        press(Key(.left), Key(.left))
        #expect(shown().cursor == 4)
        press(Key(.delete))
        #expect(field.text == "日本x")
        press(Key(.backspace))
        #expect(field.text == "日x" && shown().cursor == 2)
        // A typed combining mark joins the character before it, and the cursor stays after that character.
        field.begin("ex")
        press(Key(.left), .character("\u{301}"), .character("y"))
        #expect(field.text == "e\u{301}yx" && shown().cursor == 2)
        press(Key(.backspace), Key(.backspace))
        #expect(field.text == "x" && shown().cursor == 0)
        // The second half of a flag joins the first in the same way.
        field.begin("🇪")
        press(Key(.home), .character("🇩"), .character("y"))
        #expect(field.text == "🇩🇪y")
    }

    @Test func pasting() {
        type("ac")
        press(Key(.left))
        field.send(.paste("b\u{1B}[31m\nrm -rf /\n"))
        #expect(field.text == "ab\u{1B}[31mc")
        #expect(shown() == ("ab␛[31mc", 7))
        // Pasted text never acts as keys.
        field.begin()
        field.send(.paste("q\u{8}\u{3}"))
        #expect(field.text == "q\u{8}\u{3}" && above.events.allSatisfy { $0 == "needsDisplay" })
        // A pasted line may begin with the previous line's end.
        field.begin()
        field.send(.paste("\r\nexample.org\r\n"))
        #expect(field.text == "example.org")
    }

    @Test func longerThanAnyAddress() {
        field.send(.paste(String(repeating: "x", count: 8_190)))
        type("abcd")
        #expect(field.text.count == 8_192 && field.text.hasSuffix("xab"))
        field.send(.paste("日"))
        #expect(field.text.count == 8_192)
    }

    @Test(arguments: [1, 2, 5, 10]) func theCursorIsAlwaysVisible(columns: Int) {
        type("日本e\u{301}xyz日本abc")
        for key in Array(repeating: Key(.left), count: 14) + Array(repeating: Key(.right), count: 14) {
            let cursor = shown(columns).cursor ?? -1
            #expect((0..<columns).contains(cursor))
            press(key)
        }
        #expect(shown(10).text.hasSuffix("abc"))
    }

    @Test("BEHAVIOURS 7.4: a text field passes other keys on")
    func passesOn() {
        press(Key(.up), Key(.function(1)), .control("l"), Key(.character("x"), .alt), Key(.tab))
        #expect(above.events == ["key Up", "key F1", "key ^L", "key M-x", "key Tab"])
        #expect(field.text.isEmpty)
        above.events = []
        press("q", "?", "Q", " ")
        #expect(above.events.allSatisfy { $0 == "needsDisplay" } && field.text == "q?Q ")
    }

    @Test func enterAndEscape() {
        var said: [String] = []
        field.onEnter = { said.append("enter " + $0) }
        field.onEscape = { said.append("escape") }
        type("ab")
        press(Key(.enter), Key(.escape), .control("c"), .control("g"))
        #expect(said == ["enter ab", "escape", "escape", "escape"])
    }
}
