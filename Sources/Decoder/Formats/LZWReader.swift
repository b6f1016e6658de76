/// Unpacks the pixels of one GIF picture: LZW, in blocks that each begin with their length.
///
/// It writes no more than it is given room for, reads no more than there is, and its table has 4,096 entries whatever the
/// file says: a small file cannot keep it busy for longer than its pixels take.
struct LZWReader {
    private let bytes: UnsafeRawBufferPointer
    /// The next byte, and how many are left of the block it is in.
    private var position = 1
    private var left = 0
    /// Bits that were read and not used yet, the next one lowest.
    private var bits: UInt32 = 0
    private var bitCount = 0

    /// Each entry of the table is another one with a byte behind it.
    private var earlier = [UInt16](repeating: 0, count: tableSize)
    private var suffix = [UInt8](repeating: 0, count: tableSize)
    private var first = [UInt8](repeating: 0, count: tableSize)
    private var length = [Int32](repeating: 0, count: tableSize)

    private static let tableSize = 4096

    /// Reads from the byte that says how many bits a pixel has.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Unpacks as many pixels as there are, and returns their number.
    mutating func read(into pixels: UnsafeMutableBufferPointer<UInt8>) -> Int {
        guard let depth = bytes.first, 1...8 ~= depth else { return 0 }
        let clear = 1 << Int(depth)
        for entry in 0..<clear {
            suffix[entry] = UInt8(truncatingIfNeeded: entry)
            first[entry] = suffix[entry]
            length[entry] = 1
        }
        var (next, width, previous) = (clear + 2, Int(depth) + 1, -1)
        var count = 0
        while count < pixels.count, let code = code(ofWidth: width), code != clear + 1 {
            if code == clear {
                (next, width, previous) = (clear + 2, Int(depth) + 1, -1)
                continue
            }
            // The one entry that may be used before it is there: the one that this code makes.
            guard code < clear || previous >= 0 && (code < next || code == next && next < Self.tableSize) else { break }
            if previous >= 0, next < Self.tableSize {
                earlier[next] = UInt16(previous)
                suffix[next] = code == next ? first[previous] : first[code]
                first[next] = first[previous]
                length[next] = length[previous] + 1
                next += 1
                if next == 1 << width, width < 12 { width += 1 }
            }
            count += unfold(code, into: pixels, at: count)
            previous = code
        }
        return count
    }

    /// Writes an entry's bytes, which come last first; returns how many there was room for.
    private func unfold(_ code: Int, into pixels: UnsafeMutableBufferPointer<UInt8>, at start: Int) -> Int {
        let whole = Int(length[code])
        let count = min(whole, pixels.count - start)
        var entry = code
        for _ in count..<whole { entry = Int(earlier[entry]) }
        for place in stride(from: start + count - 1, through: start, by: -1) {
            pixels[place] = suffix[entry]
            entry = Int(earlier[entry])
        }
        return count
    }

    private mutating func code(ofWidth width: Int) -> Int? {
        while bitCount < width {
            if left == 0 {
                guard position < bytes.count, bytes[position] > 0 else { return nil }
                left = Int(bytes[position])
                position += 1
            }
            guard position < bytes.count else { return nil }
            bits |= UInt32(bytes[position]) << UInt32(bitCount)
            bitCount += 8
            position += 1
            left -= 1
        }
        defer {
            bits >>= UInt32(width)
            bitCount -= width
        }
        return Int(bits & (1 << UInt32(width) - 1))
    }
}
