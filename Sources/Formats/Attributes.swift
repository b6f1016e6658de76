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
        (0..<count).reduce(0) { Swift.max($0, value(at: $1)?.count ?? 0) }
    }

    /// The value of an attribute without a namespace; nil if the element does not have it.
    subscript(name: String) -> String? {
        for index in 0..<count {
            guard let pointers, pointers[index * 5 + 1] == nil, let found = pointers[index * 5],
                xmlStrEqual(found, name) != 0
            else { continue }
            return value(at: index).map { Self.text($0) }
        }
        return nil
    }

    /// What a value says. Where entities are not substituted (and here none ever is), libxml2 writes every `&`, however
    /// the document wrote it, as `&#38;`: so that whoever reads the value again finds it well-formed. Nobody does here.
    private static func text(_ value: UnsafeBufferPointer<xmlChar>) -> String {
        guard value.contains(UInt8(ascii: "&")) else { return String(decoding: value, as: UTF8.self) }
        let escaped = Array("&#38;".utf8)
        var text: [UInt8] = []
        var rest = value[...]
        while let byte = rest.first {
            text.append(byte)
            rest = rest.dropFirst(rest.starts(with: escaped) ? escaped.count : 1)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private func value(at index: Int) -> UnsafeBufferPointer<xmlChar>? {
        guard let pointers, let start = pointers[index * 5 + 3], let end = pointers[index * 5 + 4] else { return nil }
        return UnsafeBufferPointer(start: start, count: end - start)
    }
}
