/// Base64 encoding (RFC 4648).
///
///     Base64.encode(Array("Hi!".utf8))    // "SGkh", as bytes
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes as ASCII text, with padding and without line breaks.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] {
        let groups = (bytes.count + 2) / 3
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
}
