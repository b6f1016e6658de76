import Model

/// Where a photo lies in its folder: `summer/Lake #2.jpg`.
struct PhotoPath: Hashable, Sendable {
    /// As the file system has it, relative to the folder.
    let text: String

    /// As an address has it, relative to that of the list: `summer/Lake%20%232.jpg`. It is the photo's id too.
    ///
    /// As an id it is as stable as the file's place, since it depends on nothing else, and no two photos share one: it can be
    /// read back, so different paths have different ones. It is plain ASCII, and so cannot be taken for another that looks the
    /// same, as an accent can be that is part of its letter here and follows it there.
    ///
    /// Everything is escaped but what RFC 3986 leaves to itself in every place (section 2.3): a colon would make a scheme of
    /// the first word.
    let reference: String

    init(_ text: String) {
        self.text = text
        reference = Self.escaped(text, keepingSlashes: true)
    }

    /// The file's name without what follows its last dot.
    var stem: String {
        let name = text[(text.lastIndex(of: "/").map { text.index(after: $0) } ?? text.startIndex)...]
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return String(name) }
        return String(name[..<dot])
    }

    /// Whether the reader of galleries takes such an id, and such an address.
    var canBePublished: Bool { reference.utf8.count <= Self.longest }

    private static let longest = 4_096

    /// Nothing but letters, digits and `-._~` and escapes.
    static func escaped(_ text: String, keepingSlashes: Bool = false) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                escaped.append(byte)
            case UInt8(ascii: "/") where keepingSlashes: escaped.append(byte)
            default: escaped += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x41 + value - 10 }
}
