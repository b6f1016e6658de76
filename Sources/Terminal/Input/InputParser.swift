import Cells

/// Parses a terminal's bytes into keys and other events.
///
/// The bytes may be split anywhere. Keys follow terminfo and the usual sequences. Replies to queries look similar to
/// keys, and may be late, incomplete, or forged by printed files. The parser separates replies from keys, and skips
/// unknown sequences as a whole.
struct InputParser {
    /// The event that further bytes may complete.
    enum Waiting {
        /// No bytes are pending.
        case nothing
        /// A short input, such as an escape byte. It is a whole key unless more bytes follow soon.
        case key
        /// A sequence whose rest is missing. The rest arrives faster than a user can type.
        case sequence
        /// A paste whose rest is missing. The rest arrives at the terminal's speed, unless the end of the paste was
        /// lost.
        case paste
    }

    /// The byte sequences of keys on this terminal.
    private let sequences: KeySequences
    private var pending: [UInt8] = []
    /// The replies that the reader has not taken yet.
    private var replies: [TerminalReply] = []
    /// The bytes of the current paste; nil outside a paste.
    private var paste: [UInt8]?

    /// The maximum number of bytes of a paste to keep. The parser drops further bytes.
    static let maximumPaste = 1 << 16
    /// The length of the longest sequence. The parser drops longer sequences.
    static let maximumSequence = 1 << 12

    init(_ sequences: KeySequences = KeySequences()) {
        self.sequences = sequences
    }

    /// The event that the pending bytes may become.
    var waiting: Waiting {
        guard paste == nil else { return .paste }
        guard let first = pending.first else { return .nothing }
        return first == 0x1B && pending.count > 2 ? .sequence : .key
    }

    /// Parses bytes, and returns the events that they complete.
    mutating func parse(_ bytes: some Collection<UInt8>) -> [InputEvent] {
        var events: [InputEvent] = []
        pending += bytes
        while !pending.isEmpty {
            if paste != nil {
                guard let event = continuePaste() else { break }
                events.append(event)
                continue
            }
            guard let (event, length) = take() else { break }
            pending.removeFirst(length)
            if let event { events.append(event) }
        }
        return events
    }

    /// Returns the replies so far, and forgets them.
    mutating func takeReplies() -> [TerminalReply] {
        defer { replies = [] }
        return replies
    }

    /// Discards incomplete input, because another program has read the rest.
    mutating func reset() {
        pending = []
        replies = []
        paste = nil
    }

    /// Parses the pending bytes as they are, after a pause without further bytes.
    mutating func parsePending() -> [InputEvent] {
        if paste != nil {
            appendToPaste(pending)
            pending = []
            return [endPaste()]
        }
        guard let first = pending.first else { return [] }
        guard first == 0x1B else {
            // Drop an incomplete UTF-8 character.
            pending = []
            return []
        }
        // A lone escape byte is the Escape key. An escape byte with one character is that character with Alt. Longer
        // input is an incomplete sequence.
        let rest = Array(pending.dropFirst())
        pending = []
        guard let next = rest.first else { return [.key(Key(.escape))] }
        guard rest.count == 1, let key = Self.controlOrCharacter(next) else { return [] }
        return [.key(Key(key.code, key.modifiers.union(.alt)))]
    }

    /// Returns the first event and its length; nil if more bytes are needed.
    private mutating func take() -> (event: InputEvent?, length: Int)? {
        guard let first = pending.first else { return nil }
        if let (key, length) = sequences.longestMatch(pending) { return (.key(key), length) }
        if first == 0x1B { return takeEscape() }
        if let key = Self.controlOrCharacter(first) { return (.key(key), 1) }
        return takeCharacter(at: 0).map { ($0.key.map { .key($0) }, $0.length) }
    }

    private mutating func takeEscape() -> (event: InputEvent?, length: Int)? {
        guard pending.count > 1 else { return nil }
        switch pending[1] {
        case UInt8(ascii: "["): return takeControlSequence()
        case UInt8(ascii: "O"): return takeApplicationKey()
        // Strings, which only replies use: OSC, DCS, APC, PM, SOS.
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"), UInt8(ascii: "X"):
            return takeString()
        case 0x1B:
            // The Escape key, followed by another escape.
            return (.key(Key(.escape)), 1)
        case let byte:
            if let key = Self.controlOrCharacter(byte) {
                return (.key(Key(key.code, key.modifiers.union(.alt))), 2)
            }
            guard let (key, length) = takeCharacter(at: 1) else { return nil }
            return (key.map { .key(Key($0.code, .alt)) }, length + 1)
        }
    }

    /// Parses `ESC O`, optional modifiers and a letter. Konsole sends `ESC O 2 Q` for F2 with Shift.
    private func takeApplicationKey() -> (event: InputEvent?, length: Int)? {
        guard let end = pending.dropFirst(2).firstIndex(where: { !(0x30...0x3B).contains($0) }) else {
            return pending.count > Self.maximumSequence ? (nil, pending.count) : nil
        }
        guard end > 2 else { return (KeySequences.applicationKey(pending[2]).map { .key($0) }, 3) }
        // A control character ends the sequence and is handled separately.
        guard (0x40...0x7E).contains(pending[end]) else { return (nil, end) }
        let sequence = ControlSequence(parameters: pending[2..<end], final: pending[end])
        return (sequence.applicationKey.map { .key($0) }, end + 1)
    }

    /// Parses `ESC [`, parameters, intermediates and a final byte (ECMA-48, section 5.4).
    private mutating func takeControlSequence() -> (event: InputEvent?, length: Int)? {
        guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) || $0 < 0x20 }) else {
            return pending.count > Self.maximumSequence ? (nil, pending.count) : nil
        }
        // A control character ends the sequence and is handled separately.
        guard pending[end] >= 0x40 else { return (nil, end) }
        let sequence = ControlSequence(parameters: pending[2..<end], final: pending[end])
        addReply(TerminalReply(sequence))
        if sequence.isPasteStart {
            paste = []
            return (nil, end + 1)
        }
        return (sequence.event, end + 1)
    }

    /// Parses a string up to `ESC \` or BEL.
    private mutating func takeString() -> (event: InputEvent?, length: Int)? {
        var index = 2
        while index < pending.count {
            switch pending[index] {
            case 0x07:
                addReply(TerminalReply(introducer: pending[1], body: pending[2..<index]))
                return (nil, index + 1)
            case 0x1B:
                guard index + 1 < pending.count else { return nil }
                guard pending[index + 1] == UInt8(ascii: "\\") else { return (nil, index) }
                addReply(TerminalReply(introducer: pending[1], body: pending[2..<index]))
                return (nil, index + 2)
            // Replies contain no line end or ^C. If one arrives, the string's end was lost, and the user typed this
            // byte.
            case 0x03, 0x0D: return (nil, index)
            default: index += 1
            }
        }
        return pending.count > Self.maximumSequence ? (nil, pending.count) : nil
    }

    /// Keeps a reply, unless implausibly many replies are waiting.
    private mutating func addReply(_ reply: TerminalReply?) {
        if let reply, replies.count < 64 { replies.append(reply) }
    }

    /// Parses one UTF-8 character. Returns nil if bytes are missing, and no key for invalid bytes.
    private func takeCharacter(at start: Int) -> (key: Key?, length: Int)? {
        let lead = pending[start]
        let length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1
        guard length > 1 else { return (nil, 1) }
        let bytes = pending[start...].prefix(length)
        guard bytes.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else { return (nil, 1) }
        guard bytes.count == length else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), let character = text.first else {
            return (nil, length)
        }
        return (.character(character), length)
    }

    private static func controlOrCharacter(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x0D, 0x0A: Key(.enter)
        case 0x09: Key(.tab)
        // The backspace key sends one of these two bytes, depending on the terminal.
        case 0x7F, 0x08: Key(.backspace)
        case 0x00: .control(" ")
        case 0x01...0x1A: .control(Character(Unicode.Scalar(byte + 0x60)))
        case 0x1C...0x1F: .control(Character(Unicode.Scalar(byte + 0x40)))
        case 0x20...0x7E: .character(Character(Unicode.Scalar(byte)))
        default: nil
        }
    }

    // MARK: - Pastes

    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    /// Moves bytes to the paste. Returns the paste as an event when the paste is complete.
    private mutating func continuePaste() -> InputEvent? {
        guard let end = pending.firstIndex(of: 0x1B) else {
            appendToPaste(pending)
            pending = []
            return nil
        }
        appendToPaste(pending[..<end])
        pending.removeFirst(end)
        if pending.starts(with: Self.pasteEnd) {
            pending.removeFirst(Self.pasteEnd.count)
            return endPaste()
        }
        // The end sequence may be incomplete.
        if Self.pasteEnd.starts(with: pending) { return nil }
        appendToPaste(pending.prefix(1))
        pending.removeFirst()
        return continuePaste()
    }

    private mutating func endPaste() -> InputEvent {
        defer { paste = nil }
        return .paste(String(decoding: paste ?? [], as: UTF8.self))
    }

    private mutating func appendToPaste(_ bytes: some Collection<UInt8>) {
        let space = Self.maximumPaste - (paste?.count ?? 0)
        paste?.append(contentsOf: bytes.prefix(max(0, space)))
    }
}
