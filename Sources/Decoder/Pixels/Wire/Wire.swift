/// Reads values from untrusted bytes. Any input gives a value or throws an error.
struct WireReader {
    private let bytes: UnsafeRawBufferPointer
    /// The offset of the next byte, from 0 to `bytes.count`. `take` ensures these bounds.
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The number of unread bytes.
    var remaining: Int { bytes.count - position }

    mutating func take(_ count: Int) throws(PixelsError) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= remaining else { throw .malformedReply("unexpected end") }
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
        default: throw .malformedReply("invalid flag")
        }
    }

    mutating func number() throws(PixelsError) -> Double {
        Double(bitPattern: try integer())
    }

    /// Reads a size. Throws unless both sides are from 1 to `largestSide`.
    mutating func size(largestSide: Int) throws(PixelsError) -> PixelSize {
        let size = PixelSize(width: Int(try integer(UInt32.self)), height: Int(try integer(UInt32.self)))
        guard 1...largestSide ~= size.width, 1...largestSide ~= size.height else {
            throw .malformedReply("size out of bounds")
        }
        return size
    }

    mutating func text() throws(PixelsError) -> String {
        let length = Int(try integer(UInt16.self))
        guard length <= PictureMetadata.longestText else { throw .malformedReply("text too long") }
        guard let text = String(validating: try take(length), as: UTF8.self) else {
            throw .malformedReply("text is not UTF-8")
        }
        return text
    }

    mutating func optional<Value>(
        _ read: (inout WireReader) throws(PixelsError) -> Value
    ) throws(PixelsError) -> Value? {
        try flag() ? try read(&self) : nil
    }
}

/// Writes values as bytes: numbers in little-endian order, and each text after its length.
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

    /// Appends a text after its length. Callers must limit the length to `PictureMetadata.longestText`, because
    /// `WireReader` refuses longer texts.
    mutating func append(_ text: String) {
        append(UInt16(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append<Value>(_ value: Value?, with append: (inout WireWriter, Value) -> Void) {
        self.append(value != nil)
        if let value { append(&self, value) }
    }
}

/// An error in the exchange between Vitrine and its decoder. A problem of the picture itself is a `DecodeFailure`.
public enum PixelsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The request is invalid.
    case malformedRequest(String)
    /// The answer does not fit the request.
    case malformedReply(String)
    /// The decoder did not seal the memory with its answer.
    case unsealed
    /// The memory with the answer is larger than the largest possible answer to the request.
    case oversized(bytes: Int, limit: Int)
    /// A system call failed.
    case system(call: String, code: CInt)

    /// An error message for the user or the log.
    public var description: String {
        switch self {
        case .malformedRequest(let reason): "The decoder got an invalid request: \(reason)."
        case .malformedReply(let reason): "The decoder's answer is invalid: \(reason)."
        case .unsealed: "The decoder's answer is not sealed, so Vitrine did not read it."
        case .oversized(let bytes, let limit): "The decoder's answer is too long: \(bytes) bytes, \(limit) allowed."
        case .system(let call, let code): "The system call \(call) failed with error \(code)."
        }
    }
}
