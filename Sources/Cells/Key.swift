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
