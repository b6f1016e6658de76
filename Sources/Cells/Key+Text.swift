/// Keys as people write them.
extension Key: CustomStringConvertible {
    /// As it stands in help and settings: `q`, `^F`, `PgUp`, `S-Tab`.
    public var description: String {
        var text = ""
        if modifiers.contains(.control) { text += "^" }
        if modifiers.contains(.alt) { text += "M-" }
        guard case .character(let character) = code else {
            return text + (modifiers.contains(.shift) ? "S-" : "") + codeName
        }
        if character == " " { return text + "Space" }
        // With Control, terminals do not tell the two cases of a letter from each other.
        return text + (modifiers.contains(.control) && character.isASCII ? character.uppercased() : String(character))
    }

    /// Reads what ``description`` writes; nil for what is no key.
    ///
    ///     Key("^F") == .control("f")
    ///     Key("S-Tab") == Key(.tab, .shift)
    public init?(_ text: String) {
        var name = Substring(text)
        var modifiers: Modifiers = []
        // A sign that stands alone is that key, and no prefix of one.
        func take(_ prefix: String, _ modifier: Modifiers) {
            guard name.hasPrefix(prefix), name.count > prefix.count else { return }
            name = name.dropFirst(prefix.count)
            modifiers.insert(modifier)
        }
        take("^", .control)
        take("M-", .alt)
        take("S-", .shift)
        if name.count > 1 {
            guard let code = Self.code(named: name) else { return nil }
            guard code != .character(" ") || !modifiers.contains(.shift) else { return nil }
            self.init(code, modifiers)
        } else {
            // A shifted character is another character.
            guard let character = name.first, !character.isWhitespace, !modifiers.contains(.shift) else { return nil }
            let isFolded = modifiers.contains(.control) && character.isASCII
            self.init(.character(isFolded ? Character(character.lowercased()) : character), modifiers)
        }
    }

    /// Keys that have a name and no number.
    private static let named: [(name: String, code: Code)] = [
        ("Up", .up), ("Down", .down), ("Left", .left), ("Right", .right), ("Home", .home), ("End", .end),
        ("PgUp", .pageUp), ("PgDn", .pageDown), ("Ins", .insert), ("Del", .delete), ("Backspace", .backspace),
        ("Enter", .enter), ("Tab", .tab), ("Esc", .escape), ("Space", .character(" ")),
    ]

    /// The highest function key that terminals have names for.
    private static let lastFunction = 63

    private static func code(named name: Substring) -> Code? {
        if let code = named.first(where: { $0.name == name })?.code { return code }
        guard name.first == "F", let number = Int(name.dropFirst()), (1...lastFunction).contains(number),
            name.dropFirst().first != "0", name.dropFirst().first != "+"
        else { return nil }
        return .function(number)
    }

    private var codeName: String {
        if case .function(let number) = code { return "F\(number)" }
        return Self.named.first { $0.code == code }?.name ?? ""
    }
}
