import CLibXML2
import Model

/// Parses the photos of a feed: RSS with Media RSS, or Atom.
///
///     <item><guid>1</guid><title>Low tide</title><media:content url="…" medium="image"/></item>
///     <entry><id>1</id><title>Low tide</title><link rel="enclosure" type="image/jpeg" href="…"/></entry>
///
/// An item may have several pictures. If the item lists none, the parser uses the pictures in the item's text, which is
/// HTML, or XHTML elements of the feed. Of a `media:group`, which is one picture in several sizes, the parser uses the
/// largest. A feed contains only the newest items.
public final class FeedParser: LibraryParser {
    private let stream: XMLEventStream
    private let base: Address
    /// Whether all bytes so far are white space or byte order marks.
    private var isBeforeDocument = true
    private var open: [OpenElement] = []
    private var text: [UInt8] = []
    /// Whether the parser has cut the present text.
    private var isCut = false
    private var item: FeedItem?
    private var photos: [LibraryPhoto] = []
    /// The title of the feed.
    public private(set) var galleryName: String?

    /// The maximum number of bytes of texts other than words. Longer texts are cut.
    private static let maximumText = 65_536

    /// Creates a parser for one feed.
    ///
    /// - Parameter base: the address of the feed, to which addresses in the feed are relative.
    public convenience init(base: Address) {
        self.init(base: base, library: XMLLibrary.file)
    }

    /// - Parameter library: the file name of libxml2.
    init(base: Address, library: String) {
        self.base = base
        stream = XMLEventStream(library: library, wantsText: true)
    }

    /// Returns whether a document is a feed.
    ///
    /// - Parameter beginning: the first bytes, which must contain the first tag.
    public static func recognises(_ beginning: [UInt8]) -> Bool {
        guard let root = DocumentRoot.name(Array(withoutBlanks(beginning))) else { return false }
        return ["rss", "feed", "rdf"].contains { root.elementsEqual($0.utf8) }
    }

    /// Parses the next bytes. Returns the photos of the items that are complete.
    ///
    /// Skips white space before the XML declaration, where XML forbids it. Plugins of WordPress often write empty lines
    /// there.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPhoto] {
        let document = isBeforeDocument ? Self.withoutBlanks(bytes) : bytes[...]
        isBeforeDocument = isBeforeDocument && document.isEmpty
        try stream.push(document) { event in try self.take(event) }
        return takePhotos()
    }

    /// Parses the end of the document. Throws if the feed is incomplete.
    public func finish() throws -> [LibraryPhoto] {
        try stream.finish { event in try self.take(event) }
        return takePhotos()
    }

    /// Returns bytes without white space and bytes of UTF-8's byte order mark at their beginning.
    private static func withoutBlanks(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.drop { [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
    }

    private func takePhotos() -> [LibraryPhoto] {
        defer { photos = [] }
        return photos
    }

    private func take(_ event: XMLPushStream.Event) throws {
        switch event {
        case .start(let name, let namespace, let attributes, _):
            let element = FeedElement(name, namespace)
            guard !open.isEmpty || element == .root else { throw FormatError.otherDocument(name) }
            open.append(
                OpenElement(
                    element: element, form: element.hasText ? TextForm(attributes) : .plain, base: findBase(attributes))
            )
            begin(element, attributes)
        case .text(let bytes, _):
            guard item != nil || isInFeedTitle, let index = textIndex else { return }
            add(bytes, atMost: open[index].element == .words ? FeedItem.maximumWords : Self.maximumText)
        case .end:
            guard let element = open.last else { return }
            if element.element == .title, isInFeedTitle, galleryName == nil {
                let title = String(validating: text.trimmedOfWhiteSpace, as: UTF8.self)
                galleryName = FeedItem.line(title.map(element.form.shown))
            }
            open.removeLast()
            end(element)
        }
    }

    private func beginText() {
        text.removeAll(keepingCapacity: true)
        isCut = false
    }

    /// Adds a part of a text. Cuts a text that is too long between two characters.
    ///
    /// libxml2 delivers whole characters.
    private func add(_ bytes: UnsafeRawBufferPointer, atMost maximum: Int) {
        guard !isCut else { return }
        var end = min(maximum - text.count, bytes.count)
        while end > 0, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        text.append(contentsOf: bytes[..<end])
        isCut = end < bytes.count
    }

    /// The address that the innermost `xml:base` states; nil if there is none.
    private var statedBase: Address? { open.last?.base }

    /// Returns the base for an element's references; nil if none is stated.
    private func findBase(_ attributes: Attributes) -> Address? {
        guard let reference = attributes.base, let address = (statedBase ?? base).target(of: reference) else {
            return statedBase
        }
        // The address of a local folder has no slash at its end, but the base needs it.
        return address.scheme == .file && reference.hasSuffix("/") ? address.asFolder : address
    }

    /// Creates a picture from an element whose attribute contains the address.
    private func picture(_ attributes: Attributes, at address: XMLName, medium: String? = nil) -> FeedPicture {
        FeedPicture(
            address: statedBase.resolve(attributes.text(address)), type: attributes.text(.type), medium: medium)
    }

    private func begin(_ element: FeedElement, _ attributes: Attributes) {
        if element == .item {
            item = FeedItem()
        } else if element.hasText {
            beginText()
        }
        switch element {
        case .mediaGroup: item?.beginGroup()
        case .mediaContent:
            var picture = picture(attributes, at: .url, medium: attributes.text(.medium))
            picture.size = FeedPicture.Size(attributes.text)
            item?.add(picture)
        case .mediaThumbnail:
            item?.takeThumbnail(statedBase.resolve(attributes.text(.url)), isInPicture: isInPicture)
        case .enclosure: item?.add(picture(attributes, at: .url))
        case .category:
            if let tag = attributes.text(.term), !tag.isEmpty { item?.add(tag: tag) }
        case .link where attributes.text(.relation) == "enclosure":
            item?.add(picture(attributes, at: .target))
        case .image where isIn(.words):
            if let picture = FeedPicture(imageWith: attributes.text, base: statedBase) { item?.add(inWords: picture) }
        default: break
        }
    }

    /// The index of the element whose text is open; nil if none.
    private var textIndex: Int? {
        guard let index = open.lastIndex(where: \.element.hasText) else { return nil }
        let isNested = index < open.count - 1
        // The parser needs the pictures of such words, and not their texts.
        return isNested && (open[index].form != .xhtml || open[index].element == .words) ? nil : index
    }

    /// Whether the position is in the feed's title. In RSS, this title is in the `channel` element.
    private var isInFeedTitle: Bool {
        guard item == nil, let index = textIndex else { return false }
        return index <= 2 && open[index].element == .title
    }

    private var isInPicture: Bool { isIn(.mediaContent) }

    private func isIn(_ element: FeedElement) -> Bool { open.contains { $0.element == element } }

    private func end(_ element: OpenElement) {
        if element.element == .item {
            if let item { photos += item.photos(base) }
            item = nil
        } else if element.element == .mediaGroup {
            item?.endGroup()
        } else if element.element.hasText {
            item?.take(text, of: element, isInPicture: isInPicture, isInAuthor: isIn(.author))
            beginText()
        }
    }
}

/// An open element.
private struct OpenElement {
    let element: FeedElement
    let form: TextForm
    /// The address that the innermost `xml:base` states; nil if there is none.
    let base: Address?
}

/// The form of a text, which the attribute `type` states.
private enum TextForm {
    case plain
    case html
    /// The text is in elements of the feed.
    case xhtml

    init(_ attributes: Attributes) {
        guard let type = attributes[.type] else {
            self = .plain
            return
        }
        self = type == XMLName("html") ? .html : type == XMLName("xhtml") ? .xhtml : .plain
    }

    /// Returns a text in the form for display.
    func shown(_ text: String) -> String { self == .html ? FeedPage.text(text) : text }
}

/// The elements that the parser knows. Namespaces and names identify them, because each feed chooses its own prefixes.
private enum FeedElement {
    case root, item, id, title, date, changeDate, link, enclosure, words
    case author, authorName, creator, category
    /// The author in RSS: an e-mail address, and usually a name.
    case mailAuthor
    case mediaGroup, mediaContent, mediaThumbnail, mediaTitle, mediaDescription
    /// An image in XHTML.
    case image
    case other

    private static let atom = XMLName("http://www.w3.org/2005/Atom")
    private static let media = [XMLName("http://search.yahoo.com/mrss/"), XMLName("http://search.yahoo.com/mrss")]
    private static let dublinCore = XMLName("http://purl.org/dc/elements/1.1/")
    private static let content = XMLName("http://purl.org/rss/1.0/modules/content/")
    private static let xhtml = XMLName("http://www.w3.org/1999/xhtml")
    /// The namespaces of RSS 1.0 and of its root element.
    private static let rss = [
        XMLName("http://purl.org/rss/1.0/"), XMLName("http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ]

    init(_ name: UnsafePointer<xmlChar>, _ namespace: UnsafePointer<xmlChar>?) {
        func isName(_ other: StaticString) -> Bool { name == XMLName(other) }
        if let namespace, Self.media.contains(where: { namespace == $0 }) {
            self =
                isName("content")
                ? .mediaContent
                : isName("thumbnail")
                    ? .mediaThumbnail
                    : isName("title")
                        ? .mediaTitle
                        : isName("description") ? .mediaDescription : isName("group") ? .mediaGroup : .other
        } else if let namespace, namespace == Self.dublinCore {
            self = isName("date") ? .date : isName("creator") ? .creator : .other
        } else if let namespace, namespace == Self.content {
            self = isName("encoded") ? .words : .other
        } else if namespace == nil || (namespace.map { space in Self.rss.contains { space == $0 } } ?? false) {
            self = Self.ofRSS(name)
        } else if let namespace, namespace == Self.atom {
            self = Self.ofAtom(name)
        } else if let namespace, namespace == Self.xhtml {
            self = isName("img") ? .image : .other
        } else {
            self = .other
        }
    }

    private static func ofRSS(_ name: UnsafePointer<xmlChar>) -> FeedElement {
        func isName(_ other: StaticString) -> Bool { name == XMLName(other) }
        if isName("rss") || isName("RDF") { return .root }
        if isName("item") { return .item }
        if isName("guid") { return .id }
        if isName("title") { return .title }
        if isName("pubDate") { return .date }
        if isName("enclosure") { return .enclosure }
        if isName("author") { return .mailAuthor }
        if isName("category") { return .category }
        return isName("description") ? .words : .other
    }

    private static func ofAtom(_ name: UnsafePointer<xmlChar>) -> FeedElement {
        func isName(_ other: StaticString) -> Bool { name == XMLName(other) }
        if isName("feed") { return .root }
        if isName("entry") { return .item }
        if isName("id") { return .id }
        if isName("title") { return .title }
        if isName("published") { return .date }
        if isName("updated") { return .changeDate }
        if isName("link") { return .link }
        if isName("category") { return .category }
        if isName("author") { return .author }
        if isName("name") { return .authorName }
        return isName("content") || isName("summary") ? .words : .other
    }

    /// Whether the parser needs the element's text.
    var hasText: Bool {
        switch self {
        case .id, .title, .date, .changeDate, .words, .authorName, .mailAuthor, .creator, .category, .mediaTitle,
            .mediaDescription:
            true
        case .root, .item, .link, .enclosure, .author, .mediaGroup, .mediaContent, .mediaThumbnail, .image, .other:
            false
        }
    }
}

extension FeedItem {
    /// Stores the text of an element. The first id, title, date and author of an item count.
    fileprivate mutating func take(_ text: [UInt8], of element: OpenElement, isInPicture: Bool, isInAuthor: Bool) {
        guard let text = String(validating: text.trimmedOfWhiteSpace, as: UTF8.self), !text.isEmpty else { return }
        let form = element.form
        switch element.element {
        case .id: take(id: text)
        case .title: take(title: form.shown(text))
        case .mediaTitle where isInPicture: name(form.shown(text))
        case .mediaTitle: take(title: form.shown(text))
        case .mediaDescription where isInPicture: describe(form.shown(text))
        case .date: date = date ?? FeedDate.moment(text)
        case .changeDate: changeDate = changeDate ?? FeedDate.moment(text)
        case .words: add(words: text, base: element.base)
        case .creator: take(author: text)
        case .mailAuthor: if let name = Self.name(ofMailAuthor: text) { take(author: name) }
        case .authorName where isInAuthor: take(author: text)
        case .category: add(tag: text)
        default: break
        }
    }

    /// Returns the name in an author of RSS, such as `anna@example.org (Anna)`. Returns nil for an address alone.
    private static func name(ofMailAuthor text: String) -> String? {
        guard text.contains("@") else { return text }
        guard let start = text.firstIndex(of: "("), let end = text.lastIndex(of: ")"), start < end else { return nil }
        return line(String(text[text.index(after: start)..<end]))
    }
}

extension Attributes {
    /// Returns the value of an attribute; nil if it is missing or not UTF-8.
    fileprivate func text(_ name: XMLName) -> String? { self[name].flatMap(Self.string) }

    /// The value of `xml:base`; nil if it is missing or not UTF-8.
    fileprivate var base: String? { self[xml: .base].flatMap(Self.string) }

    private static func string(_ value: UnsafeRawBufferPointer) -> String? {
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return String(validating: bytes, as: UTF8.self)
    }
}

extension XMLName {
    fileprivate static let url = Self("url")
    fileprivate static let type = Self("type")
    fileprivate static let medium = Self("medium")
    fileprivate static let relation = Self("rel")
    fileprivate static let target = Self("href")
    fileprivate static let term = Self("term")
    fileprivate static let base = Self("base")
}
