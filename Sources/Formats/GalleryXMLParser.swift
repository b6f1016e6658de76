import CLibXML2
import Model

/// Parses a gallery's XML incrementally.
///
///     let parser = GalleryXMLParser(base: response.address)
///     for try await bytes in body {
///         var photos = try parser.parse(bytes)
///         try draft.add(&photos)
///     }
///     var last = try parser.finish()
///     try draft.add(&last)
///
/// `photo` elements may be at any depth, below any root; unknown elements are skipped. A photo that breaks a rule is
/// skipped on its own. A document that is not well-formed is rejected as a whole, perhaps only at its last byte, so
/// apply nothing before ``finish()`` has returned.
///
/// The document is untrusted. Document types are rejected, so there are no entities to expand and no files to load.
/// Depth and lengths are limited, and memory use does not grow with the document.
public final class GalleryXMLParser {
    /// The deepest nesting allowed.
    static let maximumDepth = 100
    /// The longest attribute value allowed, in bytes.
    static let maximumAttribute = 65_536
    /// The most bytes allowed without a tag.
    static let maximumGap = 1 << 20

    private let stream: XMLPushStream
    private var photos: WrittenPhotos
    /// The depth of the open `photo` element.
    private var photoDepth: Int?
    private var depth = 0

    /// Creates a parser for one document.
    ///
    /// - Parameter base: the document's final address, after redirects; relative references resolve against it.
    public convenience init(base: Address) {
        self.init(base: base, library: XMLLibrary.file)
    }

    /// - Parameter library: the file of libxml2.
    init(base: Address, library: String) {
        photos = WrittenPhotos(base: base)
        stream = XMLPushStream(library: library)
    }

    /// Parses the next bytes of the document.
    ///
    /// - Parameter isCancelled: checked before each photo and every few kilobytes; if true, parsing throws a
    ///   `CancellationError`.
    public func parse(
        _ bytes: some Collection<UInt8>, isCancelled: @escaping () -> Bool = { false }
    ) throws -> WrittenPhotos {
        try stream.push(bytes, isCancelled: isCancelled) { event in try self.take(event, isCancelled) }
        return photos.take()
    }

    /// Parses the end of the document. Throws if it is not well-formed.
    public func finish() throws -> WrittenPhotos {
        try stream.finish { event in try self.take(event, { false }) }
        return photos.take()
    }

    private func take(_ event: XMLPushStream.Event, _ isCancelled: () -> Bool) throws {
        switch event {
        case .start(let name, let attributes, let line): try start(name, attributes, line, isCancelled)
        case .end: end()
        }
    }

    private func start(
        _ name: UnsafePointer<xmlChar>, _ attributes: Attributes, _ line: Int, _ isCancelled: () -> Bool
    ) throws {
        depth += 1
        guard depth <= Self.maximumDepth else { throw FormatError.tooDeep }
        guard attributes.longest <= Self.maximumAttribute else { throw FormatError.tooLong(line: line) }
        if depth == 1, String(cString: name).lowercased() == "html" { throw FormatError.notAGallery("a web page") }
        if name == XMLName.photo {
            if isCancelled() { throw CancellationError() }
            photos.begin(attributes, line: line)
            photoDepth = depth
        } else if name == XMLName.image {
            photos.add(image: attributes, line: line)
        }
    }

    private func end() {
        if photoDepth == depth {
            photos.end()
            photoDepth = nil
        }
        depth -= 1
    }
}

/// An error that rejects a document as a gallery. Nothing of it is used.
public enum FormatError: Error, Equatable, CustomStringConvertible {
    /// The XML library cannot be loaded; the system's reason.
    case missingLibrary(file: String, package: String, reason: String)
    /// The document is empty.
    case empty
    /// The document is something else, such as “a web page”.
    case notAGallery(String)
    /// The document is not well-formed XML; the parser's reason.
    case malformed(line: Int, reason: String)
    /// The document declares a document type. No gallery needs one, and many attacks use one.
    case documentType
    /// Elements are nested too deeply.
    case tooDeep
    /// A single tag or text is too long.
    case tooLong(line: Int)
    /// A tag has too many attributes.
    case tooManyAttributes(line: Int)
    /// Too many different names of elements and attributes.
    case tooManyNames
    /// Too many namespaces are declared at once.
    case tooManyNamespaces(line: Int)
    /// The encoding is unsupported; its name.
    case encoding(String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .missingLibrary(let file, let package, let reason):
            "\(file) cannot be loaded (\(reason)). Install \(package)."
        case .empty: "The gallery file is empty."
        case .notAGallery(let what): "This is \(what), not a gallery."
        case .malformed(let line, let reason): "The gallery file has an error in line \(line): \(reason)."
        case .documentType: "The gallery file declares a document type, which is not allowed."
        case .tooDeep: "The gallery file nests its elements too deeply."
        case .tooLong(let line): "The gallery file has a tag in line \(line) that is too long."
        case .tooManyAttributes(let line): "The gallery file has too many attributes in a tag near line \(line)."
        case .tooManyNames: "The gallery file has too many different names of elements and attributes."
        case .tooManyNamespaces(let line): "The gallery file declares too many namespaces in line \(line)."
        case .encoding(let name):
            "The gallery file uses the unsupported encoding \(name). Save it as UTF-8."
        }
    }

    /// Whether the same document may succeed later, because the document is not at fault.
    public var isTransient: Bool {
        if case .missingLibrary = self { true } else { false }
    }
}
