import Testing

@testable import Cells

@Suite struct KeyTests {
    private static let codes: [Key.Code] =
        [
            .up, .down, .left, .right, .home, .end, .pageUp, .pageDown, .insert, .delete, .backspace, .enter, .tab,
            .escape,
        ] + (1...12).map { .function($0) }

    @Test("A written key is parsed to the same key") func roundTrip() {
        let modifiers = (0..<8).map { Key.Modifiers(rawValue: $0) }
        for modifiers in modifiers {
            for code in Self.codes {
                let key = Key(code, modifiers)
                #expect(Key(key.description) == key, "\(key)")
            }
        }
        for character in " abzABZ019^-MSF=#?[]{}<>/\\é日" {
            for modifiers: Key.Modifiers in [[], .alt, .control, [.control, .alt]] {
                // With Control, these characters are other keys.
                if modifiers.contains(.control), "M[".contains(character) { continue }
                // Terminals do not distinguish ^A and ^a.
                let isFolded = modifiers.contains(.control) && character.isASCII
                let key = Key(.character(isFolded ? Character(character.lowercased()) : character), modifiers)
                #expect(Key(key.description) == key, "\(key)")
            }
        }
    }

    @Test("Control and a character whose byte is that of another key is this key") func sameBytes() {
        #expect(Key("^I") == Key(.tab) && Key("^i") == Key(.tab) && Key("^H") == Key(.backspace))
        #expect(Key("^M") == Key(.enter) && Key("^J") == Key(.enter) && Key("^[") == Key(.escape))
        #expect(Key("^M-i") == Key(.tab, .alt) && Key("M-i") == Key(.character("i"), .alt))
    }

    @Test("Keys have their usual names") func descriptions() {
        #expect(Key("q") == .character("q") && Key("Q") == .character("Q"))
        #expect(Key("^F") == .control("f") && Key("^f") == .control("f"))
        #expect(Key("Space") == .character(" ") && Key("^Space") == .control(" "))
        #expect(Key("M-x") == Key(.character("x"), .alt) && Key("S-Tab") == Key(.tab, .shift))
        #expect(Key("^") == .character("^") && Key("^^") == .control("^"))
        #expect(Key("F1") == Key(.function(1)) && Key("F") == .character("F"))
    }

    @Test(
        "Invalid names are not keys",
        arguments: ["", " ", "qq", "S-a", "S-Space", "F0", "F01", "F+1", "F64", "Ctrl-a", "M-", "enter", "\t", "^qq"])
    func invalidKeys(text: String) {
        #expect(Key(text) == nil)
    }
}
