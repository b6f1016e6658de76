import Testing

@testable import Text

@Suite struct WrappedTests {
    @Test("Text is broken between words") func wraps() {
        #expect("to the rest of long lines".wrapped(toWidth: 12) == ["to the rest", "of long", "lines"])
        #expect("to the rest of long lines".wrapped(toWidth: 11) == ["to the rest", "of long", "lines"])
        #expect("to the rest of long lines".wrapped(toWidth: 10) == ["to the", "rest of", "long lines"])
        #expect("to the rest of long lines".wrapped(toWidth: 100) == ["to the rest of long lines"])
    }

    @Test("Empty text and long words are handled") func edgeCases() {
        #expect("".wrapped(toWidth: 5).isEmpty && "  ".wrapped(toWidth: 5).isEmpty)
        #expect("a reasonable word".wrapped(toWidth: 4) == ["a", "reasonable", "word"])
        #expect("a b".wrapped(toWidth: 0) == ["a", "b"])
    }

    @Test("Columns are dropped from the start, and half a wide character becomes a space") func dropsColumns() {
        #expect("a red kite".droppingColumns(2) == "red kite" && "red".droppingColumns(9).isEmpty)
        #expect("日本x".droppingColumns(0) == "日本x" && "日本x".droppingColumns(2) == "本x")
        #expect("日本x".droppingColumns(1) == " 本x" && "日本x".droppingColumns(3) == " x")
        #expect("é\u{7}日".droppingColumns(1) == "␇日" && "日本".droppingColumns(4).isEmpty)
    }

    @Test("Wrapping counts columns, not characters") func wideCharacters() {
        #expect("日本 e\u{301}e\u{301} x".wrapped(toWidth: 7) == ["日本 e\u{301}e\u{301}", "x"])
        #expect("日本 日本".wrapped(toWidth: 8) == ["日本", "日本"])
    }
}
