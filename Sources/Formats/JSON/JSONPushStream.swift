/// Receives the events of a ``JSONPushStream``.
package protocol JSONConsumer {
    /// Receives the next event. If this method throws an error, the stream stops.
    ///
    /// - Parameter depth: the number of objects and arrays around the value. The begin and end of an object or array
    ///   have the same depth; the depth of its members is one higher.
    mutating func take(_ event: JSONEvent, depth: Int) throws
}

/// An event in a JSON document. The event's bytes are valid only during the callback.
package enum JSONEvent {
    case beginObject
    case endObject
    case beginArray
    case endArray
    /// The name of the member that follows, decoded.
    case key(UnsafeRawBufferPointer)
    /// A decoded string: UTF-8, unless the stream keeps invalid strings.
    case string(UnsafeRawBufferPointer)
    /// A number, as written.
    case number(UnsafeRawBufferPointer)
    case bool(Bool)
    case null
}

/// Parses JSON (RFC 8259) piece by piece: takes bytes and delivers events.
///
///     var stream = JSONPushStream()
///     for try await bytes in body { try stream.push(bytes, to: &reader) }
///     try stream.finish(to: &reader)
///
/// Pieces may end anywhere. A text or number is passed on without a copy if it is complete in one piece and contains no
/// escapes. Memory use does not grow with the document. The stream buffers at most one text or number at a time, if
/// it continues in the next piece or contains escapes.
///
/// The consumer is a generic parameter, so that the compiler can merge the consumer's code with the loop of the stream.
package struct JSONPushStream {
    /// The maximum number of nested objects and arrays.
    static let maximumDepth = 100
    /// The maximum number of bytes of a decoded string.
    static let maximumString = 1 << 20
    /// The maximum number of bytes of a number.
    static let maximumNumber = 256

    /// The part of the document that the next bytes begin or continue.
    private enum Phase {
        case mark, value, firstElement, firstKey, key, colon, comma, end
        case string, number, literal
    }

    /// The part of a string that comes next.
    private enum StringPart { case plain, escape, digits }

    private let keepsInvalidText: Bool
    private var phase = Phase.mark
    /// Whether each open container (object or array) is an object. The last container is the innermost.
    private var isObject: [Bool] = []
    /// The number of bytes in earlier pieces.
    private var consumed = 0
    /// The error that stopped the stream.
    private var failure: (any Error)?

    /// The beginning of an unfinished string or number. Strings with escapes are buffered, too.
    private var buffer: [UInt8] = []
    /// The offset of the current token in the document.
    private var tokenOffset = 0
    /// The number of matched bytes of a byte order mark, literal or Unicode escape.
    private var matched = 0
    private var literal = Literal.null
    private var isKey = false
    private var stringPart = StringPart.plain
    private var hasHighBytes = false
    /// The value of the Unicode escape so far.
    private var unit: UInt32 = 0
    /// The first half of a surrogate pair; nil unless the string so far ends with such a half.
    private var firstHalf: UInt32?

    /// - Parameter keepsInvalidText: whether strings may contain bytes that are not UTF-8. Some servers write file
    ///   names unchanged.
    package init(keepsInvalidText: Bool = false) {
        self.keepsInvalidText = keepsInvalidText
    }

    /// Parses the next bytes of the document.
    package mutating func push(_ bytes: [UInt8], to consumer: inout some JSONConsumer) throws {
        if let failure { throw failure }
        do {
            try bytes.withUnsafeBytes { try parse($0, &consumer) }
        } catch {
            failure = error
            throw error
        }
        // A document may have any length, so this sum stops at the greatest integer instead of overflowing.
        consumed = ByteOffset.sum(consumed, bytes.count)
    }

    /// Parses the end of the document. Throws if a value is incomplete.
    package mutating func finish(to consumer: inout some JSONConsumer) throws {
        if let failure { throw failure }
        // A number at the top level may end with the document. In an object or array, the document would be incomplete.
        if phase == .number, isObject.isEmpty { try endNumber(&consumer) }
        switch phase {
        case .end: return
        case .mark where matched == 0 || matched == Self.mark.count: throw FormatError.empty
        case .value where isObject.isEmpty: throw FormatError.empty
        default: throw FormatError.malformedJSON(offset: consumed, reason: "it ends too early")
        }
    }

    // MARK: - Structure

    private mutating func parse(_ bytes: UnsafeRawBufferPointer, _ consumer: inout some JSONConsumer) throws {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            switch phase {
            case .comma:
                switch byte {
                case Self.comma:
                    phase = isObject.last == true ? .key : .value
                    index += 1
                case Self.objectEnd where isObject.last == true:
                    try leave(.endObject, &consumer)
                    index += 1
                case Self.arrayEnd where isObject.last == false:
                    try leave(.endArray, &consumer)
                    index += 1
                default: index = try skipBlank(byte, bytes, index)
                }
            case .colon:
                guard byte == Self.colon else {
                    index = try skipBlank(byte, bytes, index)
                    continue
                }
                phase = .value
                index += 1
            case .key, .firstKey:
                if byte == Self.quote {
                    index = try beginString(bytes, index + 1, isKey: true, &consumer)
                } else if byte == Self.objectEnd, phase == .firstKey {
                    try leave(.endObject, &consumer)
                    index += 1
                } else {
                    index = try skipBlank(byte, bytes, index)
                }
            case .value, .firstElement: index = try beginValue(byte, bytes, index, &consumer)
            case .string: index = try continueString(bytes, index, &consumer)
            case .number: index = try continueNumber(bytes, index, &consumer)
            case .literal: index = try continueLiteral(bytes, index, &consumer)
            case .end: index = try skipBlank(byte, bytes, index)
            case .mark: index = try skipMark(byte, index)
            }
        }
    }

    @inline(__always)
    private mutating func beginValue(
        _ byte: UInt8, _ bytes: UnsafeRawBufferPointer, _ index: Int, _ consumer: inout some JSONConsumer
    ) throws -> Int {
        switch byte {
        case Self.quote: return try beginString(bytes, index + 1, isKey: false, &consumer)
        case 0x30...0x39, Self.minus: return try beginNumber(bytes, index, &consumer)
        case Self.objectBegin: try enter(.beginObject, isObject: true, .firstKey, &consumer)
        case Self.arrayBegin: try enter(.beginArray, isObject: false, .firstElement, &consumer)
        case Self.arrayEnd where phase == .firstElement: try leave(.endArray, &consumer)
        case UInt8(ascii: "t"): begin(.true)
        case UInt8(ascii: "f"): begin(.false)
        case UInt8(ascii: "n"): begin(.null)
        default: return try skipBlank(byte, bytes, index)
        }
        return index + 1
    }

    private mutating func enter(
        _ event: JSONEvent, isObject: Bool, _ next: Phase, _ consumer: inout some JSONConsumer
    ) throws {
        let depth = self.isObject.count
        guard depth < Self.maximumDepth else { throw FormatError.tooDeep }
        self.isObject.append(isObject)
        phase = next
        try consumer.take(event, depth: depth)
    }

    private mutating func leave(_ event: JSONEvent, _ consumer: inout some JSONConsumer) throws {
        isObject.removeLast()
        endValue()
        try consumer.take(event, depth: isObject.count)
    }

    @inline(__always)
    private mutating func endValue() {
        phase = isObject.isEmpty ? .end : .comma
    }

    /// Returns the index after white space. Throws for other bytes.
    @inline(__always)
    private func skipBlank(_ byte: UInt8, _ bytes: UnsafeRawBufferPointer, _ index: Int) throws -> Int {
        guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { throw unexpected(at: index) }
        var end = index + 1
        // Indented documents consist of spaces for the most part.
        while end < bytes.count, bytes[end] == 0x20 { end += 1 }
        return end
    }

    private mutating func skipMark(_ byte: UInt8, _ index: Int) throws -> Int {
        guard matched < Self.mark.count, byte == Self.mark[matched] else {
            guard matched == 0 || matched == Self.mark.count else { throw unexpected(at: index) }
            phase = .value
            return index
        }
        matched += 1
        return index + 1
    }

    private func unexpected(at index: Int) -> FormatError {
        let reason =
            switch phase {
            case .value, .mark: "a value is missing"
            case .firstElement: "a value or a closing bracket is missing"
            case .firstKey: "a name or a closing brace is missing"
            case .key: "a name is missing"
            case .colon: "a colon is missing"
            case .comma: "a comma or the end of its list is missing"
            case .end: "more text follows after its end"
            case .string, .number, .literal: "a word is not true, false or null"
            }
        return malformed(at: index, reason)
    }

    private func malformed(at index: Int, _ reason: String) -> FormatError {
        .malformedJSON(offset: ByteOffset.sum(consumed, index), reason: reason)
    }

    private func malformedToken(_ reason: String) -> FormatError {
        .malformedJSON(offset: tokenOffset, reason: reason)
    }

    // MARK: - Literals

    private enum Literal {
        case `true`, `false`, null

        var event: JSONEvent {
            switch self {
            case .true: .bool(true)
            case .false: .bool(false)
            case .null: .null
            }
        }

        var text: StaticString {
            switch self {
            case .true: "true"
            case .false: "false"
            case .null: "null"
            }
        }
    }

    private mutating func begin(_ literal: Literal) {
        (self.literal, matched, phase) = (literal, 1, .literal)
    }

    private mutating func continueLiteral(
        _ bytes: UnsafeRawBufferPointer, _ index: Int, _ consumer: inout some JSONConsumer
    ) throws -> Int {
        let (text, event) = (literal.text, literal.event)
        var index = index
        while index < bytes.count, matched < text.utf8CodeUnitCount {
            guard text.withUTF8Buffer({ $0[matched] }) == bytes[index] else { throw unexpected(at: index) }
            matched += 1
            index += 1
        }
        if matched == text.utf8CodeUnitCount {
            endValue()
            try consumer.take(event, depth: isObject.count)
        }
        return index
    }

    // MARK: - Numbers

    @inline(__always)
    private mutating func beginNumber(
        _ bytes: UnsafeRawBufferPointer, _ index: Int, _ consumer: inout some JSONConsumer
    ) throws -> Int {
        tokenOffset = ByteOffset.sum(consumed, index)
        let end = JSONBytes.endOfNumber(bytes, from: index)
        guard end < bytes.count else {
            buffer.removeAll(keepingCapacity: true)
            phase = .number
            return try continueNumber(bytes, index, &consumer)
        }
        try endNumber(UnsafeRawBufferPointer(rebasing: bytes[index..<end]), &consumer)
        return end
    }

    private mutating func continueNumber(
        _ bytes: UnsafeRawBufferPointer, _ index: Int, _ consumer: inout some JSONConsumer
    ) throws -> Int {
        let end = JSONBytes.endOfNumber(bytes, from: index)
        guard end - index <= Self.maximumNumber - buffer.count else { throw numberTooLong }
        buffer.append(contentsOf: bytes[index..<end])
        if end < bytes.count { try endNumber(&consumer) }
        return end
    }

    private mutating func endNumber(_ consumer: inout some JSONConsumer) throws {
        let number = buffer
        try number.withUnsafeBytes { try endNumber($0, &consumer) }
    }

    @inline(__always)
    private mutating func endNumber(_ number: UnsafeRawBufferPointer, _ consumer: inout some JSONConsumer) throws {
        guard number.count <= Self.maximumNumber else { throw numberTooLong }
        guard JSONBytes.isNumber(number) else { throw malformedToken("a number is not written as JSON requires") }
        endValue()
        try consumer.take(.number(number), depth: isObject.count)
    }

    private var numberTooLong: FormatError {
        malformedToken("a number is longer than \(Self.maximumNumber) bytes")
    }

    // MARK: - Strings

    /// Parses a string without escapes that is complete in this piece. Starts the buffer for any other string.
    @inline(__always)
    private mutating func beginString(
        _ bytes: UnsafeRawBufferPointer, _ start: Int, isKey: Bool, _ consumer: inout some JSONConsumer
    ) throws -> Int {
        tokenOffset = ByteOffset.sum(consumed, start - 1)
        var hasHighBytes = false
        let end = JSONBytes.endOfPlainText(bytes, from: start, &hasHighBytes)
        if end < bytes.count, bytes[end] == Self.quote {
            try endString(
                UnsafeRawBufferPointer(rebasing: bytes[start..<end]), isKey, hasHighBytes: hasHighBytes, &consumer)
            return end + 1
        }
        self.isKey = isKey
        self.hasHighBytes = false
        buffer.removeAll(keepingCapacity: true)
        stringPart = .plain
        phase = .string
        // The bytes up to `end` are scanned a second time, but not more often.
        return start < bytes.count ? try continueString(bytes, start, &consumer) : start
    }

    private mutating func continueString(
        _ bytes: UnsafeRawBufferPointer, _ start: Int, _ consumer: inout some JSONConsumer
    ) throws -> Int {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            switch stringPart {
            case .plain:
                let end = JSONBytes.endOfPlainText(bytes, from: index, &hasHighBytes)
                if end > index { try append(bytes[index..<end]) }
                index = end
                guard index < bytes.count else { return index }
                if bytes[index] == Self.quote {
                    try endBufferedString(&consumer)
                    return index + 1
                }
                guard bytes[index] == Self.backslash else {
                    throw malformed(at: index, "a text contains a control character")
                }
                stringPart = .escape
            case .escape:
                if byte == UInt8(ascii: "u"), let whole = JSONBytes.unit(bytes, at: index + 1) {
                    unit = whole
                    try appendUnit()
                    stringPart = .plain
                    index += 4
                } else if byte == UInt8(ascii: "u") {
                    (stringPart, unit, matched) = (.digits, 0, 0)
                } else {
                    guard let character = JSONBytes.unescaped(byte) else {
                        throw malformed(at: index, "a backslash precedes an invalid character")
                    }
                    try append(UInt32(character))
                    stringPart = .plain
                }
            case .digits:
                guard let digit = JSONBytes.value(ofDigit: byte) else {
                    throw malformed(at: index, "an escape lacks its four hexadecimal digits")
                }
                unit = unit << 4 | UInt32(digit)
                matched += 1
                if matched == 4 {
                    try appendUnit()
                    stringPart = .plain
                }
            }
            index += 1
        }
        return index
    }

    /// Appends the character of a UTF-16 code unit. Half of a surrogate pair alone becomes a replacement character.
    private mutating func appendUnit() throws {
        if let first = firstHalf, (0xDC00...0xDFFF).contains(unit) {
            firstHalf = nil
            try append(0x10000 + (first - 0xD800) << 10 + (unit - 0xDC00))
        } else if (0xD800...0xDBFF).contains(unit) {
            try appendLoneHalf()
            firstHalf = unit
        } else {
            try append(unit)
        }
    }

    @inline(__always)
    private mutating func appendLoneHalf() throws {
        guard firstHalf != nil else { return }
        firstHalf = nil
        guard JSONBytes.append(JSONBytes.replacement, to: &buffer, atMost: Self.maximumString) else {
            throw stringTooLong
        }
    }

    private mutating func append(_ codePoint: UInt32) throws {
        try appendLoneHalf()
        guard JSONBytes.append(codePoint, to: &buffer, atMost: Self.maximumString) else { throw stringTooLong }
    }

    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) throws {
        try appendLoneHalf()
        guard bytes.count <= Self.maximumString - buffer.count else { throw stringTooLong }
        buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes))
    }

    private mutating func endBufferedString(_ consumer: inout some JSONConsumer) throws {
        try appendLoneHalf()
        // A local variable holds the buffer during the callback, so that nothing can change the bytes.
        var text: [UInt8] = []
        swap(&text, &buffer)
        try text.withUnsafeBytes { try endString($0, isKey, hasHighBytes: hasHighBytes, &consumer) }
        swap(&text, &buffer)
    }

    @inline(__always)
    private mutating func endString(
        _ text: UnsafeRawBufferPointer, _ isKey: Bool, hasHighBytes: Bool, _ consumer: inout some JSONConsumer
    ) throws {
        guard text.count <= Self.maximumString else { throw stringTooLong }
        if hasHighBytes, !keepsInvalidText, !JSONBytes.isUTF8(text) { throw malformedToken("a text is not UTF-8") }
        if isKey {
            phase = .colon
            try consumer.take(.key(text), depth: isObject.count)
        } else {
            endValue()
            try consumer.take(.string(text), depth: isObject.count)
        }
    }

    private var stringTooLong: FormatError {
        malformedToken("a text is longer than \(Self.maximumString) bytes")
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    private static let minus = UInt8(ascii: "-")
    private static let comma = UInt8(ascii: ",")
    private static let colon = UInt8(ascii: ":")
    private static let objectBegin = UInt8(ascii: "{")
    private static let objectEnd = UInt8(ascii: "}")
    private static let arrayBegin = UInt8(ascii: "[")
    private static let arrayEnd = UInt8(ascii: "]")
}

/// Offsets in documents of any length.
private enum ByteOffset {
    /// Returns the sum of two offsets, at most the greatest integer.
    @inline(__always)
    static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, isTooLarge) = left.addingReportingOverflow(right)
        return isTooLarge ? .max : sum
    }
}
