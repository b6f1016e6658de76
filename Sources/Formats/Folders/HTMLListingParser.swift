import CLibXML2
import Model

/// Parses a web page with links to pictures. The page is a web server's list of a folder, or a gallery.
///
/// In a list, each link to a picture or folder directly in the folder counts. The parser takes the name from the link's
/// address, because servers shorten the names that they show. The date follows the link, or precedes it in its row.
/// In a gallery, a link with an image inside is a photo, whose address and thumbnail may be anywhere on the server.
///
/// The pages of blogs and social networks often link to no photos, but to their feed:
///
///     <link rel="alternate" type="application/rss+xml" href="…">
///
/// The end of a page has no mark. So the parser does not notice if a page was cut between two tags.
public final class HTMLListingParser: ListingParser {
    /// The maximum number of bytes of a reference; longer references are invalid.
    private static let maximumReference = 3 * Address.maximumLength

    private let folder: ListedFolder
    /// Whether the next piece has a link to the parent folder.
    private var hasParentLink = false
    /// The address of the first feed to which the page refers; nil if none was found so far.
    private var feed: Address?
    private let stream: HTMLPushStream
    /// The address for resolving references. This is the folder's address, unless the page states another address.
    private var base: Address
    private var rows: ListedRows
    private var link: Link?
    /// Whether the parser is inside a link. Texts inside links and dates are ignored.
    private var isInLink = false
    private var isInDate = false

    /// An open link to something that may be a photo.
    private struct Link {
        let target: Address
        /// The file or folder in this folder; nil for a picture elsewhere, which counts only if the link contains an
        /// image.
        let entry: ListedRows.Subject?
    }

    /// Creates a parser for one page.
    public convenience init(folder: ListedFolder) {
        self.init(folder: folder, library: XMLLibrary.file)
    }

    /// - Parameter library: the file name of libxml2.
    init(folder: ListedFolder, library: String) {
        self.folder = folder
        base = folder.address
        rows = ListedRows()
        stream = HTMLPushStream(library: library)
    }

    /// Returns whether a document is a web page.
    public static func recognises(contentType: String?, beginning: [UInt8]) -> Bool {
        let type = ListingFormat.mediaType(contentType)
        if type == "text/html" || type == "application/xhtml+xml" { return true }
        return DocumentKind.isWebPage(beginning)
            || DocumentRoot.name(beginning).map { $0.elementsEqual("html".utf8) } ?? false
    }

    /// Parses the next bytes. Returns the files and folders that are complete.
    public func parse(_ bytes: [UInt8]) throws -> ListingPiece {
        try stream.push(bytes) { event in try self.take(event) }
        return takePiece()
    }

    /// Parses the end of the document. Throws if the page ends within a tag, or if the document is no web page.
    public func finish() throws -> ListingPiece {
        try stream.finish { event in try self.take(event) }
        rows.finish()
        return takePiece()
    }

    private func takePiece() -> ListingPiece {
        var piece = rows.takePiece()
        piece.hasParentLink = hasParentLink
        piece.feed = feed
        hasParentLink = false
        return piece
    }

    private func take(_ event: HTMLPushStream.Event) throws {
        switch event {
        case .start(let name, let attributes): start(name, attributes)
        case .end(let name): end(name)
        case .text(let bytes): if !isInLink, !isInDate { rows.add(text: bytes) }
        }
    }

    private func start(_ name: UnsafePointer<xmlChar>, _ attributes: HTMLAttributes) {
        rows.addSpace()
        if name == XMLName.link {
            begin(attributes[.address])
        } else if name == XMLName.img {
            if let link { add(image: attributes, to: link) }
        } else if name == XMLName.time {
            if !isInLink, let date = attributes[.moment] {
                date.withUnsafeBytes { rows.add(text: $0) }
                isInDate = true
            }
        } else if Self.separates(name) {
            rows.close()
        } else if name == XMLName.base, let address = attributes[.address].flatMap({ address($0) }) {
            base = address
        } else if name == XMLName.related, feed == nil {
            feed = feed(of: attributes)
        }
    }

    private func end(_ name: UnsafePointer<xmlChar>) {
        rows.addSpace()
        if name == XMLName.link {
            (link, isInLink) = (nil, false)
        } else if name == XMLName.time {
            isInDate = false
        } else if XMLName.headings.contains(where: { name == $0 }) {
            rows.endHeading()
        } else if Self.separates(name) {
            rows.close()
        }
    }

    /// Returns whether an element begins or ends a row. A date after such an element's tag does not belong to an
    /// earlier link.
    private static func separates(_ name: UnsafePointer<xmlChar>) -> Bool {
        XMLName.separators.contains { name == $0 }
    }

    /// Returns the address of the feed to which a `link` element refers. Returns nil for links to anything else, and
    /// for feeds on other servers.
    private func feed(of attributes: HTMLAttributes) -> Address? {
        func words(_ name: XMLName) -> [Substring] {
            guard let value = attributes[name], value.count <= Self.maximumRelation else { return [] }
            return String(decoding: value, as: UTF8.self).lowercased().split { $0 == " " || $0 == ";" }
        }
        guard words(.relation).contains("alternate"), let type = words(.mediaType).first, Self.feedTypes.contains(type),
            let address = attributes[.address].flatMap({ address($0) }), address.origin == folder.address.origin
        else { return nil }
        return address
    }

    private static let feedTypes: Set<Substring> = [
        "application/rss+xml", "application/atom+xml", "application/feed+json",
    ]
    /// The maximum number of bytes of an element's relation or type.
    private static let maximumRelation = 256

    /// Begins a link. A link to a file or folder in this folder also begins a row.
    private func begin(_ reference: [UInt8]?) {
        link = nil
        guard let reference else { return }
        isInLink = true
        guard let target = address(reference), target.origin == folder.address.origin else { return }
        if folder.isDirectlyIn(target) { hasParentLink = true }
        if let subject = subject(of: target) {
            link = Link(target: target, entry: subject)
            rows.open(subject, at: target)
        } else if folder.address.mayName(target), ListedRows.pictureName(of: target) != nil {
            link = Link(target: target, entry: nil)
        }
    }

    /// Returns the file or subfolder to which an address leads. Returns nil for places outside of this folder.
    private func subject(of target: Address) -> ListedRows.Subject? {
        guard target.query == nil else { return nil }
        if let (name, isFolder) = folder.name(of: target) {
            if isFolder { return ListedSubfolder.isWanted(name) ? .folder(name) : .other(name) }
            return PictureName.isPictureOrVideo(name[...]) ? .file(name) : .other(name)
        }
        // The address may be that of a sub-album's page.
        let last = target.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last
        guard let last, ["index.html", "index.htm"].contains(where: { last.elementsEqual($0.utf8) }),
            let (name, _) = folder.name(of: target.folder), ListedSubfolder.isWanted(name)
        else { return nil }
        return .folder(name)
    }

    private func add(image attributes: HTMLAttributes, to link: Link) {
        let source = attributes[.source].flatMap { $0.starts(with: "data:".utf8) ? nil : $0 }
        let thumbnail = (source ?? attributes[.lateSource]).flatMap { address($0) }
        let isAllowed = thumbnail.map { $0.origin == folder.address.origin && folder.address.mayName($0) } ?? false
        if link.entry == nil { rows.open(.photo, at: link.target) }
        if isAllowed, let thumbnail, thumbnail != link.target { rows.add(thumbnail: thumbnail) }
    }

    /// Returns the address to which a reference leads; nil if the reference is invalid.
    ///
    /// Each byte beyond ASCII becomes one percent escape, so the server receives the same bytes.
    private func address(_ reference: [UInt8]) -> Address? {
        guard reference.count <= Self.maximumReference else { return nil }
        var text: [UInt8] = []
        // Browsers ignore line breaks in references.
        for byte in reference.trimmedOfWhiteSpace where byte != 0x0A && byte != 0x0D && byte != 0x09 {
            if byte < 0x80 {
                text.append(byte)
            } else {
                text += PercentEncoding.encode(CollectionOfOne(byte), keepingEscapes: false).utf8
            }
        }
        return try? base.resolving(String(decoding: text, as: UTF8.self))
    }
}

extension XMLName {
    fileprivate static let link = Self("a")
    fileprivate static let address = Self("href")
    fileprivate static let img = Self("img")
    fileprivate static let source = Self("src")
    fileprivate static let lateSource = Self("data-src")
    fileprivate static let time = Self("time")
    fileprivate static let moment = Self("datetime")
    fileprivate static let base = Self("base")
    fileprivate static let related = Self("link")
    fileprivate static let relation = Self("rel")
    fileprivate static let mediaType = Self("type")
    fileprivate static let separators = ["tr", "li", "br", "hr", "table", "pre", "ul", "ol", "figure", "body"]
        .map { (name: StaticString) in Self(name) }
    fileprivate static let headings = ["h1", "h2", "h3", "h4", "h5", "h6"].map { (name: StaticString) in Self(name) }
}
