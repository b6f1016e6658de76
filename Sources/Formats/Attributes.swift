import CLibXML2

/// The attributes of the element that the parser stands on. Valid inside the parser's callback alone.
struct Attributes {
    /// Five pointers an attribute: name, prefix, namespace, and the value's first byte and the one after its last.
    private let pointers: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    private let count: Int

    init(_ pointers: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, count: Int32) {
        self.pointers = pointers
        self.count = Int(count)
    }

    /// The longest value, in bytes.
    var longest: Int {
        var longest = 0
        for index in 0..<count { longest = max(longest, value(at: index)?.count ?? 0) }
        return longest
    }

    /// The value of an attribute without a namespace, as it lies in the parser's memory; nil if the element does not have it.
    subscript(name: XMLName) -> UnsafeRawBufferPointer? {
        for index in 0..<count {
            guard let pointers, pointers[index * 5 + 1] == nil, let found = pointers[index * 5], found == name else {
                continue
            }
            return value(at: index)
        }
        return nil
    }

    /// Appends what a value says. Where entities are not substituted (and here none ever is), libxml2 writes every `&`,
    /// however the document wrote it, as `&#38;`: so that whoever reads the value again finds it well-formed. Nobody does
    /// here.
    static func append(_ value: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        guard value.contains(UInt8(ascii: "&")) else { return bytes.append(contentsOf: value) }
        let escaped: [UInt8] = [0x26, 0x23, 0x33, 0x38, 0x3B]
        var rest = value[...]
        while let byte = rest.first {
            bytes.append(byte)
            rest = rest.dropFirst(rest.starts(with: escaped) ? escaped.count : 1)
        }
    }

    private func value(at index: Int) -> UnsafeRawBufferPointer? {
        guard let pointers, let start = pointers[index * 5 + 3], let end = pointers[index * 5 + 4] else { return nil }
        return UnsafeRawBufferPointer(start: start, count: end - start)
    }
}
