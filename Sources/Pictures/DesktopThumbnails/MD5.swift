import Glibc

/// The MD5 digest (RFC 1321), which names the desktop's thumbnails. No security depends on it.
enum MD5 {
    private static let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]

    /// Returns the digest of bytes as 32 lowercase hexadecimal digits.
    static func digits(of bytes: [UInt8]) -> String {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
        let sines = (1...64).map { UInt32(abs(sin(Double($0))) * 4_294_967_296) }
        let message = padded(bytes)
        for start in stride(from: 0, to: message.count, by: 64) {
            let words = (0..<16).map { word in number(message[(start + 4 * word)..<(start + 4 * word + 4)]) }
            let sum = turned(state, by: words, sines)
            for index in state.indices { state[index] &+= sum[index] }
        }
        return state.map { word in
            (0..<4).map { byte in
                let value = UInt8(truncatingIfNeeded: word >> UInt32(8 * byte))
                return String(value >> 4, radix: 16) + String(value & 15, radix: 16)
            }.joined()
        }.joined()
    }

    /// Pads bytes to a multiple of 64. Appends a one bit, zeros, and the number of bits.
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        let zeros = (119 - bytes.count % 64) % 64
        let bits = UInt64(bytes.count) << 3
        return bytes + [0x80] + [UInt8](repeating: 0, count: zeros)
            + (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Returns the state after four rounds for a block of 16 words.
    private static func turned(_ state: [UInt32], by words: [UInt32], _ sines: [UInt32]) -> [UInt32] {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let (mix, word): (UInt32, Int) =
                switch step / 16 {
                case 0: (b & c | ~b & d, step)
                case 1: (d & b | ~d & c, (5 * step + 1) % 16)
                case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                default: (c ^ (b | ~d), 7 * step % 16)
                }
            let sum = a &+ mix &+ sines[step] &+ words[word]
            let shift = shifts[step / 16][step % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        return [a, b, c, d]
    }
}
