/// A colour profile's header and table of elements, read without trust: every place is checked, and nothing is kept.
struct ICCProfile {
    /// More than any profile has that is understood here: three curves of 65,536 numbers.
    static let longest = 1 << 20

    private static let headerLength = 128
    private static let mostElements = 200

    /// One element's bytes; it begins with its type.
    struct Element {
        fileprivate let bytes: UnsafeRawBufferPointer

        var type: Int? { number(at: 0) }

        func number(at offset: Int) -> Int? { ICCProfile.number(bytes, at: offset) }

        func short(at offset: Int) -> Int? {
            guard offset >= 0, offset + 2 <= bytes.count else { return nil }
            return Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
        }

        /// 16 bits before the point and 16 behind it, with a sign.
        func fixed(at offset: Int) -> Double? {
            number(at: offset).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
        }
    }

    private let bytes: UnsafeRawBufferPointer

    /// Looks at a profile's header; nothing for what is none, or too long to be worth it.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > Self.headerLength, bytes.count <= Self.longest,
            Self.number(bytes, at: 36) == Self.signature("acsp")
        else { return nil }
        self.bytes = bytes
    }

    /// What the numbers are of: "RGB " or "GRAY", and others that are not understood.
    var space: Int? { Self.number(bytes, at: 16) }

    /// What they are turned into: "XYZ " for those that are understood.
    var connection: Int? { Self.number(bytes, at: 20) }

    /// The element of that name, if there is one and it lies within the profile.
    func element(_ name: StaticString) -> Element? {
        let wanted = Self.signature(name)
        let count = min(Self.number(bytes, at: Self.headerLength) ?? 0, Self.mostElements)
        for index in 0..<count {
            let entry = Self.headerLength + 4 + 12 * index
            guard let found = Self.number(bytes, at: entry), let start = Self.number(bytes, at: entry + 4),
                let length = Self.number(bytes, at: entry + 8)
            else { return nil }
            if found == wanted {
                guard start <= bytes.count, length <= bytes.count - start else { return nil }
                return Element(bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
            }
        }
        return nil
    }

    /// Four letters as the number that they are in the file.
    static func signature(_ name: StaticString) -> Int {
        UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount).reduce(0) { $0 << 8 | Int($1) }
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
        guard offset >= 0, offset + 4 <= bytes.count else { return nil }
        return Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }
}
