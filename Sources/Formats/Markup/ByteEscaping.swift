/// Carries bytes of any encoding through libxml2, which accepts only valid text.
///
/// Servers write file names as they are on the disk, so a name may have another encoding than the document. A single
/// such name would make a whole list malformed. So this type replaces each byte beyond ASCII, and each control
/// character, by a character of Unicode's private area, U+F700 to U+F7FF. ``restore(_:)`` turns these characters back
/// into bytes. References to other characters, such as `&uuml;`, still become the UTF-8 bytes of the character.
struct ByteEscaping {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The first bytes, while these may still be part of a byte order mark; nil afterwards.
    private var beginning: [UInt8]? = []

    /// Returns bytes as valid UTF-8. Characters of the private area replace bytes beyond ASCII and control characters.
    ///
    /// Drops a byte order mark at the beginning of the document.
    mutating func escape(_ bytes: some Collection<UInt8>) -> [UInt8] {
        guard let held = beginning else { return Self.escaped(bytes) }
        let all = held + bytes
        if all.count < Self.byteOrderMark.count, Self.byteOrderMark.starts(with: all) {
            beginning = all
            return []
        }
        beginning = nil
        return Self.escaped(all.dropFirst(all.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0))
    }

    /// Returns the original bytes of a string from libxml2.
    static func restore(_ text: some Collection<UInt8>) -> [UInt8] {
        let text = Array(text)
        guard text.contains(0xEF) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            if text[index] == 0xEF, index + 2 < text.count, (0x9C...0x9F).contains(text[index + 1]) {
                bytes.append((text[index + 1] & 0x03) << 6 | (text[index + 2] & 0x3F))
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return bytes
    }

    private static func escaped(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + bytes.count / 8)
        for byte in bytes {
            if (0x20..<0x80).contains(byte) || byte == 0x09 || byte == 0x0A || byte == 0x0D {
                text.append(byte)
            } else {
                text.append(0xEF)
                text.append(0x9C | byte >> 6)
                text.append(0x80 | byte & 0x3F)
            }
        }
        return text
    }
}
