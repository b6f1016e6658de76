import Glibc

/// Finds and limits a document's tags before libxml2 reads them.
///
/// libxml2 compares each attribute of a tag with all others, so its time grows with the square of their number. The
/// scanner recognises only tags, quotes, comments, CDATA and processing instructions. The scanner and libxml2 can
/// disagree only about a document that is not well-formed, and libxml2 stops at the error.
struct MarkupScanner {
    /// The maximum number of attributes in a tag, including namespaces.
    static let maximumAttributes = 256
    /// The maximum number of code units in a tag.
    static let maximumTag = 1 << 18
    /// The maximum number of code units in the XML declaration.
    static let maximumDeclaration = 1_024

    /// The limit that a document exceeds.
    enum Excess: Error {
        case attributes
        case tag
    }

    private enum State {
        /// The position is between tags.
        case text
        /// The position is after `<`.
        case opened
        /// The position is after `<!`, or after `<!-`.
        case marked, dashed
        /// The position is in a tag, or in a declaration such as a document type.
        case tag
        /// The position is in a quoted attribute value.
        case value(quote: UInt8)
        /// The position is in a comment, after this number of dashes.
        case comment(dashes: Int)
        /// The position is in a CDATA section, after this number of brackets.
        case section(brackets: Int)
        /// The position is in a processing instruction. `isMarked` is true after a question mark.
        case instruction(isMarked: Bool)
    }

    private var state = State.text
    private var length = 0
    private var attributes = 0
    private var isCollecting = false
    /// Whether the scanner has read a `<`.
    private(set) var hasMarkup = false
    /// Whether text other than white space came before the first `<`.
    private(set) var beginsWithText = false
    /// The instruction at the start of the document, without `<?` and `?>`. Nil until it is complete.
    private(set) var declaration: [UInt8]?
    private var collected: [UInt8] = []

    /// Scans the next code units. In place of units beyond ASCII, the caller must pass a unit that is not markup.
    ///
    /// Returns the number of units up to the end of the last tag, comment, section or instruction that ends here.
    /// Returns nil if none ends here.
    mutating func scan(_ units: ArraySlice<UInt8>) throws(Excess) -> Int? {
        var end: Int?
        var index = units.startIndex
        while index < units.endIndex {
            // Nearly all units of a document are in these three states. Only a few units change a state; `take` handles
            // these.
            switch state {
            case .text where hasMarkup: index = units.position(of: UInt8(ascii: "<"), from: index)
            case .tag:
                let start = index
                while index < units.endIndex, !Self.isTagMarkup(units[index]) { index += 1 }
                try count(index - start)
            case .value(let quote):
                let start = index
                index = units.position(of: quote, from: index)
                try count(index - start)
            default: break
            }
            guard index < units.endIndex else { break }
            try take(units[index])
            index += 1
            // White space before the first tag does not count as the end of a tag.
            if case .text = state, hasMarkup { end = index - units.startIndex }
        }
        return end
    }

    /// Processes a code unit that may change the state. ``scan(_:)`` skips all other units, such as those within a
    /// value.
    @inline(__always)
    private mutating func take(_ unit: UInt8) throws(Excess) {
        switch state {
        case .text: takeText(unit)
        case .opened: open(unit)
        case .marked: mark(unit)
        case .dashed: state = unit == UInt8(ascii: "-") ? .comment(dashes: 0) : .tag
        case .tag: try takeTag(unit)
        case .value:
            try count(1)
            state = .tag
        case .comment(let dashes):
            if unit == UInt8(ascii: "-") {
                state = .comment(dashes: min(dashes + 1, 2))
            } else {
                state = dashes == 2 && unit == UInt8(ascii: ">") ? .text : .comment(dashes: 0)
            }
        case .section(let brackets):
            if unit == UInt8(ascii: "]") {
                state = .section(brackets: min(brackets + 1, 2))
            } else {
                state = brackets == 2 && unit == UInt8(ascii: ">") ? .text : .section(brackets: 0)
            }
        case .instruction(let isMarked): try takeInstruction(unit, isMarked)
        }
    }

    private mutating func takeText(_ unit: UInt8) {
        if unit == UInt8(ascii: "<") {
            state = .opened
            (length, attributes) = (0, 0)
            // libxml2 rejects later declarations: "XML declaration allowed only at the start of the document".
            isCollecting = !hasMarkup
            hasMarkup = true
        } else if !hasMarkup, ![0x20, 0x09, 0x0A, 0x0D].contains(unit) {
            beginsWithText = true
        }
    }

    private mutating func open(_ unit: UInt8) {
        switch unit {
        case UInt8(ascii: "!"): state = .marked
        case UInt8(ascii: "?"): state = .instruction(isMarked: false)
        case UInt8(ascii: ">"): state = .text
        default: state = .tag
        }
    }

    private mutating func mark(_ unit: UInt8) {
        switch unit {
        case UInt8(ascii: "-"): state = .dashed
        case UInt8(ascii: "["): state = .section(brackets: 0)
        case UInt8(ascii: ">"): state = .text
        default: state = .tag
        }
    }

    private mutating func takeTag(_ unit: UInt8) throws(Excess) {
        try count(1)
        switch unit {
        case UInt8(ascii: ">"): state = .text
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            attributes += 1
            guard attributes <= Self.maximumAttributes else { throw .attributes }
            state = .value(quote: unit)
        default: break
        }
    }

    private mutating func takeInstruction(_ unit: UInt8, _ isMarked: Bool) throws(Excess) {
        if isMarked, unit == UInt8(ascii: ">") {
            if isCollecting { declaration = collected.dropLast() }
            isCollecting = false
            state = .text
            return
        }
        state = .instruction(isMarked: unit == UInt8(ascii: "?"))
        guard isCollecting else { return }
        collected.append(unit)
        guard collected.count > Self.maximumDeclaration else { return }
        guard !XMLDeclaration.isBegun(by: collected) else { throw .tag }
        isCollecting = false
    }

    private static func isTagMarkup(_ unit: UInt8) -> Bool {
        unit == UInt8(ascii: ">") || unit == UInt8(ascii: "\"") || unit == UInt8(ascii: "'")
    }

    /// Counts units of the open tag.
    private mutating func count(_ units: Int) throws(Excess) {
        length += units
        guard length <= Self.maximumTag else { throw .tag }
    }
}

extension ArraySlice<UInt8> {
    /// Returns the position of the first `unit` at or after a position; the end if there is none.
    fileprivate func position(of unit: UInt8, from start: Int) -> Int {
        self[start...].withUnsafeBytes { bytes in
            guard let first = bytes.baseAddress, let found = memchr(first, Int32(unit), bytes.count) else {
                return endIndex
            }
            return start + (UnsafeRawPointer(found) - first)
        }
    }
}
