import CLibXML2
import Model

/// Reads a gallery's XML as it arrives: bytes in, entries out.
///
///     let parser = GalleryXMLParser(base: response.address)
///     for try await bytes in body { try draft.add(parser.parse(bytes).entries) }
///     try draft.add(parser.finish().entries)
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

    private let base: Address
    private let stream: XMLPushStream
    private var batch = GalleryBatch()
    /// The `photo` that is being read, and the depth that it began at.
    private var photo: (element: PhotoElement, depth: Int)?
    private var depth = 0

    /// Begins a document.
    ///
    /// - Parameter base: the address that it was finally read from, after redirects; references in it are relative to that.
    public init(base: Address) {
        self.base = base
        stream = XMLPushStream()
    }

    /// Reads the next piece of the document.
    ///
    /// - Parameter isCancelled: asked before every photo; parsing stops with a `CancellationError` when it says so.
    public func parse(
        _ bytes: some Collection<UInt8>, isCancelled: @escaping () -> Bool = { false }
    ) throws -> GalleryBatch {
        try stream.push(bytes) { event in try self.take(event, isCancelled) }
        return takeBatch()
    }

    /// Reads the document's end. Only now is it known to be well-formed.
    public func finish() throws -> GalleryBatch {
        try stream.finish { event in try self.take(event, { false }) }
        return takeBatch()
    }

    private func takeBatch() -> GalleryBatch {
        defer { batch = GalleryBatch() }
        return batch
    }

    private func take(_ event: XMLPushStream.Event, _ isCancelled: () -> Bool) throws {
        switch event {
        case .start(let name, let attributes, let line): try start(name, attributes, line, isCancelled)
        case .end: end()
        }
    }

    private func start(_ name: String, _ attributes: Attributes, _ line: Int, _ isCancelled: () -> Bool) throws {
        depth += 1
        guard depth <= Self.maximumDepth else { throw FormatError.tooDeep }
        guard attributes.longest <= Self.maximumAttribute else { throw FormatError.tooLong(line: line) }
        if depth == 1, name.lowercased() == "html" { throw FormatError.notAGallery("a web page") }
        switch name {
        case "photo":
            if isCancelled() { throw CancellationError() }
            if let outer = photo?.element {
                batch.skipped.append(.init(line: outer.line, reason: "it contains another photo"))
            }
            photo = (PhotoElement(attributes, line: line), depth)
        case "image":
            photo?.element.add(image: attributes, line: line, base: base)
        default:
            break
        }
    }

    private func end() {
        defer { depth -= 1 }
        guard let (element, began) = photo, began == depth else { return }
        photo = nil
        switch element.entry() {
        case .success(let entry):
            batch.entries.append(entry)
            batch.remarks += element.remarks
        case .failure(let refusal):
            batch.skipped.append(.init(line: element.line, reason: refusal.reason))
        }
    }
}
