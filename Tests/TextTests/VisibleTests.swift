import Testing

@testable import Text

@Suite struct VisibleTests {
    @Test(
        "Harmful characters are shown as symbols",
        arguments: [
            ("plain", "plain"),
            ("\u{1B}[2Jboo", "␛[2Jboo"),
            ("a\u{07}b\u{08}c\u{7F}d", "a␇b␈c␡d"),
            ("line\nline\r\ttab", "line␊line␍␉tab"),
            ("\u{9B}31m", "\u{FFFD}31m"),
            ("abc\u{202E}gpj.exe", "abc\u{FFFD}gpj.exe"),
            ("\u{2066}x\u{2069}", "\u{FFFD}x\u{FFFD}"),
            ("zero\u{200B}width\u{FEFF}", "zero\u{FFFD}width\u{FFFD}"),
            ("tag\u{E0041}", "tag\u{FFFD}"),
            ("a\u{2028}b", "a\u{FFFD}b"),
            ("café", "café"),
            ("cafe\u{301}", "cafe\u{301}"),
            ("👩\u{200D}🚀", "👩🚀"),
            ("❤\u{FE0F}", "❤"),
            ("👍\u{1F3FD} ok", "👍 ok"),
            ("soft\u{AD}hyphen", "softhyphen"),
            ("日本", "日本"),
            ("\u{301}x", " \u{301}x"),
            ("", ""),
        ])
    func harmfulCharacters(text: String, expected: String) {
        // Compare scalars: `==` ignores whether an accent is composed.
        #expect(Array(text.madeVisible.unicodeScalars) == Array(expected.unicodeScalars))
    }

    @Test("No control character survives") func controlCharacters() {
        for value in UInt32(0)...0x2FFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let visible = "a\(String(Character(scalar)))b".madeVisible
            #expect(visible.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
            #expect(visible.madeVisible == visible, "what is harmless stays as it is: \(value)")
        }
    }

    @Test("ASCII text replaces other characters, and keeps lines and control sequences")
    func plainText() {
        #expect(ASCIIFallback.plain("a\r\nb\u{1B}[K\t“x” …") == "a\r\nb\u{1B}[K\t\"x\" ~")
        #expect(ASCIIFallback.plain("x\u{DB}2J e\u{301} \u{9B}日") == "x?2J e ???")
        // Locales group digits with these spaces.
        #expect(ASCIIFallback.plain("1\u{202F}204 1\u{A0}204 1\u{2009}204 photos") == "1 204 1 204 1 204 photos")
        let bytes = Array("\u{DB}".utf8)
        #expect(ASCIIFallback.bytes(bytes, for: -1) == bytes, "this is no terminal")
    }

    @Test("A glyph keeps at most four marks") func marks() {
        let zalgo = "e" + String(repeating: "\u{301}", count: 10_000) + "x"
        let glyphs = Array(Glyphs(zalgo))
        #expect(glyphs.map { $0.text.unicodeScalars.count } == [5, 1])
        #expect(zalgo.displayWidth == 2)
    }

    @Test("The widths of glyphs add up") func widths() {
        #expect("abc".displayWidth == 3)
        #expect("日本語".displayWidth == 6)
        #expect("a日\u{301}b".displayWidth == 4)
        #expect("🏔 Dawn".displayWidth == Array(Glyphs("🏔 Dawn")).reduce(0) { $0 + $1.width })
    }

    @Test(
        "Text is truncated by columns",
        arguments: [
            ("Sunset", 6, "Sunset"), ("Sunset", 5, "Suns…"), ("Sunset", 1, "…"), ("Sunset", 0, ""),
            ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("\u{1B}\u{1B}\u{1B}", 2, "␛…"),
        ])
    func truncation(text: String, width: Int, expected: String) {
        #expect(text.truncated(toWidth: width) == expected)
        #expect(text.truncated(toWidth: width).displayWidth <= width)
    }
}
