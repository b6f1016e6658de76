/// An input event from the terminal.
public enum InputEvent: Hashable, Sendable {
    /// The user pressed a key.
    case key(Key)
    /// The user clicked, dragged or scrolled with the mouse.
    case mouse(Mouse)
    /// The user pasted a text, which is not interpreted as keys.
    case paste(String)
    /// The terminal window gained (true) or lost (false) the focus.
    case focus(Bool)

    /// A mouse event in a cell of the terminal.
    public struct Mouse: Hashable, Sendable {
        /// The kind of mouse event.
        public enum Action: Hashable, Sendable {
            /// The user pressed a button; 1 is the left button.
            case press(Int)
            /// The user released a button.
            case release(Int)
            /// The user moved the mouse with this button pressed.
            case drag(Int)
            /// The user turned the wheel up by one step.
            case wheelUp
            /// The user turned the wheel down by one step.
            case wheelDown
        }

        /// The kind of mouse event.
        public let action: Action
        /// The cell under the pointer.
        public let position: Point
        /// The modifier keys that were held down.
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
        /// A function key; 1 means F1.
        case function(Int)
    }

    /// A set of modifier keys.
    public struct Modifiers: OptionSet, Hashable, Sendable {
        /// The bits of the modifiers, in xterm's order.
        public let rawValue: UInt8

        /// Creates modifiers from raw bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The Shift key. Keys of characters never have this flag, because Shift changes the character itself.
        public static let shift = Modifiers(rawValue: 1)
        /// The Alt or Meta key.
        public static let alt = Modifiers(rawValue: 2)
        /// The Control key.
        public static let control = Modifiers(rawValue: 4)
    }

    /// The key without its modifiers.
    public let code: Code
    /// The modifier keys that were held down.
    public let modifiers: Modifiers

    /// Creates a key.
    public init(_ code: Code, _ modifiers: Modifiers = []) {
        self.code = code
        self.modifiers = modifiers
    }

    /// Whether the key types its character in a field of text.
    public var typesText: Bool {
        if case .character = code { modifiers.isEmpty } else { false }
    }

    /// Returns the key that types a character.
    public static func character(_ character: Character) -> Key { Key(.character(character)) }
    /// Returns the combination of Control and a letter.
    public static func control(_ letter: Character) -> Key { Key(.character(letter), .control) }
}

/// The written form of keys.
extension Key: CustomStringConvertible {
    /// The written form in help and settings, such as `q`, `^F`, `PgUp` or `S-Tab`.
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

    /// Parses a key in the written form of ``description``. Returns nil if it is invalid.
    ///
    /// Some combinations with Control are other keys, because a terminal can send the same byte for both.
    ///
    ///     Key("^F") == .control("f")
    ///     Key("^I") == Key(.tab)
    ///     Key("S-Tab") == Key(.tab, .shift)
    public init?(_ text: String) {
        var name = Substring(text)
        var modifiers: Modifiers = []
        // A single `^` is the key itself, not a prefix.
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
            // Shift changes the character itself, so `S-` before a character is invalid.
            guard let character = name.first, !character.isWhitespace, !modifiers.contains(.shift) else { return nil }
            let isFolded = modifiers.contains(.control) && character.isASCII
            let letter = isFolded ? Character(character.lowercased()) : character
            if modifiers.contains(.control), let code = Self.sameByte[letter] {
                self.init(code, modifiers.subtracting(.control))
            } else {
                self.init(.character(letter), modifiers)
            }
        }
    }

    /// The keys that Vitrine cannot tell from Control and a character.
    private static let sameByte: [Character: Code] = [
        "i": .tab, "j": .enter, "m": .enter, "h": .backspace, "[": .escape,
    ]

    /// The written names of Space and all keys without a character, except function keys.
    private static let named: [(name: String, code: Code)] = [
        ("Up", .up), ("Down", .down), ("Left", .left), ("Right", .right), ("Home", .home), ("End", .end),
        ("PgUp", .pageUp), ("PgDn", .pageDown), ("Ins", .insert), ("Del", .delete), ("Backspace", .backspace),
        ("Enter", .enter), ("Tab", .tab), ("Esc", .escape), ("Space", .character(" ")),
    ]

    /// The number of the last function key in terminfo.
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
