import CLibXML2
import Model

/// Reads a gallery's XML as it arrives: bytes in, entries out.
///
///     let parser = GalleryXMLParser(base: response.address)
///     for try await bytes in body {
///         var photos = try parser.parse(bytes)
///         try draft.add(&photos)
///     }
///     var last = try parser.finish()
///     try draft.add(&last)
///
/// `photo` elements may stand at any depth, below any root; what is not known is passed over. A photo that breaks a
/// rule is left out alone. A document that is not well-formed is refused as a whole, which may come to light at its
/// last byte: apply nothing before ``finish()`` has returned.
///
/// The document is a stranger's. Document types are refused, so there are no entities to expand and no files to load;
/// depth and lengths are bounded; memory does not grow with the document.
public final class GalleryXMLParser {
    /// The deepest nesting that is read.
    static let maximumDepth = 100
    /// The longest attribute value, in bytes.
    static let maximumAttribute = 65_536
    /// The most bytes that may pass without a tag.
    static let maximumGap = 1 << 20

    private let stream: XMLPushStream
    private var photos: WrittenPhotos
    /// The depth at which the `photo` began that is being read.
    private var photoDepth: Int?
    private var depth = 0

    /// Begins a document.
    ///
    /// - Parameter base: the address that it was finally read from, after redirects; references in it are relative to that.
    public convenience init(base: Address) {
        self.init(base: base, library: XMLLibrary.file)
    }

    /// - Parameter library: the file that libxml2 is in.
    init(base: Address, library: String) {
        photos = WrittenPhotos(base: base)
        stream = XMLPushStream(library: library)
    }

    /// Reads the next piece of the document.
    ///
    /// - Parameter isCancelled: asked before every photo and every few kilobytes; parsing stops with a `CancellationError` when it says so.
    public func parse(
        _ bytes: some Collection<UInt8>, isCancelled: @escaping () -> Bool = { false }
    ) throws -> WrittenPhotos {
        try stream.push(bytes, isCancelled: isCancelled) { event in try self.take(event, isCancelled) }
        return photos.take()
    }

    /// Reads the document's end. Only now is it known to be well-formed.
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

/// Why a document is not read as a gallery. Nothing of it is used then.
public enum FormatError: Error, Equatable, CustomStringConvertible {
    /// What reads galleries cannot be loaded; the system's reason.
    case missingLibrary(file: String, package: String, reason: String)
    /// There is nothing in it.
    case empty
    /// It is something else, such as “a web page”.
    case notAGallery(String)
    /// It is not well-formed XML; the parser's reason.
    case malformed(line: Int, reason: String)
    /// It declares a document type, which no gallery needs and many attacks begin with.
    case documentType
    /// Elements are nested deeper than any gallery's.
    case tooDeep
    /// A single tag or text is longer than any gallery's.
    case tooLong(line: Int)
    /// A tag has more attributes than any gallery's.
    case tooManyAttributes(line: Int)
    /// It has more different names of elements and attributes than any gallery.
    case tooManyNames
    /// More namespaces are declared at once than in any gallery.
    case tooManyNamespaces(line: Int)
    /// It is written in an encoding that is not read; the encoding's name.
    case encoding(String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .missingLibrary(let file, let package, let reason):
            "\(file) cannot be loaded (\(reason)). Install \(package)."
        case .empty: "The gallery file is empty."
        case .notAGallery(let what): "This is \(what), not a gallery."
        case .malformed(let line, let reason): "The gallery file has a mistake in line \(line): \(reason)."
        case .documentType: "The gallery file declares a document type, which is not allowed."
        case .tooDeep: "The gallery file nests its elements too deeply."
        case .tooLong(let line): "The gallery file has a tag in line \(line) that is too long."
        case .tooManyAttributes(let line): "The gallery file has a tag near line \(line) with too many attributes."
        case .tooManyNames: "The gallery file has too many different names of elements and attributes."
        case .tooManyNamespaces(let line): "The gallery file has too many namespaces in line \(line)."
        case .encoding(let name):
            "The gallery file is written in the encoding \(name), which Vitrine does not read. Save it as UTF-8."
        }
    }

    /// Whether the same document may be read later: nothing is wrong with it.
    public var isTransient: Bool {
        if case .missingLibrary = self { true } else { false }
    }
}
