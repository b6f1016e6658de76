/// Functions for the bytes of JSON's strings and numbers.
enum JSONBytes {
    /// The replacement character, which replaces half of a surrogate pair.
    static let replacement: UInt32 = 0xFFFD

    // The search examines a whole word of bytes at once. In a little-endian integer, the text's first byte is the
    // lowest byte.
    private static let size = MemoryLayout<UInt>.size
    private static let ones = UInt.max / 0xFF
    private static let highBits = ones * 0x80
    private static let quotes = ones * 0x22
    private static let backslashes = ones * 0x5C
    private static let spaces = ones * 0x20

    /// Returns the index of the next quotation mark, backslash or control character. Returns the count if there is
    /// none.
    ///
    /// - Parameter hasHighBytes: becomes true if a byte beyond ASCII is before the returned index, or in the same word
    ///   of bytes.
    @inline(__always)
    static func endOfPlainText(_ bytes: UnsafeRawBufferPointer, from start: Int, _ hasHighBytes: inout Bool) -> Int {
        var index = start
        var high: UInt = 0
        while bytes.count - index >= size {
            let word = UInt(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt.self))
            high |= word
            // The subtractions set the high bit of each byte that is searched for. A borrow can set a wrong bit only in
            // bytes after such a byte, so the first marked byte is right.
            let (quote, backslash) = (word ^ quotes, word ^ backslashes)
            let marked =
                (((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((word &- spaces) & ~word))
                & highBits
            if marked != 0 {
                if high & highBits != 0 { hasHighBytes = true }
                return index + marked.trailingZeroBitCount / 8
            }
            index += size
        }
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x22 || byte == 0x5C || byte < 0x20 { break }
            high |= UInt(byte)
            index += 1
        }
        if high & highBits != 0 { hasHighBytes = true }
        return index
    }

    /// Returns the index after the bytes that can belong to a number.
    @inline(__always)
    static func endOfNumber(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"):
                index += 1
            default: return index
            }
        }
        return index
    }

    /// Returns whether bytes are one number, such as `-1.5e+10`. JSON allows no leading zeros, and requires digits on
    /// both sides of a point.
    static func isNumber(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        func skipDigits() -> Bool {
            let start = index
            while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
            return index > start
        }
        if bytes.first == UInt8(ascii: "-") { index = 1 }
        if index < bytes.count, bytes[index] == 0x30 {
            index += 1
        } else if !skipDigits() {
            return false
        }
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index += 1
            guard skipDigits() else { return false }
        }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") {
                index += 1
            }
            guard skipDigits() else { return false }
        }
        return index == bytes.count
    }

    /// Returns the character that a backslash and this byte mean; nil for an invalid escape.
    static func unescaped(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// Returns the value of a hexadecimal digit; nil for other bytes.
    static func value(ofDigit byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// Returns the value of four hexadecimal digits; nil for fewer digits.
    static func unit(_ bytes: UnsafeRawBufferPointer, at index: Int) -> UInt32? {
        guard bytes.count - index >= 4 else { return nil }
        var unit: UInt32 = 0
        for offset in 0..<4 {
            guard let digit = value(ofDigit: bytes[index + offset]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Appends the UTF-8 bytes of a code point. Half of a surrogate pair becomes the replacement character.
    ///
    /// Returns false if the text would be longer than `length`.
    static func append(_ codePoint: UInt32, to text: inout [UInt8], atMost length: Int) -> Bool {
        let scalar = Unicode.Scalar(codePoint) ?? "\u{FFFD}"
        guard UTF8.width(scalar) <= length - text.count else { return false }
        func last(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: 0x80 | (scalar.value >> shift & 0x3F)) }
        func first(_ mark: UInt32, _ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: mark | scalar.value >> shift) }
        switch scalar.value {
        case 0..<0x80: text.append(first(0, 0))
        case 0x80..<0x800:
            text.append(first(0xC0, 6))
            text.append(last(0))
        case 0x800..<0x10000:
            text.append(first(0xE0, 12))
            text.append(last(6))
            text.append(last(0))
        default:
            text.append(first(0xF0, 18))
            text.append(last(12))
            text.append(last(6))
            text.append(last(0))
        }
        return true
    }

    /// Returns whether bytes are UTF-8 (RFC 3629): no overlong form, no surrogate, nothing above U+10FFFF.
    static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            let first = bytes[index]
            index += 1
            guard first >= 0x80 else { continue }
            // The second byte has a smaller range after some first bytes.
            let (length, second): (Int, ClosedRange<UInt8>)
            switch first {
            case 0xC2...0xDF: (length, second) = (1, 0x80...0xBF)
            case 0xE0: (length, second) = (2, 0xA0...0xBF)
            case 0xED: (length, second) = (2, 0x80...0x9F)
            case 0xE1...0xEF: (length, second) = (2, 0x80...0xBF)
            case 0xF0: (length, second) = (3, 0x90...0xBF)
            case 0xF1...0xF3: (length, second) = (3, 0x80...0xBF)
            case 0xF4: (length, second) = (3, 0x80...0x8F)
            default: return false
            }
            guard bytes.count - index >= length, second.contains(bytes[index]) else { return false }
            for offset in 1..<length where bytes[index + offset] & 0xC0 != 0x80 { return false }
            index += length
        }
        return true
    }
}

extension UnsafeRawBufferPointer {
    /// Returns whether the bytes equal a text, such as a member's name.
    func isText(_ text: StaticString) -> Bool { text.withUTF8Buffer { elementsEqual($0) } }

    /// Returns the bytes as a text. Cuts a longer text to the limit of bytes, but never within a Unicode scalar.
    func text(atMost limit: Int) -> String {
        var end = Swift.min(count, limit)
        while end > 0, end < count, self[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: self[..<end], as: UTF8.self)
    }
}
