/// The percent-encoding of bytes in URLs, such as `%41`.
public enum PercentEncoding {
    /// Encodes every byte that a URL's path or query cannot contain.
    ///
    /// - Parameters:
    ///   - keepingEscapes: keeps escapes such as `%41`, for text that is already a URL. A percent sign that is not
    ///     followed by two hexadecimal digits is always encoded.
    ///   - also: delimiters that stay unchanged.
    public static func encode(_ text: String, keepingEscapes: Bool, also delimiters: String = "") -> String {
        let bytes = Array(text.utf8)
        if bytes.allSatisfy({ isPlain($0) || delimiters.utf8.contains($0) }) { return text }
        return encode(bytes, keepingEscapes: keepingEscapes, also: delimiters)
    }

    /// Encodes bytes, such as a file name, which need not be UTF-8.
    public static func encode(
        _ bytes: some Collection<UInt8>, keepingEscapes: Bool, also delimiters: String = ""
    ) -> String {
        let bytes = Array(bytes)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count + 16)
        for (index, byte) in bytes.enumerated() {
            let beginsEscape =
                keepingEscapes && byte == percent && index + 2 < bytes.count
                && value(of: bytes[index + 1]) != nil && value(of: bytes[index + 2]) != nil
            if isPlain(byte) || beginsEscape || delimiters.utf8.contains(byte) {
                encoded.append(byte)
            } else {
                encoded += [percent, digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Encodes every byte except letters, digits, `-._~` and some delimiters. Signed requests need this form.
    public static func encodeAll(_ bytes: some Collection<UInt8>, except delimiters: String) -> String {
        var encoded: [UInt8] = []
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            case _ where delimiters.utf8.contains(byte): encoded.append(byte)
            default: encoded += [percent, digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Decodes every percent escape. Bytes that are not UTF-8 become replacement characters.
    public static func decode(_ text: String) -> String {
        guard text.utf8.contains(percent) else { return text }
        return String(decoding: decodedBytes(text), as: UTF8.self)
    }

    /// Decodes every escape. The bytes need not be UTF-8.
    public static func decodedBytes(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == percent, index + 2 < bytes.count,
                let high = value(of: bytes[index + 1]), let low = value(of: bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }

    /// Whether a byte may appear in a path segment without encoding (RFC 3986, `pchar`).
    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
            UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"),
            UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"):
            true
        default: false
        }
    }

    private static let percent = UInt8(ascii: "%")

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x41 + value - 10
    }

    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}
