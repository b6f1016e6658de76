/// A TIFF directory: entries of twelve bytes, then the values that do not fit into four.
struct TIFFDirectory: Sendable {
    /// A value with its type.
    enum Value: Sendable {
        case bytes([UInt8])
        case text(String)
        case short(UInt16)
        case long(UInt32)
        case ratios([Ratio])
        case opaque([UInt8])
    }

    private var entries: [(tag: UInt16, value: Value)] = []

    /// Appends an entry; tags must be rising.
    mutating func add(_ tag: UInt16, _ value: Value) {
        entries.append((tag, value))
    }

    /// The size in bytes, including long values.
    var size: Int { bytes(at: 0, .bigEndian).count }

    /// Returns the bytes for a directory at an offset from the TIFF header.
    func bytes(at start: Int, _ order: ByteSink.Order) -> [UInt8] {
        var table = ByteSink(order)
        var overflow = ByteSink(order)
        let overflowStart = start + 2 + entries.count * 12 + 4
        table.append16(UInt16(entries.count))
        for (tag, value) in entries {
            let (type, count, content) = Self.encode(value, order)
            table.append16(tag)
            table.append16(type)
            table.append32(UInt32(count))
            if content.count <= 4 {
                table.append(content + [UInt8](repeating: 0, count: 4 - content.count))
            } else {
                table.append32(UInt32(overflowStart + overflow.bytes.count))
                overflow.append(content)
                // Values begin at even offsets.
                if !content.count.isMultiple(of: 2) { overflow.append([0]) }
            }
        }
        table.append32(0)
        return table.bytes + overflow.bytes
    }

    private static func encode(_ value: Value, _ order: ByteSink.Order) -> (UInt16, Int, [UInt8]) {
        var sink = ByteSink(order)
        switch value {
        case .bytes(let bytes):
            return (1, bytes.count, bytes)
        case .text(let text):
            let bytes = Array(text.utf8) + [0]
            return (2, bytes.count, bytes)
        case .short(let number):
            sink.append16(number)
            return (3, 1, sink.bytes)
        case .long(let number):
            sink.append32(number)
            return (4, 1, sink.bytes)
        case .ratios(let ratios):
            for ratio in ratios {
                sink.append32(ratio.numerator)
                sink.append32(ratio.denominator)
            }
            return (5, ratios.count, sink.bytes)
        case .opaque(let bytes):
            return (7, bytes.count, bytes)
        }
    }
}
