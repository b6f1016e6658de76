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
