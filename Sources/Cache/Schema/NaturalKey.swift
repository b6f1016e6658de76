import Glibc

/// Bytes whose order is the order in which people expect names: `IMG 2` before `IMG 10`, capitals beside small
/// letters, letters as the user's locale has them.
///
/// A key is text and numbers in turn. Text is transformed by the locale's collation and ended by a zero byte, which
/// sorts before any other; a number is the count of its digits and the digits, so that a longer one is a larger one. A count
/// that a byte does not hold goes on in the next one.
///
/// One of these makes the keys of many names, and takes no memory for each.
struct NaturalKey {
    /// Names longer than this are equal beyond it, as far as their order goes.
    private static let maximumLength = 256

    /// The key that was made last.
    private(set) var bytes: [UInt8] = []
    /// Whether the locale's collation leaves text as it is.
    private let isCollationPlain: Bool
    private var name: [UInt8] = []
    /// A piece of the name, with a zero at its end, and what the collation makes of it.
    private var source: [CChar] = []
    private var collated = [CChar](repeating: 0, count: 1_024)

    /// - Parameter locale: the one whose order it is, as far as it is one of those without an order of their own.
    init(locale: String = Self.locale) {
        isCollationPlain = ["C", "POSIX", "C.UTF-8", "C.utf8"].contains(locale)
    }

    /// The locale that the program runs in.
    private static var locale: String { setlocale(LC_COLLATE, nil).map { String(cString: $0) } ?? "C" }

    static func bytes(of name: String) -> [UInt8] {
        var key = NaturalKey()
        key.make(of: Array(name.utf8)[...])
        return key.bytes
    }

    /// Makes the key of a name, in UTF-8.
    mutating func make(of written: ArraySlice<UInt8>) {
        bytes.removeAll(keepingCapacity: true)
        name.removeAll(keepingCapacity: true)
        var isASCII = true
        for byte in written {
            if byte >= 0x80 { isASCII = false }
            name.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
        }
        if !isASCII {
            name.removeAll(keepingCapacity: true)
            name.append(contentsOf: String(decoding: written, as: UTF8.self).lowercased().utf8)
        }
        if name.count > Self.maximumLength {
            name.removeSubrange(Self.maximumLength...)
            // What was cut in the middle of a character is mended.
            if !isASCII { name = Array(String(decoding: name, as: UTF8.self).utf8) }
        }
        var place = 0
        while place < name.count {
            let text = place..<end(from: place, digits: false)
            append(text)
            bytes.append(0)
            let number = text.upperBound..<end(from: text.upperBound, digits: true)
            place = number.upperBound
            if !number.isEmpty { append(number: number) }
        }
    }

    private mutating func append(number: Range<Int>) {
        var digits = number
        while let first = digits.first, name[first] == UInt8(ascii: "0") { digits = first + 1..<digits.upperBound }
        for _ in 0..<digits.count / Int(UInt8.max) { bytes.append(.max) }
        bytes.append(UInt8(digits.count % Int(UInt8.max)))
        bytes += name[digits]
    }

    private mutating func append(_ text: Range<Int>) {
        guard !text.isEmpty else { return }
        if isCollationPlain, name[text].allSatisfy({ $0 < 0x80 && $0 != 0 }) {
            bytes += name[text]
            return
        }
        source.removeAll(keepingCapacity: true)
        for byte in name[text] where byte != 0 { source.append(CChar(bitPattern: byte)) }
        source.append(0)
        // "Returns the number of bytes needed for the transformed string, without the terminating null byte."
        var needed = strxfrm(&collated, source, collated.count)
        if needed >= collated.count {
            collated = [CChar](repeating: 0, count: needed + 1)
            needed = min(needed, strxfrm(&collated, source, collated.count))
        }
        for byte in collated.prefix(needed) { bytes.append(UInt8(bitPattern: byte)) }
    }

    /// The end of the text, or of the number, that begins at a place.
    private func end(from start: Int, digits: Bool) -> Int {
        var place = start
        while place < name.count, (0x30...0x39).contains(name[place]) == digits { place += 1 }
        return place
    }
}
