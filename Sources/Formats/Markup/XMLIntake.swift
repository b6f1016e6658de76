import Model

/// Checks a document's bytes and passes them to libxml2 in pieces of limited size.
///
/// libxml2 rescans an unfinished tag from its start with each piece. So this type buffers incomplete tags until they
/// are complete or fill a piece, and after the first bytes it joins small pieces.
struct XMLIntake {
    /// The maximum number of bytes to process at once.
    static let pieceSize = 16_384
    /// The number of bytes needed to identify a document that is not XML.
    private static let tellingLength = 16

    private var encoding: DocumentEncoding?
    private var scanner = MarkupScanner()
    private var isDeclarationChecked = false
    private var head: [UInt8] = []
    private var odd: UInt8?
    private var pending = PieceBuffer()
    private var received = 0
    /// Whether libxml2 converts the document to UTF-8. The conversion makes the document up to three times as long.
    private var isConverted = false
    /// The maximum number of bytes of a document that libxml2 converts.
    private let maximumConverted: Int

    /// - Parameter maximumConverted: the maximum number of bytes of a document that is not UTF-8. After 4 GiB of
    ///   converted text, libxml2 2.9 no longer notices that it cannot continue, and never returns.
    init(maximumConverted: Int = 1 << 30) { self.maximumConverted = maximumConverted }

    /// Adds the next bytes, at most ``pieceSize``. Returns the bytes to parse now.
    ///
    /// - Parameter line: libxml2's current line, for errors.
    mutating func take(_ bytes: ArraySlice<UInt8>, line: Int) throws -> [UInt8] {
        received += bytes.count
        guard !isConverted || received <= maximumConverted else {
            throw FormatError.tooLongToConvert(mebibytes: maximumConverted >> 20)
        }
        if head.count < DocumentKind.length { head += bytes.prefix(DocumentKind.length - head.count) }
        pending.append(bytes)
        if encoding != nil {
            try scan(bytes, line: line)
        } else {
            guard pending.bytes.count >= 4 else { return [] }
            try begin(line: line)
        }
        if scanner.beginsWithText {
            guard head.count < Self.tellingLength else { throw refusal }
            return []
        }
        return pending.next(pieceSize: Self.pieceSize)
    }

    /// Returns the remaining bytes at the end of the document.
    mutating func finish() throws -> [UInt8] {
        if encoding == nil { try begin(line: 1) }
        guard scanner.hasMarkup, !scanner.beginsWithText else { throw refusal }
        return pending.takeAll()
    }

    /// Whether the document begins like a web page.
    var isWebPage: Bool { DocumentKind.isWebPage(head) }

    private var refusal: FormatError {
        // `head` may contain only white space. The kind of the text after so much white space does not matter.
        let kind = DocumentKind.name(head) ?? (scanner.beginsWithText ? "a text file" : nil)
        return kind.map { .notAGallery($0) } ?? .empty
    }

    private mutating func begin(line: Int) throws {
        let encoding = try DocumentEncoding(pending.bytes)
        self.encoding = encoding
        isConverted = encoding != .bytes
        try scan(pending.bytes.dropFirst(encoding.markLength(pending.bytes)), line: line)
    }

    private mutating func scan(_ bytes: ArraySlice<UInt8>, line: Int) throws {
        guard let encoding else { return }
        let unitSize = encoding == .bytes ? 1 : 2
        let units = encoding.units(bytes, odd: &odd)
        do {
            if let end = try scanner.scan(units) {
                // After the last complete tag come further units and perhaps half a unit.
                pending.markComplete(beforeLast: (units.count - end) * unitSize + (odd == nil ? 0 : 1))
            }
        } catch {
            switch error {
            case .attributes: throw FormatError.tooManyAttributes(line: line)
            case .tag: throw FormatError.tooLong(line: line)
            }
        }
        try checkDeclaration()
    }

    private mutating func checkDeclaration() throws {
        guard !isDeclarationChecked, let declaration = scanner.declaration else { return }
        isDeclarationChecked = true
        guard XMLDeclaration.isBegun(by: declaration) else { return }
        guard let read = XMLDeclaration(declaration) else {
            throw FormatError.malformed(line: 1, reason: "its XML declaration cannot be read")
        }
        guard let name = read.encoding else { return }
        try encoding?.check(declared: name)
        if !["utf-8", "utf8", "us-ascii", "ascii"].contains(name.lowercased()) { isConverted = true }
    }
}

/// An XML declaration, `<?xml version="1.0" encoding="…"?>`, parsed for its encoding.
struct XMLDeclaration {
    /// The declared encoding; nil if the declaration names no encoding.
    private(set) var encoding: String?

    /// Returns whether an instruction begins like an XML declaration.
    static func isBegun(by instruction: [UInt8]) -> Bool {
        instruction.starts(with: "xml".utf8) && instruction.dropFirst(3).first.map(isBlank) ?? false
    }

    /// Parses an instruction without `<?` and `?>`. Returns nil if the instruction is not a valid declaration.
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
            // A second encoding makes the document malformed; use neither.
            if name.elementsEqual("encoding".utf8) {
                guard encoding == nil else { return nil }
                encoding = String(decoding: value, as: UTF8.self)
            }
        }
    }

    private static func isBlank(_ unit: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(unit) }
}

/// The encoding of a document, as precisely as finding tags requires.
///
/// The type supports UTF-8, UTF-16 and single-byte encodings based on ASCII. In these, markup can be found without
/// decoding. The type rejects other encodings. For example, in Shift_JIS a `]` byte may be half of a character, and in
/// UTF-7 a `<` may be written with letters.
enum DocumentEncoding: Equatable {
    case bytes
    case utf16(isLittleEndian: Bool)

    /// Detects the encoding from the first four bytes, as libxml2 does.
    ///
    /// Throws ``FormatError/encoding(_:)`` for unsupported encodings.
    init(_ beginning: some Collection<UInt8>) throws(FormatError) {
        let bytes = Array(beginning.prefix(4))
        switch bytes {
        case [0xFF, 0xFE, 0x00, 0x00], [0x00, 0x00, 0xFE, 0xFF], [0x3C, 0x00, 0x00, 0x00], [0x00, 0x00, 0x00, 0x3C],
            [0x00, 0x00, 0x3C, 0x00], [0x00, 0x3C, 0x00, 0x00]:
            throw .encoding("UTF-32")
        case [0x4C, 0x6F, 0xA7, 0x94]: throw .encoding("EBCDIC")
        case _ where bytes.starts(with: [0xFF, 0xFE]), [0x3C, 0x00, 0x3F, 0x00]: self = .utf16(isLittleEndian: true)
        case _ where bytes.starts(with: [0xFE, 0xFF]), [0x00, 0x3C, 0x00, 0x3F]: self = .utf16(isLittleEndian: false)
        default: self = .bytes
        }
    }

    /// Returns the number of bytes in the byte order mark.
    func markLength(_ beginning: some Collection<UInt8>) -> Int {
        switch self {
        case .bytes: beginning.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        case .utf16: beginning.starts(with: [0xFF, 0xFE]) || beginning.starts(with: [0xFE, 0xFF]) ? 2 : 0
        }
    }

    /// Throws ``FormatError/encoding(_:)`` if the declared name does not match this encoding.
    func check(declared name: String) throws(FormatError) {
        let name = name.lowercased()
        // For these names libxml2 uses the detected encoding or rejects the document.
        if ["utf-8", "utf8", "utf-16", "utf16"].contains(name) { return }
        let isRead =
            switch self {
            case .bytes: Self.isSingleByte(name)
            case .utf16(let isLittleEndian): name == (isLittleEndian ? "utf-16le" : "utf-16be")
            }
        guard isRead else { throw .encoding(name.cut(toBytes: 32)) }
    }

    /// Converts bytes to code units. Units beyond ASCII become 0xFF, which is not markup.
    ///
    /// - Parameter odd: the first half of a unit that the previous bytes ended with. This method updates it for the
    ///   next bytes.
    func units(_ bytes: ArraySlice<UInt8>, odd: inout UInt8?) -> ArraySlice<UInt8> {
        guard case .utf16(let isLittleEndian) = self else { return bytes }
        var units: [UInt8] = []
        units.reserveCapacity(bytes.count / 2 + 1)
        for byte in bytes {
            guard let first = odd else {
                odd = byte
                continue
            }
            odd = nil
            let (low, high) = isLittleEndian ? (first, byte) : (byte, first)
            units.append(high == 0 && low < 0x80 ? low : 0xFF)
        }
        return units[...]
    }

    private static func isSingleByte(_ name: String) -> Bool {
        if ["us-ascii", "ascii", "latin1", "koi8-r", "koi8-u"].contains(name) { return true }
        return ["iso-8859-", "iso8859-", "iso_8859-", "windows-125", "cp125"].contains { prefix in
            name.hasPrefix(prefix) && (1...2).contains(name.utf8.count - prefix.utf8.count)
                && name.utf8.dropFirst(prefix.utf8.count).allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}

/// Identifies documents that are not XML, for error messages.
enum DocumentKind {
    /// The number of bytes needed to identify a document.
    static let length = 64

    /// Returns the kind of document, such as “a JSON file”. Returns nil if the bytes are only white space.
    static func name(_ beginning: [UInt8]) -> String? {
        let text = (beginning.starts(with: [0xEF, 0xBB, 0xBF]) ? beginning.dropFirst(3) : beginning[...])
            .drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard let first = text.first else { return nil }
        if PictureSignature(beginning) != nil { return "a picture" }
        if beginning.starts(with: "%PDF".utf8) { return "a PDF document" }
        if archives.contains(where: { beginning.starts(with: $0) }) { return "a compressed file" }
        // A UTF-16 text begins with a byte order mark, with which no picture begins.
        if [[0xFF, 0xFE], [0xFE, 0xFF]].contains(where: { beginning.starts(with: $0) }) { return "a text file" }
        let isBinary = text.contains { $0 == 0x7F || ($0 < 0x20 && !(0x08...0x0D).contains($0) && $0 != 0x1B) }
        if isBinary { return "a binary file" }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? "a JSON file" : "a text file"
    }

    /// Returns whether a document begins like a web page, well-formed or not.
    static func isWebPage(_ beginning: [UInt8]) -> Bool {
        let text = String(decoding: beginning.drop { $0 >= 0x80 || $0 <= 0x20 }, as: UTF8.self).lowercased()
        return ["<!doctype html", "<html", "<head", "<body"].contains { text.hasPrefix($0) }
    }

    /// The first bytes of gzip, zip, xz, zstd, bzip2 and 7z files.
    private static let archives: [[UInt8]] = [
        [0x1F, 0x8B], [0x50, 0x4B, 0x03, 0x04], [0xFD, 0x37, 0x7A, 0x58, 0x5A], [0x28, 0xB5, 0x2F, 0xFD],
        [0x42, 0x5A, 0x68], [0x37, 0x7A, 0xBC, 0xAF],
    ]
}

/// Buffers a document's bytes until libxml2 should read them.
///
/// libxml2 rescans an unfinished tag from its start with each piece, and each call costs time. So the buffer holds back
/// incomplete tags, and after the first bytes it joins small pieces.
struct PieceBuffer {
    /// The maximum number of bytes of complete tags to buffer. The buffer joins small pieces up to this number.
    private static let smallPiece = 4_096

    /// The buffered bytes.
    private(set) var bytes: [UInt8] = []
    /// The number of bytes up to the end of the last complete tag.
    private var complete = 0
    private var handed = 0

    /// Appends bytes.
    mutating func append(_ more: some Sequence<UInt8>) {
        bytes += more
    }

    /// Records the end of the last complete tag.
    ///
    /// - Parameter count: the number of bytes after this end in the buffer.
    mutating func markComplete(beforeLast count: Int) {
        complete = max(0, bytes.count - count)
    }

    /// Returns the bytes to parse now, and removes them from the buffer. The bytes end with a tag unless the buffer is
    /// full.
    ///
    /// - Parameter pieceSize: the number of bytes that fill the buffer; nil if it may hold any incomplete tag.
    mutating func next(pieceSize: Int?) -> [UInt8] {
        let count: Int
        if let pieceSize, bytes.count >= pieceSize {
            count = bytes.count
        } else if complete > 0, complete >= min(handed / 8, Self.smallPiece) {
            count = complete
        } else {
            return []
        }
        let piece = Array(bytes[..<count])
        bytes.removeFirst(count)
        complete = 0
        handed += count
        return piece
    }

    /// Returns all bytes, and empties the buffer.
    mutating func takeAll() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}
