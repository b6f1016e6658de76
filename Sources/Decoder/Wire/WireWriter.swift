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
