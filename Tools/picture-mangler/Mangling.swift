import PictureTestSupport
import TestSupport

/// Damages a file: changes bits and important numbers, removes, inserts, repeats or mixes pieces.
struct Mangling {
    private var numbers: SeededNumbers

    /// Boundary values for numbers in headers.
    private static let bounds: [UInt32] = [
        0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
    ]

    init(seed: UInt64) {
        numbers = SeededNumbers(seed: seed)
    }

    /// Returns one of the files, damaged.
    mutating func mangle(_ files: [[UInt8]]) -> [UInt8] {
        guard var bytes = files.randomElement(using: &numbers), let other = files.randomElement(using: &numbers) else {
            return []
        }
        for _ in 0..<Int.random(in: 1...6, using: &numbers) where !bytes.isEmpty { damage(&bytes, other) }
        // Decoders stop at a wrong checksum, so it is left wrong only now and then.
        return Int.random(in: 0..<8, using: &numbers) == 0 ? bytes : Self.withRightChecksums(bytes)
    }

    private mutating func damage(_ bytes: inout [UInt8], _ other: [UInt8]) {
        let offset = offset(in: bytes)
        switch Int.random(in: 0..<9, using: &numbers) {
        case 0, 1: bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
        case 2: bytes[offset] = UInt8.random(in: 0...255, using: &numbers)
        case 3, 4: overwrite(&bytes, at: offset)
        case 5: bytes.removeSubrange(offset..<min(bytes.count, offset + length()))
        case 6:
            bytes.insert(contentsOf: bytes[offset..<min(bytes.count, offset + length())], at: self.offset(in: bytes))
        case 7:
            let start = self.offset(in: other)
            bytes.insert(contentsOf: other[start..<min(other.count, start + length())], at: offset)
        default: bytes.removeSubrange(offset...)
        }
    }

    /// An offset: half of the time in the first bytes, where the headers are.
    private mutating func offset(in bytes: [UInt8]) -> Int {
        let end = Bool.random(using: &numbers) ? min(bytes.count, 160) : bytes.count
        return Int.random(in: 0..<max(1, end), using: &numbers)
    }

    private mutating func length() -> Int {
        1 << Int.random(in: 0..<10, using: &numbers)
    }

    /// Writes a boundary value of two or four bytes, in either byte order.
    private mutating func overwrite(_ bytes: inout [UInt8], at start: Int) {
        let bound = Self.bounds.randomElement(using: &numbers) ?? 0
        let number = bound &+ UInt32.random(in: 0...1, using: &numbers)
        let long = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        let word = Bool.random(using: &numbers) ? long : Array(long.prefix(2))
        let ordered = Bool.random(using: &numbers) ? word : word.reversed()
        for (offset, byte) in ordered.enumerated() where start + offset < bytes.count { bytes[start + offset] = byte }
    }

    /// Corrects the checksums of a PNG file's chunks; returns other files unchanged.
    private static func withRightChecksums(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) else { return bytes }
        var bytes = bytes
        var start = 8
        while start + 12 <= bytes.count {
            let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = start + 8 + length
            guard end + 4 <= bytes.count else { break }
            bytes.replaceSubrange(end..<end + 4, with: PNGFile.bigEndian(PNGFile.crc(Array(bytes[start + 4..<end]))))
            start = end + 4
        }
        return bytes
    }
}
