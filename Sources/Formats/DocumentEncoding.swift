/// How a document's characters lie in its bytes, as far as it takes to find its tags.
///
/// Read are UTF-8, UTF-16, and encodings of one byte a character that have ASCII in their lower half. In all of these a
/// tag's signs can be told without a conversion. In others they cannot: a byte that looks like `]` may be half of a
/// character in Shift_JIS, and a `<` may be written in letters in UTF-7. Those are refused.
enum DocumentEncoding: Equatable {
    case bytes
    case utf16(isLittleEndian: Bool)

    /// Recognises a document by its first four bytes, as libxml2 does.
    ///
    /// Throws ``FormatError/encoding(_:)`` for those that are not read.
    init(_ beginning: some Collection<UInt8>) throws(FormatError) {
        let bytes = Array(beginning.prefix(4))
        switch bytes {
        case [0xFF, 0xFE, 0x00, 0x00], [0x00, 0x00, 0xFE, 0xFF], [0x3C, 0x00, 0x00, 0x00], [0x00, 0x00, 0x00, 0x3C],
            [0x00, 0x00, 0x3C, 0x00], [0x00, 0x3C, 0x00, 0x00]:
            throw .encoding("UTF-32")
        case [0x4C, 0x6F, 0xA7, 0x94]: throw .encoding("EBCDIC")
        case _ where bytes.starts(with: [0xFF, 0xFE]), [0x3C, 0x00, 0x3F, 0x00]: self = .utf16(isLittleEndian: true)
        case _ where bytes.starts(with: [0xFE, 0xFF]), [0x00, 0x3C, 0x00, 0x3F]: self = .utf16(isLittleEndian: false)
        default: self = .bytes
        }
    }

    /// How many bytes of a document come before its first character.
    func markLength(_ beginning: some Collection<UInt8>) -> Int {
        switch self {
        case .bytes: beginning.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        case .utf16: beginning.starts(with: [0xFF, 0xFE]) || beginning.starts(with: [0xFE, 0xFF]) ? 2 : 0
        }
    }

    /// Throws ``FormatError/encoding(_:)`` unless a document that is encoded so may name that encoding.
    func check(declared name: String) throws(FormatError) {
        let name = name.lowercased()
        // libxml2 keeps to the bytes that it sees where one of these is named, or refuses the document.
        if ["utf-8", "utf8", "utf-16", "utf16"].contains(name) { return }
        let isRead =
            switch self {
            case .bytes: Self.isSingleByte(name)
            case .utf16(let isLittleEndian): name == (isLittleEndian ? "utf-16le" : "utf-16be")
            }
        guard isRead else { throw .encoding(name.cut(toBytes: 32)) }
    }

    /// Takes some bytes for code units: those beyond ASCII all become one that is none of XML's signs.
    ///
    /// - Parameter odd: half of a unit that the bytes before have left, and then what these leave.
    func units(_ bytes: ArraySlice<UInt8>, odd: inout UInt8?) -> ArraySlice<UInt8> {
        guard case .utf16(let isLittleEndian) = self else { return bytes }
        var units: [UInt8] = []
        units.reserveCapacity(bytes.count / 2 + 1)
        for byte in bytes {
            guard let first = odd else {
                odd = byte
                continue
            }
            odd = nil
            let (low, high) = isLittleEndian ? (first, byte) : (byte, first)
            units.append(high == 0 && low < 0x80 ? low : 0xFF)
        }
        return units[...]
    }

    private static func isSingleByte(_ name: String) -> Bool {
        if ["us-ascii", "ascii", "latin1", "koi8-r", "koi8-u"].contains(name) { return true }
        return ["iso-8859-", "iso8859-", "iso_8859-", "windows-125", "cp125"].contains { prefix in
            name.hasPrefix(prefix) && (1...2).contains(name.utf8.count - prefix.utf8.count)
                && name.utf8.dropFirst(prefix.utf8.count).allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}
