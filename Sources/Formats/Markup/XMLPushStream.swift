import CLibXML2
import Glibc

/// Wraps libxml2's push parser: takes bytes and delivers tags.
///
/// A subclass receives the tags in ``take(_:)``. Calls of a closure took a tenth of the time of a long list, because
/// Swift counts references to the closure for each tag. For short documents, see ``XMLEventStream``.
///
/// Features that reach beyond the document are off: network access, entity substitution and external subsets. If the
/// document declares a document type, parsing stops before libxml2 processes it.
class XMLPushStream {
    /// A tag or a text. The value is valid only during the callback.
    enum Event {
        case start(name: UnsafePointer<xmlChar>, namespace: UnsafePointer<xmlChar>?, Attributes, line: Int)
        /// A piece of a text, with references replaced by their characters.
        case text(UnsafeRawBufferPointer, line: Int)
        case end
    }

    private let libraryFile: String
    private let wantsText: Bool
    private let ignoresEncoding: Bool
    /// The loaded library; nil until the first bytes arrive.
    private var library: XMLLibrary?
    private var parser: xmlParserCtxtPtr?
    private var intake = XMLIntake()
    /// The error that stopped the parser in a callback. Swift errors cannot pass through C code.
    private var stop: (any Error)?
    /// Returns whether the caller of ``push(_:isCancelled:)`` needs no more tags.
    private(set) var isCancelled: () -> Bool = { false }
    private var bytesSinceTag = 0
    /// The number of open elements. An element is open while the stream delivers its start, but not its end.
    private(set) var depth = 0
    /// The depth of each open element that declares namespaces, and the number of these namespaces.
    private var namespaces: [(depth: Int, count: Int)] = []
    /// The number of namespaces that the open elements declare.
    private var namespaceCount = 0

    /// The maximum number of nested elements.
    static let maximumDepth = 100
    /// The maximum number of bytes of an attribute's value.
    static let maximumAttribute = 65_536
    /// The maximum number of namespaces in scope. libxml2 searches all of them for each prefixed name.
    private static let maximumNamespaces = 256
    /// The maximum number of different names. libxml2 keeps all names in a table, and this number limits its size.
    private static let maximumNames = 1_000

    /// - Parameters:
    ///   - library: the file name of libxml2.
    ///   - wantsText: whether to deliver texts, too. Without texts, libxml2 is faster.
    ///   - ignoresEncoding: whether to read the document as UTF-8, whatever encoding it declares.
    init(library: String, wantsText: Bool = false, ignoresEncoding: Bool = false) {
        libraryFile = library
        self.wantsText = wantsText
        self.ignoresEncoding = ignoresEncoding
    }

    deinit {
        if let library, let parser { cxml_free(library.functions, parser) }
    }

    /// Parses the next bytes of the document.
    ///
    /// - Parameter isCancelled: a function that the stream calls before each piece for libxml2. If the function returns
    ///   true, `push` throws a `CancellationError`.
    final func push(_ bytes: some Collection<UInt8>, isCancelled: @escaping () -> Bool = { false }) throws {
        self.isCancelled = isCancelled
        defer { self.isCancelled = { false } }
        var rest = Array(bytes)[...]
        // libxml2 parses a small piece in a few milliseconds, so the limits take effect soon and the stream reacts to a
        // cancellation.
        while !rest.isEmpty {
            if isCancelled() { throw CancellationError() }
            let piece = rest.prefix(XMLIntake.pieceSize)
            rest = rest.dropFirst(piece.count)
            try parse(try intake.take(piece, line: line))
        }
    }

    /// Parses the end of the document.
    final func finish() throws {
        try parse(try intake.finish())
        // If the parser could not be created before, this call throws the error again.
        if parser == nil { try open(with: []) }
        try parse([], isLast: true)
    }

    private var line: Int { parser.map { max(1, Int(cxml_line($0))) } ?? 1 }

    private func open(with bytes: ArraySlice<UInt8>) throws {
        let library = try XMLLibrary(file: libraryFile)
        self.library = library
        var handler = Self.handler(wantsText: wantsText)
        parser = bytes.withUnsafeBytes { bytes in
            cxml_begin(
                library.functions, &handler, Unmanaged.passUnretained(self).toOpaque(),
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
        }
        guard let parser else { throw FormatError.malformed(line: 1, reason: "out of memory") }
        // NONET alone "does not stop file:// entities". No entity is ever substituted (no NOENT), and `internalSubset`
        // rejects all document types.
        var options = XML_PARSE_NONET.rawValue | XML_PARSE_NOCDATA.rawValue
        if ignoresEncoding { options |= XML_PARSE_IGNORE_ENC.rawValue }
        cxml_use_options(library.functions, parser, Int32(options))
    }

    /// Passes bytes to libxml2.
    private func parse(_ bytes: [UInt8]) throws {
        guard !bytes.isEmpty else { return }
        var rest = bytes[...]
        if parser == nil {
            // libxml2 detects the encoding from the first four bytes and needs them together.
            try open(with: rest.prefix(4))
            rest = rest.dropFirst(4)
        }
        bytesSinceTag += rest.count
        try parse(rest, isLast: false)
        guard bytesSinceTag <= GalleryXMLParser.maximumGap else { throw FormatError.tooLong(line: line) }
        guard let library, let parser, cxml_count_names(library.functions, parser) <= Self.maximumNames else {
            throw FormatError.tooManyNames
        }
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
        // Most web pages are not XML, and an error in one of their lines explains nothing.
        if intake.isWebPage { return .notAGallery("a web page") }
        guard let error = cxml_last_error(library.functions, parser) else {
            return .malformed(line: line, reason: "it is not well-formed")
        }
        let reason = error.pointee.message.map { String(cString: $0) } ?? ""
        return .malformed(line: max(1, Int(error.pointee.line)), reason: reason.trimmedOfLineBreak)
    }

    private func halt(_ error: any Error) {
        if stop == nil { stop = error }
        if let library, let parser { cxml_stop(library.functions, parser) }
    }

    /// Receives a tag or a text. An error stops the parser.
    func take(_ event: Event) throws {}

    private func receive(_ event: Event) {
        guard stop == nil else { return }
        bytesSinceTag = 0
        do { try take(event) } catch { halt(error) }
    }

    private func receive(text: UnsafePointer<xmlChar>?, count: Int32) {
        guard stop == nil, let text, count > 0 else { return }
        do {
            try take(.text(UnsafeRawBufferPointer(start: text, count: Int(count)), line: line))
        } catch { halt(error) }
    }

    /// Records the start of an element. Stops the parser if the element exceeds a limit.
    private func enter(namespaces count: Int, _ attributes: Attributes) {
        depth += 1
        if depth > Self.maximumDepth { halt(FormatError.tooDeep) }
        if attributes.longest > Self.maximumAttribute { halt(FormatError.tooLong(line: line)) }
        guard count > 0 else { return }
        namespaces.append((depth, count))
        namespaceCount += count
        if namespaceCount > Self.maximumNamespaces {
            halt(FormatError.tooManyNamespaces(line: line))
        }
    }

    private func leave() {
        if namespaceCount > 0, let last = namespaces.last, last.depth == depth {
            namespaces.removeLast()
            namespaceCount -= last.count
        }
        depth -= 1
    }

    /// Calls `body` with the stream of a callback. The stream outlives the callback, so nothing counts this reference.
    private static func with(_ context: UnsafeMutableRawPointer?, _ body: (XMLPushStream) -> Void) {
        guard let context else { return }
        Unmanaged<XMLPushStream>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }

    private static func handler(wantsText: Bool) -> xmlSAXHandler {
        var handler = xmlSAXHandler()
        cxml_mark_as_sax2(&handler)
        handler.startElementNs = { context, name, _, namespace, namespaces, _, count, _, attributes in
            guard let name else { return }
            let attributes = Attributes(attributes, count: count)
            XMLPushStream.with(context) { stream in
                stream.enter(namespaces: Int(namespaces), attributes)
                stream.receive(.start(name: name, namespace: namespace, attributes, line: stream.line))
            }
        }
        handler.endElementNs = { context, _, _, _ in
            XMLPushStream.with(context) { stream in
                stream.leave()
                stream.receive(.end)
            }
        }
        handler.internalSubset = { context, name, _, _ in
            let isPage = name.map { String(cString: $0).lowercased() == "html" } ?? false
            XMLPushStream.with(context) { $0.halt(isPage ? FormatError.notAGallery("a web page") : .documentType) }
        }
        if wantsText {
            handler.characters = { context, text, count in
                XMLPushStream.with(context) { $0.receive(text: text, count: count) }
            }
            // If both handlers are the same, libxml2 does not separate white space from other text.
            handler.ignorableWhitespace = handler.characters
        }
        // Without a handler libxml2 prints errors to standard error. The parser still stores the last error.
        handler.serror = { _, _ in }
        return handler
    }
}

/// Delivers tags to closures.
final class XMLEventStream: XMLPushStream {
    private var consumer: ((Event) throws -> Void)?

    /// Parses the next bytes of the document.
    func push(_ bytes: some Collection<UInt8>, to consumer: @escaping (Event) throws -> Void) throws {
        self.consumer = consumer
        defer { self.consumer = nil }
        try push(bytes)
    }

    /// Parses the end of the document.
    func finish(to consumer: @escaping (Event) throws -> Void) throws {
        self.consumer = consumer
        defer { self.consumer = nil }
        try finish()
    }

    override func take(_ event: Event) throws { try consumer?(event) }
}

extension String {
    fileprivate var trimmedOfLineBreak: String {
        var text = self
        while text.last?.isNewline == true { text.removeLast() }
        return text
    }
}

/// The loaded library libxml2. All calls of the library's functions go through this object.
///
/// Vitrine loads the library on demand, so that commands without galleries start faster. The library stays loaded, so
/// another object costs little.
final class XMLLibrary {
    /// The library's file name, which the system's loader looks up.
    static let file = "libxml2.so.2"
    /// The package and its versions that contain the library. Later versions have another file.
    private static let package = "libxml2, version 2.13 or earlier"

    /// The functions of libxml2 that Vitrine calls.
    let functions: UnsafePointer<cxml_library>

    /// Loads the library.
    init(file: String) throws(FormatError) {
        let functions = UnsafeMutablePointer<cxml_library>.allocate(capacity: 1)
        functions.initialize(to: cxml_library())
        if let reason = cxml_load(functions, file) {
            let reason = String(cString: reason)
            functions.deallocate()
            throw .missingLibrary(file: file, package: Self.package, reason: reason)
        }
        self.functions = UnsafePointer(functions)
    }

    deinit {
        functions.deallocate()
    }
}

/// The attributes of the current element. The value is valid only during the parser's callback.
struct Attributes {
    /// Five pointers per attribute: name, prefix, namespace, start and end of the value.
    private let pointers: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    /// The number of attributes.
    let count: Int

    init(_ pointers: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, count: Int32) {
        self.pointers = pointers
        self.count = Int(count)
    }

    /// The number of bytes in the longest value.
    var longest: Int {
        var longest = 0
        for index in 0..<count { longest = max(longest, value(at: index)?.count ?? 0) }
        return longest
    }

    /// The value of an attribute without a namespace; nil if the attribute is missing. The bytes are in the parser's
    /// memory.
    subscript(name: XMLName) -> UnsafeRawBufferPointer? {
        for index in 0..<count {
            guard let pointers, pointers[index * 5 + 1] == nil, let found = pointers[index * 5], found == name else {
                continue
            }
            return value(at: index)
        }
        return nil
    }

    /// The value of an attribute with the prefix `xml`; nil if the attribute is missing. The bytes are in the parser's
    /// memory.
    subscript(xml name: XMLName) -> UnsafeRawBufferPointer? {
        for index in 0..<count {
            guard let pointers, let namespace = pointers[index * 5 + 2], namespace == Self.xml,
                let found = pointers[index * 5], found == name
            else { continue }
            return value(at: index)
        }
        return nil
    }

    /// The namespace of attributes with the prefix `xml`.
    private static let xml = XMLName("http://www.w3.org/XML/1998/namespace")

    /// Appends a value, with `&#38;` replaced by `&`. Without entity substitution, which is off here, libxml2 writes
    /// every `&` as `&#38;` so that values could be parsed again.
    static func append(_ value: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        guard let start = value.baseAddress, memchr(start, 0x26, value.count) != nil else {
            return bytes.append(contentsOf: value)
        }
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

/// A name of an element, attribute or namespace. The name is compared with names from libxml2.
struct XMLName: Sendable {
    private let text: StaticString

    init(_ text: StaticString) {
        self.text = text
    }

    static let photo = Self("photo")
    static let image = Self("image")
    static let id = Self("id")
    static let name = Self("name")
    static let date = Self("date")
    static let kind = Self("kind")
    static let comment = Self("comment")
    static let author = Self("author")
    static let rating = Self("rating")
    static let tags = Self("tags")
    static let reference = Self("srcURL")
    static let thumbnail = Self("thumbnail")

    /// Compares a name from libxml2 with this name.
    static func == (pointer: UnsafePointer<xmlChar>, name: XMLName) -> Bool {
        // Most other names differ in the first byte.
        pointer.pointee == name.text.utf8Start.pointee
            && strcmp(
                UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self),
                UnsafeRawPointer(name.text.utf8Start).assumingMemoryBound(to: CChar.self)) == 0
    }

    /// Compares an attribute value with this name.
    static func == (value: UnsafeRawBufferPointer, name: XMLName) -> Bool {
        value.count == name.text.utf8CodeUnitCount
            && value.baseAddress.map { memcmp($0, name.text.utf8Start, value.count) == 0 } ?? false
    }
}

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
