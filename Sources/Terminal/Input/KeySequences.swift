import Cells

/// The byte sequences that keys send: terminfo's sequences and the usual sequences.
struct KeySequences {
    private var keys: [[UInt8]: Key] = [:]
    private var longest = 0

    /// Creates the usual sequences, without terminfo's sequences.
    init() {}

    /// Creates the usual sequences, and adds terminfo's sequences.
    ///
    /// - Parameter string: looks up a terminfo string by name.
    init(terminfo string: (String) -> [UInt8]?) {
        for (name, key) in Self.names {
            guard let bytes = string(name) else { continue }
            keys[bytes] = key
            longest = max(longest, bytes.count)
        }
    }

    /// Returns the key of the longest terminfo sequence at the start of the bytes, and the sequence's length.
    func longestMatch(_ bytes: [UInt8]) -> (key: Key, length: Int)? {
        guard longest > 0 else { return nil }
        for length in stride(from: min(longest, bytes.count), through: 1, by: -1) {
            // A single byte is a character or control character, even if terminfo lists it.
            if length > 1, let key = keys[Array(bytes.prefix(length))] { return (key, length) }
        }
        return nil
    }

    /// Returns the key for `ESC O` and a letter, which keypad and arrows send in application mode.
    static func applicationKey(_ letter: UInt8) -> Key? {
        switch letter {
        case UInt8(ascii: "M"): Key(.enter)
        case UInt8(ascii: "X"): .character("=")
        // The letters j to y stand for `*+,-./0123456789`, in ASCII's order.
        case UInt8(ascii: "j")...UInt8(ascii: "y"): .character(Character(Unicode.Scalar(letter - 0x40)))
        default: letteredKey(letter).map { Key($0) }
        }
    }

    /// Returns the key for `ESC [`, optional modifiers and a letter.
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

    /// Returns the key for `ESC [`, a number, optional modifiers and `~`.
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

    /// The names of terminfo. If two keys send the same sequence, the later name counts.
    private static let names: [(String, Key)] = [
        // The names in capitals are for keys with Shift. Those of rxvt, such as `ESC [ 3 $`, have no final byte.
        ("kLFT", Key(.left, .shift)), ("kRIT", Key(.right, .shift)), ("kHOM", Key(.home, .shift)),
        ("kEND", Key(.end, .shift)), ("kPRV", Key(.pageUp, .shift)), ("kNXT", Key(.pageDown, .shift)),
        ("kIC", Key(.insert, .shift)), ("kDC", Key(.delete, .shift)),
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

/// A sequence that begins with `ESC [`: a key, a mouse event or a reply. Some keys begin with `ESC O`.
struct ControlSequence {
    let introducer: UInt8?
    let numbers: [Int]
    /// The bytes between the parameters and the final byte. Intermediate bytes change the meaning of the sequence.
    let intermediates: [UInt8]
    let final: UInt8

    init(parameters: ArraySlice<UInt8>, final: UInt8) {
        self.final = final
        // A leading `<`, `=`, `>` or `?` marks private sequences: mouse events and replies.
        let isPrivate = parameters.first.map { (0x3C...0x3F).contains($0) } ?? false
        introducer = isPrivate ? parameters.first : nil
        let end = parameters.firstIndex { (0x20...0x2F).contains($0) } ?? parameters.endIndex
        intermediates = Array(parameters[end...])
        numbers = parameters[..<end].dropFirst(isPrivate ? 1 : 0).split(
            separator: UInt8(ascii: ";"), omittingEmptySubsequences: false
        )
        .map { Int(String(decoding: $0.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)) ?? 0 }
    }

    var isPasteStart: Bool { introducer == nil && final == UInt8(ascii: "~") && numbers.first == 200 }

    /// The input event; nil for replies and unknown sequences.
    var event: InputEvent? {
        guard intermediates.isEmpty else { return nil }
        guard introducer == nil else {
            return introducer == UInt8(ascii: "<") ? mouse : nil
        }
        switch final {
        case UInt8(ascii: "I"): return .focus(true)
        case UInt8(ascii: "O"): return .focus(false)
        case UInt8(ascii: "Z"): return .key(Key(.tab, .shift))
        case UInt8(ascii: "~"):
            return KeySequences.numberedKey(numbers.first ?? 0).map { .key(Key($0, modifiers)) }
        default:
            // A cursor position report, `ESC [ row ; column R`, looks like F3 with modifiers. For F3 the first number
            // is always 1.
            guard final != UInt8(ascii: "R") || numbers.first == 1 || numbers.isEmpty else { return nil }
            return KeySequences.letteredKey(final).map { .key(Key($0, modifiers)) }
        }
    }

    /// The key of a sequence that begins with `ESC O`. The modifiers are its last or only number.
    var applicationKey: Key? {
        KeySequences.letteredKey(final).map { Key($0, Self.modifiers(numbers.last ?? 0)) }
    }

    /// The modifiers of a key, in the second number.
    private var modifiers: Key.Modifiers { numbers.count > 1 ? Self.modifiers(numbers[1]) : [] }

    /// Returns the modifiers for a number: xterm sends their bits plus one.
    private static func modifiers(_ number: Int) -> Key.Modifiers {
        (2...8).contains(number) ? Key.Modifiers(rawValue: UInt8(number - 1)) : []
    }

    /// Parses `ESC [ < button ; column ; row M`, or `m` for a button release.
    private var mouse: InputEvent? {
        guard numbers.count == 3, [UInt8(ascii: "M"), UInt8(ascii: "m")].contains(final),
            (1...10_000).contains(numbers[1]), (1...10_000).contains(numbers[2])
        else { return nil }
        let bits = numbers[0]
        let position = Point(column: numbers[1] - 1, row: numbers[2] - 1)
        var modifiers: Key.Modifiers = []
        if bits & 4 != 0 { modifiers.insert(.shift) }
        if bits & 8 != 0 { modifiers.insert(.alt) }
        if bits & 16 != 0 { modifiers.insert(.control) }
        let button = bits & 3
        let action: InputEvent.Mouse.Action
        switch bits & 0b1110_0011 {
        case 64: action = .wheelUp
        case 65: action = .wheelDown
        case 32...34: action = .drag(button + 1)
        case 0...2: action = final == UInt8(ascii: "M") ? .press(button + 1) : .release(button + 1)
        default: return nil
        }
        return .mouse(.init(action, at: position, modifiers: modifiers))
    }
}
