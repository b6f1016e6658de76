import Cells

/// Turns the bytes that a terminal sends into keys and other events.
///
/// Bytes come in pieces that end anywhere. Keys are what terminfo says they are and what terminals usually send; replies
/// to questions, which may be late, cut, or forged by a file that was printed, look like keys and are never taken for them:
/// they are kept apart, and a sequence that is not known is passed over as a whole.
struct InputParser {
    /// What the bytes that are pending may come to be.
    enum Waiting {
        /// There are none.
        case nothing
        /// A key that has been pressed, if nothing follows soon; or else the beginning of something.
        case key
        /// The rest of a sequence, and nothing else: nobody types so fast.
        case sequence
        /// The rest of a paste. It comes as fast as the terminal can write, or its end was lost.
        case paste
    }

    /// What a sequence of bytes means, by its bytes.
    private let sequences: KeySequences
    private var pending: [UInt8] = []
    /// What the terminal has answered since somebody last asked for it.
    private var replies: [TerminalReply] = []
    /// What was pasted so far, while a paste is going on.
    private var paste: [UInt8]?

    /// A pasted text is kept up to this length; what comes after is read and dropped.
    static let maximumPaste = 1 << 16
    /// No sequence that means anything is longer; whatever is, is nonsense up to here.
    static let maximumSequence = 1 << 12

    init(_ sequences: KeySequences = KeySequences()) {
        self.sequences = sequences
    }

    /// What would complete the bytes that are pending.
    var waiting: Waiting {
        guard paste == nil else { return .paste }
        guard let first = pending.first else { return .nothing }
        return first == 0x1B && pending.count > 2 ? .sequence : .key
    }

    /// Takes bytes, and gives back what they complete.
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

    /// Hands out what the terminal has answered.
    mutating func takeReplies() -> [TerminalReply] {
        defer { replies = [] }
        return replies
    }

    /// Forgets what has begun: its rest went elsewhere.
    mutating func forget() {
        pending = []
        replies = []
        paste = nil
    }

    /// Nothing more has come for a while: what is pending is complete.
    mutating func parseWhatIsPending() -> [InputEvent] {
        if paste != nil {
            appendToPaste(pending)
            pending = []
            return [endPaste()]
        }
        guard let first = pending.first else { return [] }
        guard first == 0x1B else {
            // Half a character.
            pending = []
            return []
        }
        // A lone escape is the key. With more behind it, it is the key with Alt, or half a sequence.
        let rest = Array(pending.dropFirst())
        pending = []
        guard let next = rest.first else { return [.key(Key(.escape))] }
        guard rest.count == 1, let key = Self.controlOrCharacter(next) else { return [] }
        return [.key(Key(key.code, key.modifiers.union(.alt)))]
    }

    /// The event at the beginning and the bytes that it takes; nil if more bytes are needed.
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
        case UInt8(ascii: "O"):
            guard pending.count > 2 else { return nil }
            return (KeySequences.applicationKey(pending[2]).map { .key($0) }, 3)
        // Strings, which only replies are: OSC, DCS, APC, PM, SOS.
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"), UInt8(ascii: "X"):
            return takeString()
        case 0x1B:
            // The key, and another escape after it.
            return (.key(Key(.escape)), 1)
        case let byte:
            if let key = Self.controlOrCharacter(byte) {
                return (.key(Key(key.code, key.modifiers.union(.alt))), 2)
            }
            guard let (key, length) = takeCharacter(at: 1) else { return nil }
            return (key.map { .key(Key($0.code, .alt)) }, length + 1)
        }
    }

    /// `ESC [`, parameters, intermediates, and a final byte (ECMA-48, section 5.4).
    private mutating func takeControlSequence() -> (event: InputEvent?, length: Int)? {
        guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) || $0 < 0x20 }) else {
            return pending.count > Self.maximumSequence ? (nil, pending.count) : nil
        }
        // A control character breaks the sequence off and counts for itself.
        guard pending[end] >= 0x40 else { return (nil, end) }
        let sequence = ControlSequence(parameters: pending[2..<end], final: pending[end])
        note(TerminalReply(sequence))
        if sequence.isPasteStart {
            paste = []
            return (nil, end + 1)
        }
        return (sequence.event, end + 1)
    }

    /// Up to `ESC \` or BEL.
    private mutating func takeString() -> (event: InputEvent?, length: Int)? {
        var index = 2
        while index < pending.count {
            switch pending[index] {
            case 0x07:
                note(TerminalReply(introducer: pending[1], body: pending[2..<index]))
                return (nil, index + 1)
            case 0x1B:
                guard index + 1 < pending.count else { return nil }
                guard pending[index + 1] == UInt8(ascii: "\\") else { return (nil, index) }
                note(TerminalReply(introducer: pending[1], body: pending[2..<index]))
                return (nil, index + 2)
            // Nothing that is typed is a string: a line's end or a ^C within one means that its end was lost.
            case 0x03, 0x0D: return (nil, index)
            default: index += 1
            }
        }
        return pending.count > Self.maximumSequence ? (nil, pending.count) : nil
    }

    /// As many as one question at most has answers are kept: more at once is nonsense.
    private mutating func note(_ reply: TerminalReply?) {
        if let reply, replies.count < 64 { replies.append(reply) }
    }

    /// One character of UTF-8; nil if more bytes are needed, no key for bytes that are none.
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
        // The key above Enter sends one or the other.
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

    /// Moves bytes to the paste; the event, when it ends.
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
        // Perhaps the rest of the end is still to come.
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
        let room = Self.maximumPaste - (paste?.count ?? 0)
        paste?.append(contentsOf: bytes.prefix(max(0, room)))
    }
}
