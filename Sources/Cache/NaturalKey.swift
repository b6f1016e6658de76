import Glibc

/// Bytes whose order is the order in which people expect names: `IMG 2` before `IMG 10`, capitals beside small
/// letters, letters as the user's locale has them.
///
/// A key is text and numbers in turn. Text is transformed by the locale's collation and ended by a zero byte, which
/// sorts before any other; a number is the count of its digits and the digits, so that a longer one is a larger one. A count
/// that a byte does not hold goes on in the next one.
enum NaturalKey {
    /// Names longer than this are equal beyond it, as far as their order goes.
    private static let maximumLength = 256

    static func bytes(of name: String) -> [UInt8] {
        var key: [UInt8] = []
        var rest = Array(name.lowercased().utf8.prefix(maximumLength))[...]
        while !rest.isEmpty {
            let text = rest.prefix { !isDigit($0) }
            key += collated(text)
            key.append(0)
            rest = rest.dropFirst(text.count)
            let number = rest.prefix(while: isDigit)
            rest = rest.dropFirst(number.count)
            guard !number.isEmpty else { break }
            let digits = number.drop { $0 == UInt8(ascii: "0") }
            key += [UInt8](repeating: .max, count: digits.count / Int(UInt8.max))
            key.append(UInt8(digits.count % Int(UInt8.max)))
            key += digits
        }
        return key
    }

    private static func collated(_ text: ArraySlice<UInt8>) -> [UInt8] {
        // "Returns the number of bytes needed for the transformed string, without the terminating null byte."
        String(decoding: text.filter { $0 != 0 }, as: UTF8.self).withCString { source in
            let needed = strxfrm(nil, source, 0)
            return [UInt8](unsafeUninitializedCapacity: needed + 1) { buffer, count in
                buffer.withMemoryRebound(to: CChar.self) { target in
                    count = min(needed, strxfrm(target.baseAddress, source, needed + 1))
                }
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
