/// Checks a document's bytes as they arrive, and hands them to libxml2 in pieces of a bounded size.
///
/// libxml2 looks at an unfinished tag again with each piece, from the tag's beginning. So a tag that comes a byte at a time
/// is kept until it is whole, or fills a piece; and after the first bytes small pieces are put together.
struct XMLIntake {
    /// The most bytes that are looked at at once.
    static let pieceSize = 16_384
    /// Bytes of whole tags that are handed on however the document goes on.
    private static let smallPiece = 4_096
    /// Bytes of what is no XML by which it is told what it is instead.
    private static let tellingLength = 16

    private var encoding: DocumentEncoding?
    private var scanner = MarkupScanner()
    private var isDeclarationChecked = false
    private var head: [UInt8] = []
    private var odd: UInt8?
    /// The bytes that wait, and how many of them may be handed on.
    private var pending: [UInt8] = []
    private var whole = 0
    private var handed = 0

    /// Takes the next bytes, at most ``pieceSize``. Returns those that libxml2 may have now.
    ///
    /// - Parameter line: the line that libxml2 stands on, for errors.
    mutating func take(_ bytes: ArraySlice<UInt8>, line: Int) throws -> [UInt8] {
        if head.count < DocumentKind.length { head += bytes.prefix(DocumentKind.length - head.count) }
        pending += bytes
        if encoding != nil {
            try scan(bytes, line: line)
        } else {
            guard pending.count >= 4 else { return [] }
            try begin(line: line)
        }
        if scanner.beginsWithText {
            guard head.count < Self.tellingLength else { throw refusal }
            return []
        }
        return next()
    }

    /// Returns what is left. The document is over.
    mutating func finish() throws -> [UInt8] {
        if encoding == nil { try begin(line: 1) }
        guard scanner.hasMarkup, !scanner.beginsWithText else { throw refusal }
        defer { pending = [] }
        return pending
    }

    /// Whether it begins as web pages do.
    var isWebPage: Bool { DocumentKind.isWebPage(head) }

    private var refusal: FormatError {
        // Behind so much white space it is not worth telling of which kind.
        let kind = DocumentKind.name(head) ?? (scanner.beginsWithText ? "a text file" : nil)
        return kind.map { .notAGallery($0) } ?? .empty
    }

    private mutating func begin(line: Int) throws {
        let encoding = try DocumentEncoding(pending)
        self.encoding = encoding
        try scan(pending.dropFirst(encoding.markLength(pending)), line: line)
    }

    private mutating func scan(_ bytes: ArraySlice<UInt8>, line: Int) throws {
        guard let encoding else { return }
        let unitSize = encoding == .bytes ? 1 : 2
        let units = encoding.units(bytes, odd: &odd)
        do {
            if let end = try scanner.scan(units) {
                // Behind the last whole tag lie the units after it, and half of one perhaps.
                whole = pending.count - (units.count - end) * unitSize - (odd == nil ? 0 : 1)
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
        if let name = read.encoding { try encoding?.check(declared: name) }
    }

    private mutating func next() -> [UInt8] {
        let count: Int
        if pending.count >= Self.pieceSize {
            count = pending.count
        } else if whole > 0, whole >= min(handed / 8, Self.smallPiece) {
            count = whole
        } else {
            return []
        }
        defer {
            pending.removeFirst(count)
            whole = 0
            handed += count
        }
        return Array(pending[..<count])
    }
}
