import CLibXML2
import Model

/// Parses the list of a folder that nginx writes with `autoindex_format xml`.
///
///     <list><file mtime="2026-11-25T21:00:00Z" size="123">a.jpg</file><directory mtime="…">b</directory></list>
///
/// nginx writes the bytes of names as they are, in no particular encoding, so the list need not be valid XML. The parser
/// reads it nevertheless; see ``ByteEscaping``.
public final class XMLListingParser: ListingParser {
    /// The most bytes of a name's text. libxml2 writes up to three bytes for each byte.
    private static let maximumText = 65_536

    private let stream: XMLPushStream
    private var escaping = ByteEscaping()
    private var piece = ListingPiece()
    private var depth = 0
    private var entry: Entry?
    private var text: [UInt8] = []

    /// A `file` or `directory` that has begun.
    private struct Entry {
        let isFolder: Bool
        let modified: String
        let size: String
    }

    /// Creates a parser for one list. The list contains no addresses, so the parser does not need the folder's address.
    public convenience init(folder: ListedFolder) {
        self.init(library: XMLLibrary.file)
    }

    /// - Parameter library: the file name of libxml2.
    init(library: String) {
        stream = XMLPushStream(library: library, wantsText: true, ignoresEncoding: true)
    }

    /// Returns whether a document is a list in this format.
    ///
    /// - Parameter beginning: the first bytes, which must contain the first tag.
    public static func recognises(contentType: String?, beginning: [UInt8]) -> Bool {
        DocumentRoot.name(beginning).map { $0.elementsEqual("list".utf8) } ?? false
    }

    /// Parses the next bytes. Returns the files and folders that are complete.
    public func parse(_ bytes: [UInt8]) throws -> ListingPiece {
        try stream.push(escaping.escape(bytes), isCancelled: { false }) { event in try self.take(event) }
        return takePiece()
    }

    /// Parses the end. Throws if the list is incomplete.
    public func finish() throws -> ListingPiece {
        try stream.finish { event in try self.take(event) }
        return takePiece()
    }

    private func takePiece() -> ListingPiece {
        defer { piece = ListingPiece() }
        return piece
    }

    private func take(_ event: XMLPushStream.Event) throws {
        switch event {
        case .start(let name, _, let attributes, _):
            depth += 1
            if depth == 1, !(name == XMLName.list) { throw FormatError.otherDocument(name) }
            if depth == 2 { begin(name, attributes) }
        case .text(let bytes, let line):
            guard depth == 2, entry != nil else { return }
            guard text.count + bytes.count <= Self.maximumText else { throw FormatError.tooLong(line: line) }
            text.append(contentsOf: bytes)
        case .end:
            if depth == 2 { add() }
            depth -= 1
        }
    }

    private func begin(_ name: UnsafePointer<xmlChar>, _ attributes: Attributes) {
        text.removeAll(keepingCapacity: true)
        // nginx names sockets and the like `other`.
        guard name == XMLName.file || name == XMLName.directory else { return entry = nil }
        func attribute(_ name: XMLName) -> String {
            guard let value = attributes[name], value.count <= Self.maximumValue else { return "" }
            return String(decoding: value, as: UTF8.self)
        }
        entry = Entry(
            isFolder: name == XMLName.directory, modified: attribute(.modificationTime), size: attribute(.size))
    }

    /// The most bytes of a date or size.
    private static let maximumValue = 64

    private func add() {
        guard let entry else { return }
        self.entry = nil
        let name = ByteEscaping.restore(text)
        guard ListedFolder.isSound(name) else { return }
        if entry.isFolder {
            if ListedSubfolder.isWanted(name) { piece.folders.append(ListedSubfolder(name: name)) }
        } else if PictureName.isPictureOrVideo(name[...]) {
            let isKnown = !(entry.size.isEmpty && entry.modified.isEmpty)
            piece.files.append(
                ListedFile(
                    name: name, date: ListingDate.moment(entry.modified),
                    revision: isKnown ? "\(entry.size)-\(entry.modified)" : ""))
        }
    }
}

extension XMLName {
    fileprivate static let list = Self("list")
    fileprivate static let file = Self("file")
    fileprivate static let directory = Self("directory")
    fileprivate static let modificationTime = Self("mtime")
    fileprivate static let size = Self("size")
}
