/// What a user does.
public enum InputEvent: Hashable, Sendable {
    /// A key was pressed.
    case key(Key)
    /// The mouse was moved or used.
    case mouse(Mouse)
    /// Text was pasted: it is text, whatever keys it would be.
    case paste(String)
    /// The terminal's window came to the front, or went from it.
    case focus(Bool)

    /// What a mouse did.
    public struct Mouse: Hashable, Sendable {
        /// What was done.
        public enum Action: Hashable, Sendable {
            /// A button went down; 1 is the left one.
            case press(Int)
            /// A button went up.
            case release(Int)
            /// The mouse moved with a button down.
            case drag(Int)
            /// The wheel was turned towards the top.
            case wheelUp
            /// The wheel was turned towards the bottom.
            case wheelDown
        }

        /// What was done.
        public let action: Action
        /// Where.
        public let position: Point
        /// Keys that were held.
        public let modifiers: Key.Modifiers

        /// An event.
        public init(_ action: Action, at position: Point, modifiers: Key.Modifiers = []) {
            self.action = action
            self.position = position
            self.modifiers = modifiers
        }
    }
}

/// A key that was pressed.
public struct Key: Hashable, Sendable {
    /// Which one.
    public enum Code: Hashable, Sendable {
        /// One that stands for a character.
        case character(Character)
        case up, down, left, right, home, end, pageUp, pageDown, insert, delete, backspace, enter, tab, escape
        /// F1 and on.
        case function(Int)
    }

    /// Keys that were held with it.
    public struct Modifiers: OptionSet, Hashable, Sendable {
        /// The bits, as xterm counts them.
        public let rawValue: UInt8

        /// Takes the bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Not told for characters: `A` is another character than `a`.
        public static let shift = Modifiers(rawValue: 1)
        /// Alt, or Meta.
        public static let alt = Modifiers(rawValue: 2)
        /// Control.
        public static let control = Modifiers(rawValue: 4)
    }

    /// Which one.
    public let code: Code
    /// What was held with it.
    public let modifiers: Modifiers

    /// A key.
    public init(_ code: Code, _ modifiers: Modifiers = []) {
        self.code = code
        self.modifiers = modifiers
    }

    /// The key of a character.
    public static func character(_ character: Character) -> Key { Key(.character(character)) }
    /// Control and a letter.
    public static func control(_ letter: Character) -> Key { Key(.character(letter), .control) }
}

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
