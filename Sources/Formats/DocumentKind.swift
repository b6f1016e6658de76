import Model

/// Tells what a document is that is no XML, for the sentence that refuses it.
enum DocumentKind {
    /// How many bytes it takes to tell.
    static let length = 64

    /// Names what begins with these bytes: “a JSON file”. Returns nil for nothing but white space.
    static func name(_ beginning: [UInt8]) -> String? {
        let text = (beginning.starts(with: [0xEF, 0xBB, 0xBF]) ? beginning.dropFirst(3) : beginning[...])
            .drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard let first = text.first else { return nil }
        if PictureSignature(beginning) != nil { return "a picture" }
        if beginning.starts(with: "%PDF".utf8) { return "a PDF document" }
        if archives.contains(where: { beginning.starts(with: $0) }) { return "a compressed file" }
        // Texts of two bytes a character have no picture's beginning, and a mark of their own.
        if [[0xFF, 0xFE], [0xFE, 0xFF]].contains(where: { beginning.starts(with: $0) }) { return "a text file" }
        let isBinary = text.contains { $0 == 0x7F || ($0 < 0x20 && !(0x08...0x0D).contains($0) && $0 != 0x1B) }
        if isBinary { return "a binary file" }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? "a JSON file" : "a text file"
    }

    /// Whether these bytes begin a web page, well-formed or not.
    static func isWebPage(_ beginning: [UInt8]) -> Bool {
        let text = String(decoding: beginning.drop { $0 >= 0x80 || $0 <= 0x20 }, as: UTF8.self).lowercased()
        return ["<!doctype html", "<html", "<head", "<body"].contains { text.hasPrefix($0) }
    }

    /// gzip, zip, xz, zstd, bzip2, 7z.
    private static let archives: [[UInt8]] = [
        [0x1F, 0x8B], [0x50, 0x4B, 0x03, 0x04], [0xFD, 0x37, 0x7A, 0x58, 0x5A], [0x28, 0xB5, 0x2F, 0xFD],
        [0x42, 0x5A, 0x68], [0x37, 0x7A, 0xBC, 0xAF],
    ]
}
