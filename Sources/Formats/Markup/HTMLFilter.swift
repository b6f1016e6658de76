/// Passes only the tags and texts of a web page to libxml2.
///
/// The filter bounds the time and memory that libxml2 needs. libxml2 compares each attribute of a tag with all others,
/// and it buffers a tag, a comment or a script until its end. If a piece ends within `</script>`, libxml2 treats the
/// rest of the page as part of the script. So the filter drops comments, declarations, scripts and styles, and the
/// parts of a tag that are not attributes. It also cuts long texts and long values of attributes.
struct HTMLFilter {
    /// The maximum number of bytes of a tag without its values.
    static let maximumTag = 1 << 16
    /// The maximum number of attributes in a tag.
    static let maximumAttributes = 256
    /// The maximum number of bytes of a text, before escaping. The filter drops further bytes.
    private static let maximumText = 4_096
    /// The maximum number of bytes of a value. The filter cuts longer values, such as pictures within a page.
    private static let maximumValue = 25_000
    /// The maximum number of bytes of all values of a tag. The filter cuts the values that do not fit.
    private static let maximumValues = 1 << 16
    /// The last character of each cut value. No address may contain it.
    private static let cut: UInt8 = 0x7F

    /// The limit that a page exceeds.
    enum Excess: Error {
        case attributes
        case tag
    }

    private enum State {
        case text
        /// The position is after `<`, or after `</`.
        case opened, closing
        /// The position is after `<!`, or after `<!-`.
        case marked, dashed
        /// The position is in a declaration or instruction, which ends at the first `>`.
        case declaration
        /// The position is in a comment, after this number of dashes; 3 means two dashes and an exclamation mark.
        case comment(dashes: Int)
        /// The position is in an end tag.
        case end
        /// The position is in the name of a start tag.
        case name
        /// The position is before an attribute, in its name, or after its name.
        case space, word, afterWord
        /// The position is in an invalid attribute, which libxml2 also skips.
        case bogus
        /// The position is behind the equals sign of an attribute.
        case equals
        /// The position is in a value without quotes, or in a quoted value.
        case bare, quoted(by: UInt8)
        /// The position is in a script or style. The number counts the bytes of the end tag that have matched so far.
        case raw(matched: Int)
        /// The position is in the end tag of a script or style.
        case rawEnd
    }

    private var state = State.text
    private var length = 0
    private var attributes = 0
    /// The number of kept bytes of the value, and of all values.
    private var (valueLength, valuesLength) = (0, 0)
    /// Whether the current value is cut.
    private var isCut = false
    /// Whether the last byte of the tag is a slash outside of values.
    private var endsWithSlash = false
    private var tagName: [UInt8] = []
    /// The beginning of the end tag to find, such as `</script`.
    private var rawEnd: [UInt8] = []
    /// Whether the page has had a tag so far.
    private(set) var hasTags = false

    private static let rawNames: [[UInt8]] = ["script", "style"].map { Array($0.utf8) }

    /// Whether the position is in an unfinished tag.
    var isInTag: Bool {
        switch state {
        case .text, .declaration, .comment, .raw: false
        default: true
        }
    }

    /// Filters the next bytes.
    ///
    /// Returns the number of bytes of the output up to the end of its last tag; nil if no tag ends in these bytes.
    mutating func filter(_ bytes: some Sequence<UInt8>, to output: inout [UInt8]) throws(Excess) -> Int? {
        var end: Int?
        for byte in bytes {
            switch state {
            case .text: takeText(byte, &output)
            case .opened: open(byte, &output)
            case .closing: openEnd(byte, &output)
            case .marked, .dashed, .declaration, .comment: skip(byte)
            case .raw(let matched):
                skipRaw(byte, matched, &output)
                if case .text = state { end = output.count }
            case .rawEnd:
                guard byte == UInt8(ascii: ">") else { continue }
                closeTag(&output)
                end = output.count
            default:
                guard byte == UInt8(ascii: ">"), !isQuoted else {
                    try takeTag(byte, &output)
                    continue
                }
                closeTag(&output)
                end = output.count
            }
        }
        return end
    }

    private var isQuoted: Bool { if case .quoted = state { true } else { false } }

    private mutating func takeText(_ byte: UInt8, _ output: inout [UInt8]) {
        guard byte != UInt8(ascii: "<") else {
            state = .opened
            return
        }
        // An escape counts once, so the filter never cuts within it. libxml2 would take half an escape for a sign that
        // the whole page has another encoding.
        if !Self.continuesEscape(byte) { length += 1 }
        if length <= Self.maximumText { output.append(byte) }
    }

    private mutating func open(_ byte: UInt8, _ output: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "!"): state = .marked
        case UInt8(ascii: "?"): state = .declaration
        case UInt8(ascii: "/"): state = .closing
        case _ where Self.isLetter(byte):
            tagName = [byte | 0x20]
            begin(.name, [UInt8(ascii: "<"), byte], &output)
        default:
            // The `<` begins no tag here, but libxml2 might take it for one.
            length += 4
            if length <= Self.maximumText { output += "&lt;".utf8 }
            state = .text
            takeText(byte, &output)
        }
    }

    private mutating func openEnd(_ byte: UInt8, _ output: inout [UInt8]) {
        if Self.isLetter(byte) {
            begin(.end, [UInt8(ascii: "<"), UInt8(ascii: "/"), byte], &output)
        } else {
            state = byte == UInt8(ascii: ">") ? .text : .declaration
        }
    }

    private mutating func begin(_ state: State, _ bytes: [UInt8], _ output: inout [UInt8]) {
        output += bytes
        self.state = state
        (length, attributes, valuesLength, endsWithSlash, hasTags) = (0, 0, 0, false, true)
    }

    /// Skips a byte of a declaration or comment.
    private mutating func skip(_ byte: UInt8) {
        let isEnd = byte == UInt8(ascii: ">")
        switch state {
        case .comment(let dashes):
            switch byte {
            case UInt8(ascii: ">") where dashes >= 2: state = .text
            case UInt8(ascii: "-"): state = .comment(dashes: dashes == 3 ? 1 : min(dashes + 1, 2))
            case UInt8(ascii: "!") where dashes == 2: state = .comment(dashes: 3)
            default: state = .comment(dashes: 0)
            }
        case .marked where byte == UInt8(ascii: "-"): state = .dashed
        // `<!-->` is a whole comment.
        case .dashed where byte == UInt8(ascii: "-"): state = .comment(dashes: 2)
        default: state = isEnd ? .text : .declaration
        }
    }

    private mutating func skipRaw(_ byte: UInt8, _ matched: Int, _ output: inout [UInt8]) {
        if matched == rawEnd.count {
            if byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") || Self.isBlank(byte) {
                begin(.rawEnd, rawEnd, &output)
                if byte == UInt8(ascii: ">") { closeTag(&output) }
                return
            }
            state = .raw(matched: 0)
        }
        if matched < rawEnd.count, Self.lowercased(byte) == rawEnd[matched] {
            state = .raw(matched: matched + 1)
        } else {
            state = .raw(matched: byte == UInt8(ascii: "<") ? 1 : 0)
        }
    }

    /// Filters a byte of a tag, except for the final `>`.
    private mutating func takeTag(_ byte: UInt8, _ output: inout [UInt8]) throws(Excess) {
        switch state {
        case .quoted(let quote) where byte != quote: return takeValue(byte, &output)
        case .bare where !Self.isBlank(byte): return takeValue(byte, &output)
        default: break
        }
        length += 1
        guard length <= Self.maximumTag else { throw .tag }
        endsWithSlash = byte == UInt8(ascii: "/")
        switch state {
        case .end: output.append(byte)
        case .name:
            if Self.isBlank(byte) || byte == UInt8(ascii: "/") {
                state = .space
                output.append(UInt8(ascii: " "))
            } else if Self.isNameByte(byte) {
                if tagName.count < 8 { tagName.append(Self.lowercased(byte)) }
                output.append(byte)
            } else {
                state = .bogus
            }
        case .quoted:
            state = .space
            output += [byte, UInt8(ascii: " ")]
        case .bare:
            state = .space
            output.append(byte)
        case .bogus:
            if Self.isBlank(byte) { state = .space }
        case .equals:
            guard !Self.isBlank(byte) else { return }
            output.append(byte)
            (valueLength, isCut) = (0, false)
            state = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") ? .quoted(by: byte) : .bare
        default: try takeWord(byte, &output)
        }
    }

    /// Filters a byte of a value after the first byte. Cuts a value that is too long.
    ///
    /// The end of an address might be all that makes it invalid, and a reference may shorten many bytes to one. So a cut
    /// value ends with a character that makes any address invalid.
    private mutating func takeValue(_ byte: UInt8, _ output: inout [UInt8]) {
        endsWithSlash = false
        guard !isCut else { return }
        let isFull = valueLength >= Self.maximumValue || valuesLength >= Self.maximumValues
        isCut = isFull && !Self.continuesEscape(byte)
        output.append(isCut ? Self.cut : byte)
        valueLength += 1
        valuesLength += 1
    }

    /// Filters a byte before, in or behind the name of an attribute.
    private mutating func takeWord(_ byte: UInt8, _ output: inout [UInt8]) throws(Excess) {
        let isInWord = if case .word = state { true } else { false }
        let isBehindWord = if case .afterWord = state { true } else { false }
        if Self.isBlank(byte) {
            if isInWord { state = .afterWord }
        } else if byte == UInt8(ascii: "="), isInWord || isBehindWord {
            output.append(byte)
            state = .equals
        } else if isInWord ? Self.isNameByte(byte) : Self.beginsName(byte) {
            if !isInWord {
                attributes += 1
                guard attributes <= Self.maximumAttributes else { throw .attributes }
                output.append(UInt8(ascii: " "))
            }
            output.append(byte)
            state = .word
        } else {
            state = .bogus
        }
    }

    private mutating func closeTag(_ output: inout [UInt8]) {
        if case .equals = state {
            output += "\"\"".utf8
        } else if case .bogus = state, endsWithSlash {
            output += " /".utf8
        } else if case .space = state, endsWithSlash {
            output += " /".utf8
        }
        output.append(UInt8(ascii: ">"))
        let isStart = if case .end = state { false } else if case .rawEnd = state { false } else { true }
        if isStart, Self.rawNames.contains(tagName) {
            rawEnd = [UInt8(ascii: "<"), UInt8(ascii: "/")] + tagName
            state = .raw(matched: 0)
        } else {
            state = .text
        }
        length = 0
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Returns whether a byte continues an escape of ``ByteEscaping``.
    private static func continuesEscape(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func beginsName(_ byte: UInt8) -> Bool {
        isLetter(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        beginsName(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
