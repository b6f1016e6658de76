/// An error in the messages between processes of Vitrine.
package enum WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message does not have the form that this version expects.
    case malformed(String)
    /// The other program has another version.
    case version(UInt8)
    /// A message is longer than the limit.
    case tooLong(Int)
    /// A system call failed.
    case system(call: String, code: Int32)

    /// An error message for the log.
    package var description: String {
        switch self {
        case .malformed(let reason): "A message between two processes of Vitrine is invalid: \(reason)."
        case .version(let version):
            "The programs vitrine and vitrine-fetcher have different versions: \(WireVersion.current) and \(version)."
        case .tooLong(let count): "A message between two processes of Vitrine is too long: \(count) bytes."
        case .system(let call, let code): "The system call \(call) failed with error \(code)."
        }
    }
}

/// A value that a message can contain.
///
/// The reader trusts no bytes. Any bytes give a value or throw an error. The memory for a value is at most a small
/// multiple of the number of its bytes.
package protocol WireValue {
    /// Reads a value.
    init(from reader: inout WireReader) throws(WireError)
    /// Appends the value.
    func write(to writer: inout WireWriter)
}

/// Reads values from the bytes of a message.
package struct WireReader {
    private var rest: ArraySlice<UInt8>
    /// The number of elements that may still follow, and the maximum length of a text.
    private var (mostElements, longestText) = (Int.max, Int.max)

    /// Creates a reader of all bytes.
    package init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// The number of unread bytes.
    package var remaining: Int { rest.count }

    mutating func take(_ count: Int) throws(WireError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest.count else { throw .malformed("unexpected end") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Reads a value, whose type the caller's context determines.
    package mutating func value<Value: WireValue>() throws(WireError) -> Value {
        try Value(from: &self)
    }

    /// Limits the elements of all lists in the message, and the length of each text in bytes.
    ///
    /// An element in memory takes much more space than its bytes in the message.
    mutating func restrict(elements: Int, text: Int) { (mostElements, longestText) = (elements, text) }

    /// Reads the number of the elements that follow. Each element has at least one byte.
    mutating func count() throws(WireError) -> Int {
        let count = try length(atMost: mostElements)
        mostElements -= count
        return count
    }

    /// Reads the length of the text that follows, in bytes.
    mutating func textLength() throws(WireError) -> Int { try length(atMost: longestText) }

    private mutating func length(atMost most: Int) throws(WireError) -> Int {
        let length = Int(try UInt32(from: &self))
        guard length <= remaining else { throw .malformed("\(length) values in \(remaining) bytes") }
        guard length <= most else { throw .malformed("\(length) values, and at most \(most) are allowed") }
        return length
    }

    /// Reads the number of an enumeration's case.
    mutating func tag() throws(WireError) -> UInt8 { try value() }

    /// Throws unless all bytes were read.
    func end() throws(WireError) {
        guard rest.isEmpty else { throw .malformed("\(rest.count) bytes are left") }
    }
}

/// Appends values to the bytes of a message.
package struct WireWriter {
    /// The bytes so far.
    package private(set) var bytes: [UInt8] = []

    /// Creates an empty message.
    package init() {}

    mutating func append(bytes more: some Sequence<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Appends values in order.
    package mutating func append<each Value: WireValue>(_ values: repeat each Value) {
        repeat (each values).write(to: &self)
    }

    /// Appends the number of an enumeration's case, and then its values in order.
    mutating func append<each Value: WireValue>(tag: UInt8, _ values: repeat each Value) {
        bytes.append(tag)
        repeat (each values).write(to: &self)
    }
}

// MARK: - Simple values

extension FixedWidthInteger where Self: WireValue {
    /// Reads a number in little-endian order.
    package init(from reader: inout WireReader) throws(WireError) {
        var value = Self.zero
        for (index, byte) in try reader.take(Self.bitWidth / 8).enumerated() {
            value |= Self(truncatingIfNeeded: byte) << Self(truncatingIfNeeded: 8 * index)
        }
        self = value
    }

    /// Appends the number in little-endian order.
    package func write(to writer: inout WireWriter) {
        withUnsafeBytes(of: littleEndian) { writer.append(bytes: $0) }
    }
}

extension RawRepresentable where Self: WireValue, RawValue: FixedWidthInteger {
    /// Reads the number of a case.
    package init(from reader: inout WireReader) throws(WireError) {
        guard let value = RawValue(exactly: try reader.tag()).flatMap(Self.init(rawValue:)) else {
            throw .malformed("unknown \(Self.self)")
        }
        self = value
    }

    /// Appends the number of the case.
    package func write(to writer: inout WireWriter) {
        writer.append(tag: UInt8(clamping: rawValue))
    }
}

extension UInt8: WireValue {}
extension UInt32: WireValue {}
extension UInt64: WireValue {}
extension Int64: WireValue {}

extension Int: WireValue {
    /// Reads a number. Refuses numbers whose sums could overflow.
    package init(from reader: inout WireReader) throws(WireError) {
        let value = try Int64(from: &reader)
        guard (-1 << 53...1 << 53).contains(value) else { throw .malformed("number too large") }
        self.init(value)
    }

    /// Appends the number with 64 bits.
    package func write(to writer: inout WireWriter) {
        writer.append(Int64(self))
    }
}

extension Bool: WireValue {
    /// Reads a flag, 0 or 1.
    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.tag() {
        case 0: self = false
        case 1: self = true
        default: throw .malformed("invalid flag")
        }
    }

    /// Appends 0 or 1.
    package func write(to writer: inout WireWriter) {
        writer.append(tag: self ? 1 : 0)
    }
}

extension Double: WireValue {
    /// Reads a number. Infinity and NaN are refused.
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(bitPattern: try reader.value())
        guard isFinite else { throw .malformed("infinite number") }
    }

    /// Appends the number, or 0 for infinity and NaN.
    package func write(to writer: inout WireWriter) {
        writer.append((isFinite ? self : 0).bitPattern)
    }
}

extension String: WireValue {
    /// Reads the length of a text, and then the text in UTF-8.
    package init(from reader: inout WireReader) throws(WireError) {
        guard let text = String(validating: try reader.take(reader.textLength()), as: UTF8.self) else {
            throw .malformed("text is not UTF-8")
        }
        self = text
    }

    /// Appends the length of the text, and then the text.
    package func write(to writer: inout WireWriter) {
        writer.append(UInt32(clamping: utf8.count))
        writer.append(bytes: utf8)
    }
}

extension Optional: WireValue where Wrapped: WireValue {
    /// Reads a flag, and then the value if there is one.
    package init(from reader: inout WireReader) throws(WireError) {
        self = try Bool(from: &reader) ? try Wrapped(from: &reader) : nil
    }

    /// Appends a flag, and then the value if there is one.
    package func write(to writer: inout WireWriter) {
        writer.append(self != nil)
        if let self { writer.append(self) }
    }
}

extension Array: WireValue where Element: WireValue {
    /// Reads the number of values, and then the values.
    package init(from reader: inout WireReader) throws(WireError) {
        self = []
        for _ in 0..<(try reader.count()) { append(try reader.value()) }
    }

    /// Appends the number of values, and then the values.
    package func write(to writer: inout WireWriter) {
        writer.append(UInt32(clamping: count))
        for element in self { writer.append(element) }
    }
}

extension Set: WireValue where Element: WireValue {
    /// Reads the number of values, and then the values.
    package init(from reader: inout WireReader) throws(WireError) {
        self = Set(try [Element](from: &reader))
    }

    /// Appends the number of values, and then the values.
    package func write(to writer: inout WireWriter) {
        writer.append(Array(self))
    }
}

extension Dictionary: WireValue where Key: WireValue, Value: WireValue {
    /// Reads the number of keys, and then each key with its value.
    package init(from reader: inout WireReader) throws(WireError) {
        self = [:]
        for _ in 0..<(try reader.count()) {
            let key: Key = try reader.value()
            self[key] = try reader.value() as Value
        }
    }

    /// Appends the number of keys, and then each key with its value.
    package func write(to writer: inout WireWriter) {
        writer.append(UInt32(clamping: count))
        for (key, value) in self {
            writer.append(key)
            writer.append(value)
        }
    }
}
