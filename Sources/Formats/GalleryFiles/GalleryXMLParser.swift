import CLibXML2
import Model

/// Parses a gallery's XML document piece by piece, as it arrives.
///
///     let parser = GalleryXMLParser(base: response.address)
///     for try await bytes in body {
///         var photos = try parser.parse(bytes)
///         try draft.add(&photos)
///     }
///     var last = try parser.finish()
///     try draft.add(&last)
///
/// `photo` elements may be at any depth, below any root; the parser skips unknown elements. It also skips each photo
/// that breaks a rule. It rejects a whole document that is not well-formed, perhaps only at its last byte. So keep the
/// photos in a draft until ``finish()`` has returned.
///
/// The document is untrusted. The parser rejects document types, so there are no entities to expand and no files to
/// load. It limits depth and lengths, and its memory use does not grow with the document.
public final class GalleryXMLParser {
    /// The maximum number of bytes of a document between two tags.
    static let maximumGap = 1 << 20

    private let contents: GalleryContents

    /// Creates a parser for one document.
    ///
    /// - Parameter base: the document's final address, after redirects. Relative references are resolved against this
    ///   address.
    public convenience init(base: Address) {
        self.init(base: base, library: XMLLibrary.file)
    }

    /// - Parameter library: the file name of libxml2.
    init(base: Address, library: String) {
        contents = GalleryContents(base: base, library: library)
    }

    /// Parses the next bytes of the document. Returns the photos that are complete.
    ///
    /// - Parameter isCancelled: the parser calls this after every few photos and every few kilobytes. If it returns
    ///   true, parsing throws a `CancellationError`.
    public func parse(
        _ bytes: some Collection<UInt8>, isCancelled: @escaping () -> Bool = { false }
    ) throws -> WrittenPhotos {
        try contents.push(bytes, isCancelled: isCancelled)
        return contents.takePhotos()
    }

    /// Parses the end of the document. Throws if the document is not well-formed.
    public func finish() throws -> WrittenPhotos {
        try contents.finish()
        return contents.takePhotos()
    }
}

/// The photos found so far, and the position in the document.
private final class GalleryContents: XMLPushStream {
    private var photos: WrittenPhotos
    /// The depth of the open `photo` element; nil if no `photo` element is open.
    private var photoDepth: Int?
    private var begun = 0

    /// The number of photos between two calls of `isCancelled`. A call for each photo would take 3 % of the time.
    private static let photosPerCall = 8

    init(base: Address, library: String) {
        photos = WrittenPhotos(base: base)
        super.init(library: library)
    }

    /// Returns the complete photos, and removes them.
    func takePhotos() -> WrittenPhotos { photos.take() }

    override func take(_ event: Event) throws {
        switch event {
        case .start(let name, _, let attributes, let line): try start(name, attributes, line)
        case .text: break
        case .end: end()
        }
    }

    private func start(_ name: UnsafePointer<xmlChar>, _ attributes: Attributes, _ line: Int) throws {
        if depth == 1 {
            if String(cString: name).lowercased() == "html" { throw FormatError.notAGallery("a web page") }
            photos.takeGalleryName(from: attributes)
        }
        if name == XMLName.photo {
            begun &+= 1
            if begun.isMultiple(of: Self.photosPerCall), isCancelled() { throw CancellationError() }
            photos.begin(attributes, line: line)
            photoDepth = depth
        } else if name == XMLName.image {
            photos.add(image: attributes, line: line)
        }
    }

    private func end() {
        guard photoDepth == depth + 1 else { return }
        photos.end()
        photoDepth = nil
    }
}

/// The reason why a document is rejected as a gallery. Vitrine then uses no part of the document.
public enum FormatError: Error, Equatable, CustomStringConvertible {
    /// The system cannot load the XML library; the text is the system's reason.
    case missingLibrary(file: String, package: String, reason: String)
    /// The document is empty.
    case empty
    /// The document is something else; the text states the kind of document, such as “a web page”.
    case notAGallery(String)
    /// A shared link leads to several albums and does not name one of them.
    case severalAlbums
    /// The server refused the request. It gave its own code and reason.
    case refused(code: Int, reason: String)
    /// The document is not well-formed XML; the text is the parser's reason.
    case malformed(line: Int, reason: String)
    /// The document is not well-formed JSON; the offset counts its bytes.
    case malformedJSON(offset: Int, reason: String)
    /// The document declares a document type. No gallery needs a document type, and many attacks use a document type.
    case documentType
    /// Elements are nested too deeply.
    case tooDeep
    /// A single tag or text is too long.
    case tooLong(line: Int)
    /// A tag has too many attributes.
    case tooManyAttributes(line: Int)
    /// The document has too many different names of elements and attributes.
    case tooManyNames
    /// Too many namespaces apply to a single element.
    case tooManyNamespaces(line: Int)
    /// The document is too long to convert from its encoding to UTF-8.
    case tooLongToConvert(mebibytes: Int)
    /// The document has an unsupported encoding with this name.
    case encoding(String)

    /// An error message for the user.
    public var description: String {
        switch self {
        case .missingLibrary(let file, let package, let reason):
            "The file \(file) of the XML library cannot be loaded (\(reason)). Install \(package)."
        case .empty: "The gallery file is empty."
        case .notAGallery(let what): "This is \(what), not a gallery."
        case .severalAlbums:
            "The shared link leads to several albums. End its address with the id of one, which a browser shows."
        case .refused(let code, let reason):
            "The server refuses the request: \(reason.isEmpty ? "error \(code)" : reason)."
        case .malformed(let line, let reason): "The gallery file has an error in line \(line): \(reason)."
        case .malformedJSON(let offset, let reason): "The JSON has an error after \(offset) bytes: \(reason)."
        case .documentType: "The gallery file declares a document type, which is not allowed."
        case .tooDeep: "The gallery file nests its elements too deeply."
        case .tooLong(let line): "The gallery file has a tag in line \(line) that is too long."
        case .tooManyAttributes(let line): "The gallery file has too many attributes in a tag near line \(line)."
        case .tooManyNames: "The gallery file has too many different names of elements and attributes."
        case .tooManyNamespaces(let line): "The gallery file declares too many namespaces in line \(line)."
        case .tooLongToConvert(let mebibytes):
            "The gallery file is not UTF-8 and larger than \(mebibytes) MiB. Save it as UTF-8."
        case .encoding(let name):
            "The gallery file uses the unsupported encoding \(name). Save it as UTF-8."
        }
    }

    /// Whether the same document may succeed later, because the cause is outside the document.
    public var isTransient: Bool {
        if case .missingLibrary = self { true } else { false }
    }
}
