import CLibXML2

/// Finds the name of a document's first element, which shows its format.
enum DocumentRoot {
    /// Returns the name of the first tag in lower case, without its prefix.
    ///
    /// Skips a declaration, comments and a document type. Returns nil if the bytes do not contain the whole name, or
    /// begin with something else.
    static func name(_ beginning: [UInt8]) -> [UInt8]? {
        var rest = beginning[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        while true {
            rest = rest.drop { isBlank($0) }
            guard rest.first == UInt8(ascii: "<") else { return nil }
            rest = rest.dropFirst()
            guard rest.first == UInt8(ascii: "?") || rest.first == UInt8(ascii: "!") else { break }
            let ending = Array((rest.starts(with: "!--".utf8) ? "-->" : ">").utf8)
            guard let end = rest.firstRange(of: ending) else { return nil }
            rest = rest[end.upperBound...]
        }
        let name = rest.prefix { !isBlank($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
        guard name.endIndex < rest.endIndex else { return nil }
        let local = name.lastIndex(of: UInt8(ascii: ":")).map { name[name.index(after: $0)...] } ?? name
        return local.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}

extension FormatError {
    /// Returns the error for an XML document with another root.
    static func otherDocument(_ root: UnsafePointer<xmlChar>) -> FormatError {
        .notAGallery(String(cString: root).lowercased() == "html" ? "a web page" : "another kind of XML document")
    }
}

extension Collection<UInt8> {
    /// The bytes without white space at their ends.
    var trimmedOfWhiteSpace: [UInt8] {
        func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }
        var bytes = Array(drop(while: isBlank))
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return bytes
    }
}
