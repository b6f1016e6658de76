import CLibXML2

/// libxml2's push parser: tags out, as bytes go in.
///
/// Everything that could reach beyond the document stays off: no network, no entity substitution, no external subset,
/// and a document type stops the parser before it is read.
final class XMLPushStream {
    /// A tag. Valid while it is handed out.
    enum Event {
        case start(name: UnsafePointer<xmlChar>, Attributes, line: Int)
        case end
    }

    private let libraryFile: String
    /// It and the parser are there from the first bytes on.
    private var library: XMLLibrary?
    private var parser: xmlParserCtxtPtr?
    /// libxml2 recognises the encoding by the first four bytes, and wants them together.
    private var beginning: [UInt8] = []
    private var consumer: ((Event) throws -> Void)?
    /// What stopped the parser from inside a callback. A Swift error cannot travel through C.
    private var stop: (any Error)?
    private var bytesSinceTag = 0

    /// - Parameter library: the file that libxml2 is in.
    init(library: String) {
        libraryFile = library
    }

    deinit {
        if let library, let parser { cxml_free(library.functions, parser) }
    }

    func push(_ bytes: some Collection<UInt8>, consumer: @escaping (Event) throws -> Void) throws {
        self.consumer = consumer
        defer { self.consumer = nil }
        var rest = Array(bytes)[...]
        if parser == nil {
            beginning += rest
            guard beginning.count >= 4 else { return }
            rest = beginning[...]
            beginning = []
            try open(with: rest.prefix(4))
            rest = rest.dropFirst(4)
        }
        // In pieces, so that what is bounded is bounded within a piece too.
        while !rest.isEmpty {
            let piece = rest.prefix(Self.pieceSize)
            rest = rest.dropFirst(piece.count)
            bytesSinceTag += piece.count
            try parse(piece, isLast: false)
            guard bytesSinceTag <= GalleryXMLParser.maximumGap else { throw FormatError.tooLong(line: line) }
        }
    }

    func finish(consumer: @escaping (Event) throws -> Void) throws {
        self.consumer = consumer
        defer { self.consumer = nil }
        if parser == nil {
            guard !beginning.isEmpty else { throw FormatError.empty }
            try open(with: beginning[...])
        }
        try parse([], isLast: true)
    }

    private static let pieceSize = 16_384

    private var line: Int { parser.map { Int(cxml_line($0)) } ?? 0 }

    private func open(with bytes: ArraySlice<UInt8>) throws {
        let library = try XMLLibrary(file: libraryFile)
        self.library = library
        var handler = Self.handler
        parser = bytes.withUnsafeBytes { bytes in
            cxml_begin(
                library.functions, &handler, Unmanaged.passUnretained(self).toOpaque(),
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
        }
        guard let parser else { throw FormatError.malformed(line: 0, reason: "out of memory") }
        // NONET alone "does not stop file:// entities": what does is that no entity is ever substituted (no NOENT) and
        // no document type gets past `internalSubset`.
        cxml_use_options(library.functions, parser, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOCDATA.rawValue))
    }

    private func parse(_ bytes: ArraySlice<UInt8>, isLast: Bool) throws {
        guard let library, let parser else { return }
        let code = bytes.withUnsafeBytes { bytes in
            cxml_parse(
                library.functions, parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
                isLast ? 1 : 0)
        }
        if let stop { throw stop }
        guard code == 0, parser.pointee.wellFormed != 0 else { throw malformed(library, parser) }
    }

    private func malformed(_ library: XMLLibrary, _ parser: xmlParserCtxtPtr) -> FormatError {
        guard let error = cxml_last_error(library.functions, parser) else {
            return .malformed(line: line, reason: "it is not well-formed")
        }
        // Nothing that looked like a tag had come yet: this was never meant to be XML.
        if [XML_ERR_DOCUMENT_EMPTY.rawValue, XML_ERR_DOCUMENT_START.rawValue].contains(UInt32(error.pointee.code)) {
            return .notAGallery("not XML")
        }
        let reason = error.pointee.message.map { String(cString: $0) } ?? ""
        return .malformed(line: Int(error.pointee.line), reason: reason.trimmedOfLineBreak)
    }

    private func halt(_ error: any Error) {
        if stop == nil { stop = error }
        if let library, let parser { cxml_stop(library.functions, parser) }
    }

    private func receive(_ event: Event) {
        guard stop == nil else { return }
        bytesSinceTag = 0
        do { try consumer?(event) } catch { halt(error) }
    }

    private static func stream(_ context: UnsafeMutableRawPointer?) -> XMLPushStream? {
        context.map { Unmanaged<XMLPushStream>.fromOpaque($0).takeUnretainedValue() }
    }

    private static var handler: xmlSAXHandler {
        var handler = xmlSAXHandler()
        cxml_mark_as_sax2(&handler)
        handler.startElementNs = { context, name, _, _, _, _, count, _, attributes in
            guard let stream = XMLPushStream.stream(context), let name else { return }
            stream.receive(.start(name: name, Attributes(attributes, count: count), line: stream.line))
        }
        handler.endElementNs = { context, _, _, _ in
            XMLPushStream.stream(context)?.receive(.end)
        }
        handler.internalSubset = { context, name, _, _ in
            let isPage = name.map { String(cString: $0).lowercased() == "html" } ?? false
            XMLPushStream.stream(context)?.halt(isPage ? FormatError.notAGallery("a web page") : .documentType)
        }
        // Without it libxml2 prints to standard error. The error itself is read from the parser.
        handler.serror = { _, _ in }
        return handler
    }
}

extension String {
    fileprivate var trimmedOfLineBreak: String {
        var text = self
        while text.last?.isNewline == true { text.removeLast() }
        return text
    }
}
