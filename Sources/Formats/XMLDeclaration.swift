/// An XML declaration, `<?xml version="1.0" encoding="…"?>`, read for its encoding.
struct XMLDeclaration {
    /// The encoding that it names; nil if it names none.
    private(set) var encoding: String?

    /// Whether an instruction is a declaration, by its first characters.
    static func isBegun(by instruction: [UInt8]) -> Bool {
        instruction.starts(with: "xml".utf8) && instruction.dropFirst(3).first.map(isBlank) ?? false
    }

    /// Reads an instruction without `<?` and `?>`. Returns nil if it is no declaration, or is written against the rules.
    init?(_ instruction: [UInt8]) {
        guard Self.isBegun(by: instruction) else { return nil }
        var rest = instruction.dropFirst(3).drop(while: Self.isBlank)
        while !rest.isEmpty {
            let name = rest.prefix { $0 != UInt8(ascii: "=") && !Self.isBlank($0) }
            rest = rest.dropFirst(name.count).drop(while: Self.isBlank)
            guard rest.first == UInt8(ascii: "=") else { return nil }
            rest = rest.dropFirst().drop(while: Self.isBlank)
            guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
            let value = rest.dropFirst().prefix { $0 != quote }
            rest = rest.dropFirst(value.count + 1)
            guard rest.first == quote else { return nil }
            rest = rest.dropFirst().drop(while: Self.isBlank)
            // Another one of the same name makes the document malformed; of two, none is believed.
            if name.elementsEqual("encoding".utf8) {
                guard encoding == nil else { return nil }
                encoding = String(decoding: value, as: UTF8.self)
            }
        }
    }

    private static func isBlank(_ unit: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(unit) }
}
