import Model

/// Parses the photos of a JSON Feed.
///
///     {"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "attachments": [{"url": "…"}]}]}
///
/// If an item has no attached picture, the parser uses the item's image, or else the pictures in the item's text.
public final class JSONFeedParser: LibraryParser {
    private var answer: JSONAnswer<Reader>

    /// Creates a parser for one feed.
    ///
    /// - Parameter base: the address of the feed, to which addresses in the feed are relative.
    public init(base: Address) {
        answer = JSONAnswer(Reader(base))
    }

    /// Returns whether a document is a JSON Feed.
    ///
    /// - Parameter beginning: the first bytes.
    public static func recognises(_ beginning: [UInt8]) -> Bool {
        let text = String(decoding: beginning.prefix(1_024), as: UTF8.self).filter { !$0.isWhitespace }.replacing(
            "\\/", with: "/")
        return text.hasPrefix("{") && text.contains("\"version\":\"https://jsonfeed.org/version/")
    }

    /// The title of the feed.
    public var galleryName: String? { answer.reader.title }

    /// Parses the next bytes. Returns the photos of the items that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPhoto] { try answer.parse(bytes) }

    /// Parses the end of the document. Throws if the feed is incomplete.
    public func finish() throws -> [LibraryPhoto] { try answer.finish() }

    private struct Reader: ItemReader {
        private let base: Address
        var items: [LibraryPhoto] = []
        private var item: FeedItem?
        private var image: String?
        /// The title of the feed.
        private(set) var title: String?
        private var isInItems = false
        /// The member of the item that is open; nil if the parser does not need its contents.
        private var member: Member?
        private var key = ""

        /// A member of an item that is an array or an object.
        private enum Member: String {
            case attachments, tags, authors
            /// The author in version 1 of the format.
            case author
        }

        init(_ base: Address) {
            self.base = base
        }

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginObject), (0, .endObject): break
            case (0, _): throw FormatError.notAGallery("an answer that is no feed")
            case (_, .key(let name)): key = String(decoding: name, as: UTF8.self)
            case (1, .string(let text)) where key == "title":
                title = FeedItem.line(text.text(atMost: Self.maximumText))
            case (1, .beginArray): isInItems = key == "items"
            case (1, .endArray): isInItems = false
            case (2, .beginObject) where isInItems: (item, image) = (FeedItem(), nil)
            case (2, .endObject): endItem()
            case (3, .string(let text)), (3, .number(let text)): take(String(decoding: text, as: UTF8.self))
            case (3, .beginArray): member = Member(rawValue: key)
            case (3, .beginObject): member = key == "author" ? .author : nil
            case (3, .endArray), (3, .endObject): member = nil
            case (4, .string(let text)) where member == .tags: item?.add(tag: String(decoding: text, as: UTF8.self))
            case (4, .string(let text)) where member == .author && key == "name",
                (5, .string(let text)) where member == .authors && key == "name":
                item?.take(author: String(decoding: text, as: UTF8.self))
            case (4, .beginObject) where member == .attachments:
                // If the item refuses the picture, the attachment's members must not change the previous picture.
                if item?.add(FeedPicture()) != true { member = nil }
            case (5, .string(let text)) where member == .attachments: attach(String(decoding: text, as: UTF8.self))
            default: break
            }
        }

        private mutating func take(_ text: String) {
            guard !text.isEmpty else { return }
            switch key {
            case "id": item?.take(id: text)
            case "title": item?.take(title: text)
            case "date_published": item?.date = FeedDate.moment(text)
            case "date_modified": item?.changeDate = FeedDate.moment(text)
            case "content_html": item?.add(words: text)
            case "image": image = text
            case "banner_image": image = image ?? text
            default: break
            }
        }

        private mutating func attach(_ text: String) {
            guard text.utf8.count <= Self.maximumText else { return }
            switch key {
            case "url": item?.changeLast { $0.address = text }
            case "mime_type": item?.changeLast { $0.type = text }
            case "title": item?.changeLast { $0.title = text }
            default: break
            }
        }

        /// The maximum number of bytes of a text of an attachment.
        private static let maximumText = 8_192

        private mutating func endItem() {
            guard var item else { return }
            self.item = nil
            if let image, !item.pictures.contains(where: \.isPicture) {
                item.add(FeedPicture(address: image, medium: "image"))
            }
            items += item.photos(base)
        }
    }
}
