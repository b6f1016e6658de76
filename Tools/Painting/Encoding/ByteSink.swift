/// A growing sequence of bytes with a byte order.
struct ByteSink: Sendable {
    /// The byte order of numbers.
    enum Order: Sendable {
        case bigEndian
        case littleEndian
    }

    private(set) var bytes: [UInt8] = []
    private let order: Order

    init(_ order: Order) {
        self.order = order
    }

    mutating func append(_ more: [UInt8]) {
        bytes += more
    }

    mutating func append16(_ value: UInt16) {
        bytes += ordered([UInt8(value >> 8), UInt8(value & 0xFF)])
    }

    mutating func append32(_ value: UInt32) {
        bytes += ordered((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) })
    }

    private func ordered(_ bigEndian: [UInt8]) -> [UInt8] {
        order == .bigEndian ? bigEndian : bigEndian.reversed()
    }
}

/// The checksums in PNG files.
enum Checksum {
    /// The cyclic redundancy check of a chunk.
    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        let table = (0..<256).map { index in
            var rest = UInt32(index)
            for _ in 0..<8 {
                let reduced = rest >> 1
                rest = rest & 1 == 1 ? reduced ^ 0xEDB8_8320 : reduced
            }
            return rest
        }
        var rest = UInt32.max
        for byte in bytes {
            rest = table[Int(UInt8(truncatingIfNeeded: rest) ^ byte)] ^ (rest >> 8)
        }
        return ~rest
    }

    /// The checksum at the end of a zlib stream.
    static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return high << 16 | low
    }
}
