/// An input event of the terminal.
public enum InputEvent: Hashable, Sendable {
    /// A key press.
    case key(Key)
    /// A mouse event.
    case mouse(Mouse)
    /// Pasted text, not interpreted as keys.
    case paste(String)
    /// The terminal window gained or lost the focus.
    case focus(Bool)

    /// A mouse event.
    public struct Mouse: Hashable, Sendable {
        /// The kind of mouse event.
        public enum Action: Hashable, Sendable {
            /// A button press; 1 is the left button.
            case press(Int)
            /// A button release.
            case release(Int)
            /// A movement with a button pressed.
            case drag(Int)
            /// A wheel step up.
            case wheelUp
            /// A wheel step down.
            case wheelDown
        }

        /// The kind of event.
        public let action: Action
        /// The cell under the pointer.
        public let position: Point
        /// The modifier keys held.
        public let modifiers: Key.Modifiers

        /// Creates an event.
        public init(_ action: Action, at position: Point, modifiers: Key.Modifiers = []) {
            self.action = action
            self.position = position
            self.modifiers = modifiers
        }
    }
}

/// A pressed key with its modifiers.
public struct Key: Hashable, Sendable {
    /// The key without its modifiers.
    public enum Code: Hashable, Sendable {
        /// A key that types a character.
        case character(Character)
        case up, down, left, right, home, end, pageUp, pageDown, insert, delete, backspace, enter, tab, escape
        /// A function key, from F1.
        case function(Int)
    }

    /// Modifier keys.
    public struct Modifiers: OptionSet, Hashable, Sendable {
        /// The bits, in xterm's order.
        public let rawValue: UInt8

        /// Creates modifiers from raw bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Shift. Not set for characters, whose case shows it.
        public static let shift = Modifiers(rawValue: 1)
        /// Alt or Meta.
        public static let alt = Modifiers(rawValue: 2)
        /// Control.
        public static let control = Modifiers(rawValue: 4)
    }

    /// The key without its modifiers.
    public let code: Code
    /// The modifier keys held.
    public let modifiers: Modifiers

    /// Creates a key.
    public init(_ code: Code, _ modifiers: Modifiers = []) {
        self.code = code
        self.modifiers = modifiers
    }

    /// Returns the key of a character.
    public static func character(_ character: Character) -> Key { Key(.character(character)) }
    /// Returns Control with a letter.
    public static func control(_ letter: Character) -> Key { Key(.character(letter), .control) }
}

/// The written form of keys.
extension Key: CustomStringConvertible {
    /// The written form, as in help and settings: `q`, `^F`, `PgUp`, `S-Tab`.
    public var description: String {
        var text = ""
        if modifiers.contains(.control) { text += "^" }
        if modifiers.contains(.alt) { text += "M-" }
        guard case .character(let character) = code else {
            return text + (modifiers.contains(.shift) ? "S-" : "") + codeName
        }
        if character == " " { return text + "Space" }
        // With Control, terminals do not report the case of a letter.
        return text + (modifiers.contains(.control) && character.isASCII ? character.uppercased() : String(character))
    }

    /// Parses the written form of ``description``; nil if it is invalid.
    ///
    ///     Key("^F") == .control("f")
    ///     Key("S-Tab") == Key(.tab, .shift)
    public init?(_ text: String) {
        var name = Substring(text)
        var modifiers: Modifiers = []
        // A prefix that stands alone is the key itself.
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
            // A shifted character is a different character.
            guard let character = name.first, !character.isWhitespace, !modifiers.contains(.shift) else { return nil }
            let isFolded = modifiers.contains(.control) && character.isASCII
            self.init(.character(isFolded ? Character(character.lowercased()) : character), modifiers)
        }
    }

    /// The names of keys other than function keys.
    private static let named: [(name: String, code: Code)] = [
        ("Up", .up), ("Down", .down), ("Left", .left), ("Right", .right), ("Home", .home), ("End", .end),
        ("PgUp", .pageUp), ("PgDn", .pageDown), ("Ins", .insert), ("Del", .delete), ("Backspace", .backspace),
        ("Enter", .enter), ("Tab", .tab), ("Esc", .escape), ("Space", .character(" ")),
    ]

    /// The highest function key in terminfo.
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
