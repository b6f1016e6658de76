import Glibc

/// A sort key for names in natural order: `IMG 2` before `IMG 10`.
///
/// A key ignores case and alternates between text and numbers. Text is transformed by the locale's collation and ends
/// with a zero byte, which sorts before all other bytes. A number consists of its digit count, in as many bytes as
/// necessary, and its digits, so that longer numbers are larger.
///
/// One value makes the keys of many names and reuses its buffers.
struct NaturalKey {
    /// The number of bytes of a name that determine its order.
    private static let maximumLength = 256

    /// The key that `make(of:)` made last.
    private(set) var bytes: [UInt8] = []
    /// Whether the locale compares text byte by byte.
    private let isCollationPlain: Bool
    private var name: [UInt8] = []
    /// A part of the name as input for `strxfrm`, and the result of `strxfrm`.
    private var source: [CChar] = []
    private var collated = [CChar](repeating: 0, count: 1_024)

    /// - Parameter locale: the collation locale. Tests pass the name of a plain locale.
    init(locale: String = Self.locale) {
        isCollationPlain = Self.plainLocales.contains(locale)
    }

    /// The locales that compare text byte by byte. Their keys are equal.
    private static let plainLocales: Set<String> = ["C", "POSIX", "C.UTF-8", "C.utf8"]

    /// The name of the collation of the keys that this program makes.
    static var collation: String {
        let locale = locale
        return plainLocales.contains(locale) ? "C" : locale
    }

    /// The name of the program's collation locale.
    private static var locale: String { setlocale(LC_COLLATE, nil).map { String(cString: $0) } ?? "C" }

    static func bytes(of name: String) -> [UInt8] {
        var key = NaturalKey()
        key.make(of: Array(name.utf8)[...])
        return key.bytes
    }

    /// Makes the key of a name in UTF-8. `bytes` then holds the key.
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
            // Repairs a character cut in the middle.
            if !isASCII { name = Array(String(decoding: name, as: UTF8.self).utf8) }
        }
        var index = 0
        while index < name.count {
            let text = index..<end(from: index, digits: false)
            append(text)
            bytes.append(0)
            let number = text.upperBound..<end(from: text.upperBound, digits: true)
            index = number.upperBound
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

    /// Returns the end of the text or number that begins at an index.
    private func end(from start: Int, digits: Bool) -> Int {
        var index = start
        while index < name.count, (0x30...0x39).contains(name[index]) == digits { index += 1 }
        return index
    }
}
