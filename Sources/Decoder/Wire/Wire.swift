/// Reads the wire's values from bytes that nobody vouches for: whatever they are, it answers with a value or an error.
struct WireReader {
    private let bytes: UnsafeRawBufferPointer
    /// Within 0…`bytes.count`, which `take` sees to.
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Bytes not yet read.
    var remaining: Int { bytes.count - position }

    mutating func take(_ count: Int) throws(PixelsError) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= remaining else { throw .malformedReply("it ends too soon") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(PixelsError) -> Value {
        Value(littleEndian: try take(MemoryLayout<Value>.size).loadUnaligned(as: Value.self))
    }

    mutating func flag() throws(PixelsError) -> Bool {
        switch try integer(UInt8.self) {
        case 0: false
        case 1: true
        default: throw .malformedReply("a flag is neither yes nor no")
        }
    }

    mutating func number() throws(PixelsError) -> Double {
        Double(bitPattern: try integer())
    }

    /// A size whose sides are 1…`largestSide`.
    mutating func size(largestSide: Int) throws(PixelsError) -> PixelSize {
        let size = PixelSize(width: Int(try integer(UInt32.self)), height: Int(try integer(UInt32.self)))
        guard 1...largestSide ~= size.width, 1...largestSide ~= size.height else {
            throw .malformedReply("a picture's size is out of bounds")
        }
        return size
    }

    mutating func text() throws(PixelsError) -> String {
        let length = Int(try integer(UInt16.self))
        guard length <= PictureMetadata.longestText else { throw .malformedReply("a text is too long") }
        guard let text = String(validating: try take(length), as: UTF8.self) else {
            throw .malformedReply("a text is not UTF-8")
        }
        return text
    }

    mutating func optional<Value>(
        _ read: (inout WireReader) throws(PixelsError) -> Value
    ) throws(PixelsError) -> Value? {
        try flag() ? try read(&self) : nil
    }
}

/// Writes the wire's values: integers and numbers little-endian, texts with their length in front.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ flag: Bool) {
        append(flag ? 1 as UInt8 : 0)
    }

    mutating func append(_ number: Double) {
        append(number.bitPattern)
    }

    mutating func append(_ size: PixelSize) {
        append(UInt32(clamping: size.width))
        append(UInt32(clamping: size.height))
    }

    /// Texts are bounded before they come here; `WireReader` refuses longer ones.
    mutating func append(_ text: String) {
        append(UInt16(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append<Value>(_ value: Value?, with append: (inout WireWriter, Value) -> Void) {
        self.append(value != nil)
        if let value { append(&self, value) }
    }
}

/// What can go wrong between Vitrine and its decoder. A picture that cannot be decoded is a `DecodeFailure` instead.
public enum PixelsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The arguments are not those of a request.
    case malformedRequest(String)
    /// The decoder's block of memory does not hold an answer to the request.
    case malformedReply(String)
    /// The decoder left its block open to change.
    case unsealed
    /// The decoder's block is larger than any answer to the request.
    case oversized(bytes: Int, limit: Int)
    /// The system refused a call.
    case system(call: String, code: CInt)

    /// A sentence for the user or the log.
    public var description: String {
        switch self {
        case .malformedRequest(let reason): "The decoder was asked in a way it does not understand: \(reason)."
        case .malformedReply(let reason): "The decoder's answer makes no sense: \(reason)."
        case .unsealed: "The decoder's answer could still change, so it was not read."
        case .oversized(let bytes, let limit): "The decoder's answer is too long: \(bytes) bytes of \(limit) allowed."
        case .system(let call, let code): "The system refused \(call), error \(code)."
        }
    }
}
