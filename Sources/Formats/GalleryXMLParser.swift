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
