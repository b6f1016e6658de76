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
