import CLibXML2
import Glibc

/// Wraps libxml2's push parser for web pages: takes bytes and delivers tags and texts.
///
/// libxml2 builds no tree, loads nothing and ignores the encoding that the page declares. Texts contain bytes beyond
/// ASCII in the form that ``ByteEscaping`` describes.
final class HTMLPushStream {
    /// A tag or a text. The value is valid only during the callback.
    enum Event {
        case start(name: UnsafePointer<xmlChar>, HTMLAttributes)
        case end(name: UnsafePointer<xmlChar>)
        /// A piece of a text, with references replaced by their characters. Scripts and styles are left out.
        case text(UnsafeRawBufferPointer)
    }

    private let libraryFile: String
    /// The loaded library; nil until the first bytes arrive.
    private var library: XMLLibrary?
    private var parser: xmlParserCtxtPtr?
    private var escaping = ByteEscaping()
    private var filter = HTMLFilter()
    private var pending = PieceBuffer()
    private var head: [UInt8] = []
    private var consumer: ((Event) throws -> Void)?
    /// The error that stopped the stream. Swift errors cannot pass through C code.
    private var stop: (any Error)?
    private var bytesSinceTag = 0
    private var depth = 0

    /// The maximum number of nested elements. The limit is higher than for XML, because old pages leave many elements
    /// open.
    private static let maximumDepth = 250
    /// The maximum number of different names. libxml2 keeps all names in a table, and this number limits its size.
    private static let maximumNames = 2_000

    /// - Parameter library: the file name of libxml2.
    init(library: String) {
        libraryFile = library
    }

    deinit {
        if let library, let parser { cxml_free(library.functions, parser) }
    }

    /// Parses the next bytes of the page.
    func push(_ bytes: [UInt8], consumer: @escaping (Event) throws -> Void) throws {
        self.consumer = consumer
        defer { self.consumer = nil }
        if let stop { throw stop }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(XMLIntake.pieceSize)
            rest = rest.dropFirst(piece.count)
            do { try take(piece) } catch {
                stop = error
                throw error
            }
        }
    }

    /// Parses the end of the page. Throws if the page ends within a tag, or if the document is no web page.
    func finish(consumer: @escaping (Event) throws -> Void) throws {
        self.consumer = consumer
        defer { self.consumer = nil }
        if let stop { throw stop }
        guard filter.hasTags else { throw refusal }
        guard !filter.isInTag else { throw FormatError.malformed(line: line, reason: "it ends within a tag") }
        try parse(pending.takeAll(), isLast: false)
        try parse([], isLast: true)
    }

    private var refusal: FormatError { DocumentKind.name(head).map { .notAGallery($0) } ?? .empty }

    private var line: Int { parser.map { max(1, Int(cxml_line($0))) } ?? 1 }

    private func take(_ bytes: ArraySlice<UInt8>) throws {
        if head.count < DocumentKind.length { head += bytes.prefix(DocumentKind.length - head.count) }
        if [[0xFF, 0xFE], [0xFE, 0xFF]].contains(where: { head.starts(with: $0) }) {
            throw FormatError.encoding("UTF-16")
        }
        let escaped = escaping.escape(bytes)
        var output: [UInt8] = []
        output.reserveCapacity(escaped.count + 64)
        bytesSinceTag += bytes.count
        do {
            let end = try filter.filter(escaped, to: &output)
            pending.append(output)
            if let end {
                pending.markComplete(beforeLast: output.count - end)
                bytesSinceTag = 0
            }
        } catch {
            switch error {
            case .attributes: throw FormatError.tooManyAttributes(line: line)
            case .tag: throw FormatError.tooLong(line: line)
            }
        }
        guard bytesSinceTag <= GalleryXMLParser.maximumGap else {
            throw filter.hasTags ? FormatError.tooLong(line: line) : refusal
        }
        let piece = pending.next(pieceSize: nil)
        if !piece.isEmpty { try parse(piece, isLast: false) }
    }

    private func open() throws -> (XMLLibrary, xmlParserCtxtPtr) {
        if let library, let parser { return (library, parser) }
        let library = try XMLLibrary(file: libraryFile)
        self.library = library
        var handler = Self.handler
        guard
            let parser = cxml_begin_page(library.functions, &handler, Unmanaged.passUnretained(self).toOpaque())
        else { throw FormatError.malformed(line: 1, reason: "out of memory") }
        self.parser = parser
        let options =
            HTML_PARSE_RECOVER.rawValue | HTML_PARSE_NOERROR.rawValue | HTML_PARSE_NOWARNING.rawValue
            | HTML_PARSE_NONET.rawValue | HTML_PARSE_IGNORE_ENC.rawValue
        cxml_use_page_options(library.functions, parser, Int32(options))
        return (library, parser)
    }

    /// Passes bytes to libxml2.
    private func parse(_ bytes: [UInt8], isLast: Bool) throws {
        let (library, parser) = try open()
        // The result only reports mistakes in the page, which libxml2 repairs, so the result is ignored.
        _ = bytes.withUnsafeBytes { bytes in
            cxml_parse_page(
                library.functions, parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
                isLast ? 1 : 0)
        }
        if let stop { throw stop }
        guard cxml_count_names(library.functions, parser) <= Self.maximumNames else { throw FormatError.tooManyNames }
    }

    /// Delivers an event. After an error, libxml2 reads the rest of the piece, but this method delivers nothing.
    private func receive(_ event: Event) {
        guard stop == nil else { return }
        do { try consumer?(event) } catch { stop = error }
    }

    private func start(_ name: UnsafePointer<xmlChar>, _ attributes: HTMLAttributes) {
        depth += 1
        guard depth <= Self.maximumDepth else {
            if stop == nil { stop = FormatError.tooDeep }
            return
        }
        receive(.start(name: name, attributes))
    }

    private static func stream(_ context: UnsafeMutableRawPointer?) -> HTMLPushStream? {
        context.map { Unmanaged<HTMLPushStream>.fromOpaque($0).takeUnretainedValue() }
    }

    private static var handler: xmlSAXHandler {
        var handler = xmlSAXHandler()
        cxml_mark_as_sax2(&handler)
        handler.startElement = { context, name, attributes in
            guard let name else { return }
            HTMLPushStream.stream(context)?.start(name, HTMLAttributes(attributes))
        }
        handler.endElement = { context, name in
            guard let stream = HTMLPushStream.stream(context), let name else { return }
            stream.depth -= 1
            stream.receive(.end(name: name))
        }
        handler.characters = { context, text, count in
            guard let text, count > 0 else { return }
            HTMLPushStream.stream(context)?
                .receive(.text(UnsafeRawBufferPointer(start: text, count: Int(count))))
        }
        // If both handlers are the same, libxml2 does not separate white space from other text.
        handler.ignorableWhitespace = handler.characters
        // Without a handler libxml2 delivers scripts as texts.
        handler.cdataBlock = { _, _, _ in }
        // Without a handler libxml2 prints errors to standard error.
        handler.serror = { _, _ in }
        return handler
    }
}

/// The attributes of the current element of a web page. The value is valid only during the parser's callback.
struct HTMLAttributes {
    /// Two pointers per attribute: name and value; the value may be null. A null pointer follows the last attribute.
    private let pointers: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?

    init(_ pointers: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?) {
        self.pointers = pointers
    }

    /// The bytes of an attribute's value, with references replaced and escaped bytes restored; nil if the attribute is
    /// missing.
    subscript(name: XMLName) -> [UInt8]? {
        guard var pointer = pointers else { return nil }
        while let found = pointer[0] {
            if found == name {
                guard let value = pointer[1] else { return nil }
                let count = strlen(UnsafeRawPointer(value).assumingMemoryBound(to: CChar.self))
                return ByteEscaping.restore(UnsafeBufferPointer(start: value, count: count))
            }
            pointer += 2
        }
        return nil
    }
}
