import CLibXML2
import Model

/// The gallery entries from one piece of a server folder's list.
///
/// An entry's id is the decoded path below the gallery's root, so every format has the same ids for the same files.
public struct FolderListing: WrittenEntries, Sendable {
    /// The beginning of the ids of all photos in the folder: empty, or a path with a slash at its end.
    public let folder: String
    /// The ids of photos whose addresses are too long.
    public private(set) var skipped: [String] = []
    private let files: [ListedFile]
    private let digests: [Int64]
    /// The address of the folder, with a slash at its end.
    private let beginning: String

    /// Creates the entries of a piece.
    ///
    /// - Parameters:
    ///   - path: the decoded path of the folder below the gallery's root, with a slash at its end; empty for the root.
    ///   - address: the address of the folder.
    public init(_ files: [ListedFile], in path: [UInt8], at address: ListedFolder, _ digest: EntryDigest) {
        self.files = files.filter { PictureName.isPictureOrVideo($0.name[...]) }
        folder = PathText.text(path)
        beginning = address.address.text
        var bytes: [UInt8] = []
        digests = self.files.map { file in
            bytes.removeAll(keepingCapacity: true)
            bytes += path
            bytes += file.name
            bytes.append(0)
            for text in [file.revision, file.photo?.text ?? "", file.thumbnail?.text ?? ""] {
                bytes += text.utf8
                bytes.append(0)
            }
            withUnsafeBytes(of: (file.date?.milliseconds ?? .min).littleEndian) { bytes.append(contentsOf: $0) }
            // The date is digested as the server states it, so photos do not change when the user travels. The mark 1
            // belongs to earlier versions, which took a camera's time for UTC.
            bytes.append(file.isDateTaken ? 2 : 0)
            return bytes.withUnsafeBytes { digest.digest($0) }
        }
    }

    /// The number of photos.
    public var count: Int { files.count }

    /// Returns the digest of everything that the list states about a photo.
    public func digest(at index: Int) -> Int64? { digests[index] }

    /// Writes an entry. Returns false for a photo whose address is too long.
    public mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool {
        let file = files[index]
        let name = PathText.text(file.name)
        let address = file.photo?.text ?? beginning + PercentEncoding.encode(file.name, keepingEscapes: false)
        guard address.utf8.count <= Address.maximumLength else {
            skipped.append(folder + name)
            return false
        }
        let date = file.isDateTaken ? file.date.flatMap { Timestamp(cameraTime: $0) } : file.date
        let origin: DateOrigin = date == nil ? .unknown : file.isDateTaken ? .taken : .modified
        entry.begin(
            date: date ?? .unknown, origin, videoMilliseconds: PictureName.isVideo(file.name[...]) ? 0 : nil,
            digest: digests[index])
        entry.append(folder.utf8)
        entry.append(name.utf8)
        entry.end(.id)
        entry.append((file.shownName.map { PathText.text($0) } ?? name).utf8)
        entry.end(.name)
        entry.append(address.utf8)
        entry.end(.photo)
        entry.append((file.thumbnail?.text ?? "").utf8)
        entry.end(.thumbnail)
        // An entry with a revision tells the cache that its id is a path, so the revision must not be empty. But some
        // servers state neither size nor date.
        entry.append((file.revision.isEmpty ? "-" : file.revision).utf8)
        entry.end(.revision)
        return true
    }
}

/// The format of a folder's list.
public enum ListingFormat: String, CaseIterable, Sendable {
    /// A web page with links, such as most web servers write.
    case html
    /// JSON, such as that of nginx, Caddy or copyparty.
    case json
    /// The XML of nginx.
    case xml
    /// The answer of a WebDAV server.
    case multistatus
    /// The list of a storage service's bucket.
    case bucket

    /// Recognises the format of an answer. Returns nil if the answer is not the list of a folder.
    ///
    /// - Parameter beginning: the first bytes of the answer, at least ``beginningLength`` unless the answer is shorter.
    public init?(contentType: String?, beginning: [UInt8]) {
        // The caller may pass more bytes than needed.
        let beginning = Array(beginning.prefix(Self.beginningLength))
        // The content type is no help for gallery files, because servers state wrong types for them. Their outermost
        // element may have any name.
        if Self.isGalleryFile(beginning) { return nil }
        if WebDAVParser.recognises(beginning) {
            self = .multistatus
        } else if BucketParser.recognises(beginning) {
            self = .bucket
        } else if XMLListingParser.recognises(beginning) {
            self = .xml
        } else if JSONListingParser.recognises(beginning) {
            self = .json
        } else if HTMLListingParser.recognises(contentType: contentType, beginning: beginning) {
            self = .html
        } else {
            return nil
        }
    }

    /// Returns whether an answer is JSON that is neither a folder's list nor a feed.
    ///
    /// - Parameter beginning: the first bytes of the answer, at least ``beginningLength`` unless the answer is shorter.
    public static func isUnknownJSON(_ beginning: [UInt8]) -> Bool {
        // The same bytes decide here and in the initializer.
        let beginning = Array(beginning.prefix(beginningLength))
        guard let first = beginning.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        else { return false }
        return !JSONListingParser.recognises(beginning) && !JSONFeedParser.recognises(beginning)
    }

    /// Returns the media type that a `Content-Type` header states, in lower case and without parameters.
    public static func mediaType(_ contentType: String?) -> String? {
        contentType?.prefix { $0 != ";" && $0 != " " }.lowercased()
    }

    /// Returns whether a document begins like a gallery file. Such a document is XML, but neither a web page nor a
    /// folder's list.
    private static func isGalleryFile(_ beginning: [UInt8]) -> Bool {
        if beginning.starts(with: [0xFF, 0xFE]) || beginning.starts(with: [0xFE, 0xFF]) { return true }
        let text = String(decoding: beginning, as: UTF8.self).lowercased()
        guard !text.contains("<html"), !text.contains("<!doctype html") else { return false }
        if text.contains("<photo ") || text.contains("<photo>") { return true }
        guard text.drop(while: { $0.isWhitespace || $0 == "\u{FEFF}" }).hasPrefix("<?xml") else { return false }
        return !["multistatus", "<list", "response"].contains { text.contains($0) }
    }

    /// The number of bytes needed to recognise the format.
    public static let beginningLength = 1_024

    /// Creates a parser for the list of a folder.
    ///
    /// - Parameters:
    ///   - previews: the addresses of small pictures, if the server makes some.
    ///   - prefix: the decoded beginning of the folder's keys in a bucket.
    public func makeParser(
        for folder: ListedFolder, previews: WebDAVParser.Previews? = nil, prefix: [UInt8] = []
    ) -> any ListingParser {
        switch self {
        case .html: HTMLListingParser(folder: folder)
        case .json: JSONListingParser(folder)
        case .xml: XMLListingParser()
        case .multistatus: WebDAVParser(folder: folder, previews: previews)
        case .bucket: BucketParser(prefix: prefix)
        }
    }
}

/// Parses the list of a folder that nginx writes with `autoindex_format xml`.
///
///     <list><file mtime="2026-11-25T21:00:00Z" size="123">a.jpg</file><directory mtime="…">b</directory></list>
///
/// nginx copies the bytes of file names unchanged, whatever their encoding, so the list may be invalid XML. The parser
/// can read such a list, too; see ``ByteEscaping``.
public final class XMLListingParser: ListingParser {
    /// The maximum number of bytes of a name's text. ``ByteEscaping`` makes up to three bytes of each byte.
    private static let maximumText = 65_536

    private let stream: XMLEventStream
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
    public convenience init() {
        self.init(library: XMLLibrary.file)
    }

    /// - Parameter library: the file name of libxml2.
    init(library: String) {
        stream = XMLEventStream(library: library, wantsText: true, ignoresEncoding: true)
    }

    /// Returns whether a document is a list in this format.
    ///
    /// - Parameter beginning: the first bytes, which must contain the first tag.
    public static func recognises(_ beginning: [UInt8]) -> Bool {
        DocumentRoot.name(beginning).map { $0.elementsEqual("list".utf8) } ?? false
    }

    /// Parses the next bytes. Returns the files and folders that are complete.
    public func parse(_ bytes: [UInt8]) throws -> ListingPiece {
        try stream.push(escaping.escape(bytes)) { event in try self.take(event) }
        return takePiece()
    }

    /// Parses the end of the document. Throws if the list is incomplete.
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
        // nginx writes sockets and other special files as elements named `other`.
        guard name == XMLName.file || name == XMLName.directory else { return entry = nil }
        func attribute(_ name: XMLName) -> String {
            guard let value = attributes[name], value.count <= Self.maximumValue else { return "" }
            return String(decoding: value, as: UTF8.self)
        }
        entry = Entry(
            isFolder: name == XMLName.directory, modified: attribute(.modificationTime), size: attribute(.size))
    }

    /// The maximum number of bytes of a date or size.
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
