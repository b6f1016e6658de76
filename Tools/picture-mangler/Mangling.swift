import PictureTestSupport
import TestSupport

/// Damage to a file: bits, numbers that matter to decoders, pieces taken out, put in, doubled, or from another file.
struct Mangling {
    private var numbers: SeededNumbers

    /// Bounds of what numbers in headers can be.
    private static let bounds: [UInt32] = [
        0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
    ]

    init(seed: UInt64) {
        numbers = SeededNumbers(seed: seed)
    }

    /// One of the files, damaged.
    mutating func mangle(_ files: [[UInt8]]) -> [UInt8] {
        guard var bytes = files.randomElement(using: &numbers), let other = files.randomElement(using: &numbers) else {
            return []
        }
        for _ in 0..<Int.random(in: 1...6, using: &numbers) where !bytes.isEmpty { damage(&bytes, other) }
        // A wrong checksum keeps a decoder from looking at the rest; now and then it is left wrong.
        return Int.random(in: 0..<8, using: &numbers) == 0 ? bytes : Self.withRightChecksums(bytes)
    }

    private mutating func damage(_ bytes: inout [UInt8], _ other: [UInt8]) {
        let place = place(in: bytes)
        switch Int.random(in: 0..<9, using: &numbers) {
        case 0, 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
        case 2: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
        case 3, 4: overwrite(&bytes, at: place)
        case 5: bytes.removeSubrange(place..<min(bytes.count, place + length()))
        case 6: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + length())], at: self.place(in: bytes))
        case 7:
            let start = self.place(in: other)
            bytes.insert(contentsOf: other[start..<min(other.count, start + length())], at: place)
        default: bytes.removeSubrange(place...)
        }
    }

    /// Where it hurts: as often in the first bytes, where the headers are, as anywhere else.
    private mutating func place(in bytes: [UInt8]) -> Int {
        let end = Bool.random(using: &numbers) ? min(bytes.count, 160) : bytes.count
        return Int.random(in: 0..<max(1, end), using: &numbers)
    }

    private mutating func length() -> Int {
        1 << Int.random(in: 0..<10, using: &numbers)
    }

    /// Two or four bytes that are a bound, in either order.
    private mutating func overwrite(_ bytes: inout [UInt8], at place: Int) {
        let bound = Self.bounds.randomElement(using: &numbers) ?? 0
        let number = bound &+ UInt32.random(in: 0...1, using: &numbers)
        let long = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        let word = Bool.random(using: &numbers) ? long : Array(long.prefix(2))
        let ordered = Bool.random(using: &numbers) ? word : word.reversed()
        for (offset, byte) in ordered.enumerated() where place + offset < bytes.count { bytes[place + offset] = byte }
    }

    /// A PNG file whose chunks' checksums are right again; any other file as it is.
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
