import Cells

/// What keys send: terminfo's strings for this terminal, and what terminals usually send besides.
struct KeySequences {
    private var keys: [[UInt8]: Key] = [:]
    private var longest = 0

    /// The usual ones alone.
    init() {}

    /// Those, and what terminfo has.
    ///
    /// - Parameter string: looks a string up by its terminfo name.
    init(terminfo string: (String) -> [UInt8]?) {
        for (name, key) in Self.names {
            guard let bytes = string(name) else { continue }
            keys[bytes] = key
            longest = max(longest, bytes.count)
        }
    }

    /// The longest of terminfo's strings that the bytes begin with.
    func longestMatch(_ bytes: [UInt8]) -> (key: Key, length: Int)? {
        guard longest > 0 else { return nil }
        for length in stride(from: min(longest, bytes.count), through: 1, by: -1) {
            // A single byte is a character or a control character, whatever terminfo calls it.
            if length > 1, let key = keys[Array(bytes.prefix(length))] { return (key, length) }
        }
        return nil
    }

    /// `ESC O` and a letter: the keypad and the arrows in application mode.
    static func applicationKey(_ letter: UInt8) -> Key? {
        letteredKey(letter).map { Key($0) } ?? (letter == UInt8(ascii: "M") ? Key(.enter) : nil)
    }

    /// `ESC [`, perhaps modifiers, and a letter.
    static func letteredKey(_ letter: UInt8) -> Key.Code? {
        switch letter {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "P"): .function(1)
        case UInt8(ascii: "Q"): .function(2)
        case UInt8(ascii: "R"): .function(3)
        case UInt8(ascii: "S"): .function(4)
        default: nil
        }
    }

    /// `ESC [`, a number, perhaps modifiers, and `~`.
    static func numberedKey(_ number: Int) -> Key.Code? {
        switch number {
        case 1, 7: .home
        case 2: .insert
        case 3: .delete
        case 4, 8: .end
        case 5: .pageUp
        case 6: .pageDown
        case 11...15: .function(number - 10)
        case 17...21: .function(number - 11)
        case 23, 24: .function(number - 12)
        default: nil
        }
    }

    private static let names: [(String, Key)] = [
        ("kcuu1", Key(.up)), ("kcud1", Key(.down)), ("kcub1", Key(.left)), ("kcuf1", Key(.right)),
        ("khome", Key(.home)), ("kend", Key(.end)), ("kpp", Key(.pageUp)), ("knp", Key(.pageDown)),
        ("kich1", Key(.insert)), ("kdch1", Key(.delete)), ("kbs", Key(.backspace)), ("kent", Key(.enter)),
        ("kcbt", Key(.tab, .shift)),
        ("kf1", Key(.function(1))), ("kf2", Key(.function(2))), ("kf3", Key(.function(3))), ("kf4", Key(.function(4))),
        ("kf5", Key(.function(5))), ("kf6", Key(.function(6))), ("kf7", Key(.function(7))), ("kf8", Key(.function(8))),
        ("kf9", Key(.function(9))), ("kf10", Key(.function(10))), ("kf11", Key(.function(11))),
        ("kf12", Key(.function(12))),
    ]
}
