/// What the pictures of a HEIF file are put together from, read without the library: it follows a picture that is made of itself
/// until its stack is full.
///
///     guard HEIFReferences(bytes).areFinite else { … }
///
/// A picture of several has references "dimg" to them, in the box "iref" of the box "meta" (ISO/IEC 14496-12, 8.11.12, and
/// 23008-12, 6.6.2). Whatever else is wrong with boxes, the library says itself.
struct HEIFReferences {
    /// For each picture that is made of others, those.
    private var parts: [UInt32: [UInt32]] = [:]

    /// Deeper than anybody puts pictures into each other: cameras have one level.
    private static let deepest = 8

    init(_ bytes: UnsafeRawBufferPointer) {
        Self.eachBox(in: bytes[...]) { type, content in
            // A version and flags come before the boxes of this one.
            guard type == Self.name("meta") else { return }
            Self.eachBox(in: content.dropFirst(4)) { type, content in
                guard type == Self.name("iref"), let version = content.first else { return }
                Self.eachBox(in: content.dropFirst(4)) { type, content in
                    if type == Self.name("dimg") { read(content, numberLength: version == 0 ? 2 : 4) }
                }
            }
        }
    }

    /// Whether no picture is made of itself, by whatever detour, nor of others in more levels than anybody makes.
    var areFinite: Bool {
        var depths: [UInt32: Int] = [:]
        return parts.keys.allSatisfy { depth(of: $0, level: 1, &depths) != nil }
    }

    /// How many levels a picture has; nil if they are too many.
    private func depth(of picture: UInt32, level: Int, _ depths: inout [UInt32: Int]) -> Int? {
        if let depth = depths[picture] { return depth }
        guard level <= Self.deepest else { return nil }
        var deepest = 0
        for part in parts[picture] ?? [] {
            guard let depth = depth(of: part, level: level + 1, &depths) else { return nil }
            deepest = max(deepest, depth)
        }
        guard deepest < Self.deepest else { return nil }
        depths[picture] = deepest + 1
        return deepest + 1
    }

    /// Takes one picture's references: its number, how many there are, and theirs.
    private mutating func read(_ content: Slice<UnsafeRawBufferPointer>, numberLength length: Int) {
        guard let picture = Self.number(content, length) else { return }
        let rest = content.dropFirst(length + 2)
        for start in stride(from: rest.startIndex, to: rest.endIndex - length + 1, by: length) {
            guard let part = Self.number(rest[start...], length) else { return }
            parts[picture, default: []].append(part)
        }
    }

    /// Goes through boxes that follow each other: a length that counts all of the box, a type, and what is in there. A length of 1
    /// is said behind the type, in eight bytes; one of 0 reaches to the end (ISO/IEC 14496-12, 4.2).
    private static func eachBox(
        in bytes: Slice<UnsafeRawBufferPointer>, _ body: (UInt32, Slice<UnsafeRawBufferPointer>) -> Void
    ) {
        var rest = bytes
        while let short = number(rest, 4), let type = number(rest.dropFirst(4), 4) {
            var (length, header) = (Int(short), 8)
            if short == 1 {
                // No file is as long that the upper half says anything.
                guard number(rest.dropFirst(8), 4) == 0, let long = number(rest.dropFirst(12), 4) else { return }
                (length, header) = (Int(long), 16)
            } else if short == 0 {
                length = rest.count
            }
            guard length >= header, length <= rest.count else { return }
            body(type, rest.prefix(length).dropFirst(header))
            rest = rest.dropFirst(length)
        }
    }

    private static func number(_ bytes: Slice<UnsafeRawBufferPointer>, _ length: Int) -> UInt32? {
        guard bytes.count >= length else { return nil }
        return bytes.prefix(length).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func name(_ text: StaticString) -> UInt32 {
        text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }
}
