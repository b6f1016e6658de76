/// Base64 encoding (RFC 4648).
///
///     Base64.encode(Array("Hi!".utf8))    // "SGkh", as bytes
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes as ASCII text, with padding and without line breaks.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] {
        let groups = (bytes.count + 2) / 3
        // Without this guard, Swift writes into storage that all empty arrays share. The thread sanitizer reports that.
        guard groups > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: 4 * groups) { encoded, count in
            alphabet.withUnsafeBufferPointer { alphabet in
                bytes.withUnsafeBufferPointer { bytes in
                    for group in 0..<groups {
                        let (first, target) = (3 * group, 4 * group)
                        let (second, third) = (first + 1 < bytes.count, first + 2 < bytes.count)
                        let bits =
                            Int(bytes[first]) << 16 | (second ? Int(bytes[first + 1]) << 8 : 0)
                            | (third ? Int(bytes[first + 2]) : 0)
                        encoded[target] = alphabet[bits >> 18]
                        encoded[target + 1] = alphabet[bits >> 12 & 63]
                        encoded[target + 2] = second ? alphabet[bits >> 6 & 63] : UInt8(ascii: "=")
                        encoded[target + 3] = third ? alphabet[bits & 63] : UInt8(ascii: "=")
                    }
                }
            }
            count = 4 * groups
        }
    }

    /// Decodes text with padding and without line breaks. Returns nil for other texts.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var (bits, bitCount, padding) = (0, 0, 0)
        for character in text {
            if character == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let value = value(character) else { return nil }
            bits = bits << 6 | value
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(bits >> bitCount & 255))
            bits &= 1 << bitCount - 1
        }
        return padding <= 2 && bits == 0 ? bytes : nil
    }

    private static func value(_ character: UInt8) -> Int? {
        switch character {
        case 0x41...0x5A: Int(character) - 0x41
        case 0x61...0x7A: Int(character) - 0x61 + 26
        case 0x30...0x39: Int(character) - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
