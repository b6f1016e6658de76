extension Address {
    /// Reads what a person typed: a URL, a path, or a host and path without a scheme.
    ///
    ///     try Address(typed: " example.org/album.xml ", home: home, currentFolder: folder)   // http://example.org/album.xml
    ///     try Address(typed: "~/Pictures", home: home, currentFolder: folder)                // file:///home/…/Pictures
    ///
    /// A path begins with `/`, `~`, `./` or `../`; anything else without a scheme is taken for a web address, so that
    /// what one types does not mean another thing in another folder. Whether the place exists is not asked here.
    public init(typed text: String, home: String, currentFolder: String) throws(AddressError) {
        let trimmed = text.trimmed
        guard !trimmed.isEmpty else { throw .empty }
        if trimmed.hasPrefix("/") {
            try self.init(typedPath: trimmed)
        } else if trimmed == "~" || trimmed.hasPrefix("~/") {
            try self.init(typedPath: home + trimmed.dropFirst())
        } else if trimmed == "." || trimmed == ".." || trimmed.hasPrefix("./") || trimmed.hasPrefix("../") {
            try self.init(typedPath: currentFolder + "/" + trimmed)
        } else if Self.hasScheme(trimmed) {
            try self.init(trimmed)
        } else {
            try self.init("http://" + trimmed)
        }
    }

    private init(typedPath path: String) throws(AddressError) {
        guard path.utf8.count <= Self.maximumLength else { throw .tooLong }
        guard path.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw .controlCharacter
        }
        self.init(filePath: path)
    }

    /// `localhost:8080/album` has a colon and no scheme: what follows the colon is a port.
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":") else { return false }
        let name = text[..<colon]
        guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return false }
        let rest = text[text.index(after: colon)...]
        if rest.hasPrefix("//") { return true }
        let port = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return port.isEmpty || !port.allSatisfy(\.isNumber)
    }
}

extension String {
    /// Without white space at either end.
    fileprivate var trimmed: String {
        let start = unicodeScalars.firstIndex { !$0.properties.isWhitespace } ?? unicodeScalars.endIndex
        guard let last = unicodeScalars.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
        return String(unicodeScalars[start...last])
    }
}
