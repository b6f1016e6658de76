/// References as nearly all galleries have them, a path further down of letters, digits and a few signs, which is its own
/// normal form: where one leads is told by what stands before it.
///
/// A gallery may have two million, and taking each apart took most of an update's time.
public struct PlainReference: Sendable {
    /// What the text of such an address begins with.
    private let beginning: [UInt8]

    /// - Parameter base: the address that the document was read from.
    public init(base: Address) {
        let folder = Address(
            scheme: base.scheme, host: base.host, port: base.port, path: base.folderPath, query: nil, credentials: nil)
        beginning = Array(folder.text.utf8)
    }

    /// Appends the text of the address that a reference leads to, as ``Address/resolving(_:)`` and ``Address/text`` have
    /// it. Such an address is always one that the gallery may name.
    ///
    /// Returns false, and appends nothing, if the reference is not a plain one.
    public func append(_ reference: UnsafeRawBufferPointer, to entry: inout EntryBytes) -> Bool {
        guard Self.isPlain(reference) else { return false }
        entry.append(beginning)
        entry.append(reference)
        return true
    }

    static func isPlain(_ reference: some Collection<UInt8>) -> Bool {
        var before = UInt8(ascii: "/")
        var count = 0
        for byte in reference {
            count += 1
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): break
            // Two slashes, or a dot at a segment's beginning, mean something else.
            case UInt8(ascii: "/"), UInt8(ascii: "."): guard before != UInt8(ascii: "/") else { return false }
            default: return false
            }
            before = byte
        }
        return before != UInt8(ascii: "/") && count <= Address.maximumLength
    }
}
