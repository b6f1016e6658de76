import CLibXML2
import Model
import Numbers

/// An item of a feed, with its pictures.
struct FeedItem {
    /// The item's own id; nil if the feed states none.
    private(set) var id: String?
    /// The title as one line; nil if the feed states none.
    private(set) var title: String?
    /// The name of the author, and the tags.
    private(set) var annotations = PhotoAnnotations()
    /// The moment when the item was published.
    var date: Timestamp?
    /// The moment of the item's last change.
    var changeDate: Timestamp?
    private(set) var pictures: [FeedPicture] = []
    /// The number of pictures before the open group; nil outside of groups.
    private var groupStart: Int?
    /// The address of a small picture for the whole item.
    var thumbnail: String?
    /// The texts of the item, which may be HTML, with their bases.
    private var words: [(text: String, base: Address?)] = []
    /// The pictures in texts that are XHTML elements of the feed.
    private var wordPictures: [FeedPicture] = []
    /// The number of bytes of all texts and their XHTML pictures.
    private var wordsLength = 0

    /// Sets the id. Keeps an earlier id. Ignores a long id, because each picture gets a copy of it.
    mutating func take(id text: String) {
        if id == nil, text.utf8.count <= Self.maximumID { id = text }
    }

    /// Sets the title. Keeps an earlier title.
    mutating func take(title text: @autoclosure () -> String) { title = title ?? Self.line(text()) }

    /// Sets the name of the author. Ignores further authors.
    mutating func take(author: String) {
        if annotations.author.isEmpty { annotations.author = author.cut(toBytes: Self.maximumWord) }
    }

    /// Adds a tag. Ignores the tag if the item's tags together are too long, because each picture gets a copy of them.
    mutating func add(tag: String) {
        let tag = tag.cut(toBytes: Self.maximumWord)
        let length = annotations.tags.reduce(tag.utf8.count) { $0 + $1.utf8.count }
        if length <= Self.maximumTags, !annotations.tags.contains(tag) { annotations.tags.append(tag) }
    }

    /// The maximum number of bytes of an id.
    private static let maximumID = 4_096
    /// The maximum number of bytes of a tag or of the author's name.
    private static let maximumWord = 256
    /// The maximum number of bytes of all tags of an item.
    private static let maximumTags = 1_024
    /// The maximum number of pictures of an item.
    private static let maximumPictures = 1_000
    /// The maximum number of bytes of all texts of an item.
    static let maximumWords = 1 << 20
    /// The maximum number of texts of an item.
    private static let maximumTexts = 100

    /// Adds a picture. Returns false if the item already has too many pictures.
    @discardableResult
    mutating func add(_ picture: FeedPicture) -> Bool {
        guard pictures.count < Self.maximumPictures else { return false }
        pictures.append(picture)
        return true
    }

    /// Begins a group, whose members are the same picture in several sizes.
    mutating func beginGroup() { groupStart = pictures.count }

    /// Ends a group, and keeps only its largest picture. This picture gets the texts and thumbnails that only others
    /// have.
    mutating func endGroup() {
        guard let start = groupStart else { return }
        groupStart = nil
        let members = pictures[start...].filter(\.isPicture)
        guard var largest = members.first else { return }
        for member in members where member.size > largest.size { largest = member }
        for member in members {
            largest.title = largest.title ?? member.title
            largest.description = largest.description ?? member.description
            largest.thumbnail = largest.thumbnail ?? member.thumbnail
        }
        pictures.replaceSubrange(start..., with: [largest])
    }

    /// Adds a text, which may be HTML. Cuts the text if the item's texts together become too long.
    ///
    /// - Parameter base: the address that the feed states for the text's references; nil if it states none.
    mutating func add(words text: String, base: Address? = nil) {
        let text = text.cut(toBytes: Self.maximumWords - wordsLength)
        guard !text.isEmpty, words.count < Self.maximumTexts else { return }
        words.append((text, base))
        wordsLength += text.utf8.count
    }

    /// Adds a picture that is in a text. Ignores the picture if the item's texts together become too long.
    mutating func add(inWords picture: FeedPicture) {
        let length = [picture.address, picture.description].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        guard wordPictures.count < Self.maximumPictures, length <= Self.maximumWords - wordsLength else { return }
        wordPictures.append(picture)
        wordsLength += length
    }

    /// Sets the thumbnail of the last picture or of the item. Keeps an earlier thumbnail.
    mutating func takeThumbnail(_ address: String?, isInPicture: Bool) {
        if isInPicture {
            changeLast { $0.thumbnail = $0.thumbnail ?? address }
        } else {
            thumbnail = thumbnail ?? address
        }
    }

    /// Sets the title of the last picture, unless it has one.
    mutating func name(_ title: @autoclosure () -> String) { changeLast { $0.title = $0.title ?? title() } }

    /// Sets the description of the last picture, unless it has one.
    mutating func describe(_ text: @autoclosure () -> String) {
        changeLast { $0.description = $0.description ?? text() }
    }

    /// Changes the last picture.
    mutating func changeLast(_ change: (inout FeedPicture) -> Void) {
        guard !pictures.isEmpty else { return }
        change(&pictures[pictures.count - 1])
    }

    /// The pictures that become photos: those that the item names, or else those in its texts.
    var namedPictures: [FeedPicture] {
        let named = pictures.filter(\.isPicture)
        guard named.isEmpty else { return named }
        var inTexts = wordPictures
        // A base can make each address thousands of bytes long, so further texts stay unread.
        for (text, base) in words where inTexts.count < Self.maximumPictures {
            inTexts += FeedPage.pictures(text, base: base, atMost: Self.maximumPictures - inTexts.count)
        }
        return inTexts
    }

    /// Returns the item's photos. Pictures with the same address count once.
    ///
    /// - Parameter base: the address to which the item's addresses are relative.
    func photos(_ base: Address) -> [LibraryPhoto] {
        let named = namedPictures
        var photos: [LibraryPhoto] = []
        var addresses: Set<Address> = []
        for picture in named {
            guard let address = picture.address.flatMap({ base.target(of: $0) }), addresses.insert(address).inserted
            else { continue }
            let number = photos.count + 1
            var annotations = annotations
            annotations.description = picture.description ?? ""
            photos.append(
                LibraryPhoto(
                    id: id.map { number == 1 ? $0 : "\($0)#\(number)" } ?? address.text,
                    name: Self.line(picture.title) ?? title ?? Self.line(picture.description) ?? address.fileName,
                    date: (date ?? changeDate).map { .published($0) }, revision: address.text, photo: address,
                    thumbnail: (picture.thumbnail ?? (named.count == 1 ? thumbnail : nil))
                        .flatMap { base.target(of: $0) },
                    annotations: annotations)
            )
        }
        return photos
    }

    /// The maximum number of bytes of a photo's name.
    private static let maximumName = 250

    /// Returns a text as one line of limited length. Returns nil for an empty text.
    static func line(_ text: String?) -> String? {
        guard let text else { return nil }
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard line.utf8.count > maximumName else { return line.isEmpty ? nil : line }
        var short = ""
        for character in line {
            guard short.utf8.count + character.utf8.count < maximumName else { break }
            short.append(character)
        }
        return short + "…"
    }
}

/// A picture in an item of a feed.
struct FeedPicture {
    var address: String?
    /// The media type; nil if unknown.
    var type: String?
    /// The kind of medium, such as `image`; nil if unknown.
    var medium: String?
    var title: String?
    /// A description of the picture for people who cannot see it.
    var description: String?
    var thumbnail: String?
    /// The size that the feed states, to compare it with other sizes of the same picture.
    var size = Size()

    /// The size of one member of a group. The number of pixels counts first, then the number of bytes, and then whether
    /// the member is the default.
    struct Size: Comparable {
        private var pixels: ByteCount = 0
        private var bytes: ByteCount = 0
        private var isDefault = false

        /// Creates an unknown size.
        init() {}

        /// Reads the size from the attributes of a `media:content` element.
        ///
        /// - Parameter value: returns the value of an attribute.
        init(_ value: (XMLName) -> String?) {
            func number(_ name: XMLName) -> ByteCount { value(name).flatMap { ByteCount(digits: $0) } ?? 0 }
            pixels = number(XMLName("width")) * number(XMLName("height")).int
            bytes = number(XMLName("fileSize"))
            isDefault = value(XMLName("isDefault")) == "true"
        }

        static func < (left: Self, right: Self) -> Bool {
            func parts(_ size: Self) -> (ByteCount, ByteCount, Int) {
                (size.pixels, size.bytes, size.isDefault ? 1 : 0)
            }
            return parts(left) < parts(right)
        }
    }

    /// Whether this is a picture of the item, and not a video, a sound or the author's portrait.
    var isPicture: Bool {
        guard !isPortrait else { return false }
        if let medium { return medium == "image" }
        if let type, !type.isEmpty { return type.lowercased().hasPrefix("image/") }
        let path = address?.prefix { $0 != "?" && $0 != "#" } ?? ""
        return PictureName.isPicture(Array(path.utf8)[...])
    }

    /// Whether this is a portrait of Gravatar. WordPress.com adds the author's portrait to each item.
    private var isPortrait: Bool {
        guard let address else { return false }
        // An address without a scheme begins with two slashes.
        let parts = (address.hasPrefix("//") ? "https:\(address)" : address).split(separator: "/", maxSplits: 3)
        return parts.count == 4 && parts[2] == "avatar" && ".\(parts[1])".hasSuffix(".gravatar.com")
    }
}

extension FeedPicture {
    /// Creates the picture of an `img` element. Returns nil without an address, and for a portrait of Gravatar. Also
    /// returns nil for a picture that is one pixel wide, because such pictures only count readers.
    ///
    /// - Parameters:
    ///   - value: returns the value of an attribute.
    ///   - base: the address that the feed states for references; nil if it states none.
    init?(imageWith value: (XMLName) -> String?, base: Address?) {
        guard value(XMLName("width")) != "1", let source = value(XMLName("src")), !source.isEmpty else { return nil }
        self.init(address: base.resolve(source), medium: "image", description: value(XMLName("alt")))
        if isPortrait { return nil }
    }
}

/// Reads the HTML texts of feeds.
enum FeedPage {
    /// Returns the pictures in an HTML text, up to a maximum number.
    static func pictures(_ page: String, base: Address?, atMost maximum: Int) -> [FeedPicture] {
        guard page.contains("<") else { return [] }
        var pictures: [FeedPicture] = []
        // Text that is not HTML has no pictures.
        _ = read(page) { event in
            guard case .start(let name, let attributes) = event, name == XMLName("img"),
                pictures.count < maximum,
                let picture = FeedPicture(
                    imageWith: { attribute in
                        attributes[attribute].flatMap { String(validating: $0, as: UTF8.self) }
                    }, base: base)
            else { return }
            pictures.append(picture)
        }
        return pictures
    }

    /// Returns an HTML text without its tags, and with its references replaced.
    static func text(_ page: String) -> String {
        guard page.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) else { return page }
        var text: [UInt8] = []
        // A page must have tags, and the end tag lets the text end with a `<`.
        let isRead = read("<p>\(page)</p>") { event in
            switch event {
            case .text(let bytes): text.append(contentsOf: bytes)
            case .start(let name, _) where Self.blocks.contains(where: { name == $0 }): text.append(UInt8(ascii: "\n"))
            default: break
            }
        }
        guard isRead else { return page }
        return String(decoding: ByteEscaping.restore(text).trimmedOfWhiteSpace, as: UTF8.self)
    }

    /// Passes the tags and texts of a page to a function. Returns false if the page cannot be read to its end.
    private static func read(_ page: String, take: @escaping (HTMLPushStream.Event) -> Void) -> Bool {
        let stream = HTMLPushStream(library: XMLLibrary.file)
        do {
            try stream.push(Array(page.utf8), consumer: take)
            try stream.finish(consumer: take)
            return true
        } catch { return false }
    }

    /// The elements that begin a line.
    private static let blocks = ["p", "br", "div", "li"].map { (name: StaticString) in XMLName(name) }
}

extension Address {
    /// Resolves a reference in a feed. Returns nil for an invalid or too long address, and for a local file in a remote
    /// feed.
    func target(of reference: String) -> Address? {
        guard let address = try? resolving(reference), address.scheme != .file || scheme == .file,
            address.text.utf8.count <= Address.maximumLength
        else { return nil }
        return address
    }

    /// The name of the file in the path; the host if the path has no file.
    fileprivate var fileName: String {
        let name = path.split(separator: "/").last.map { PercentEncoding.decodedBytes(String($0)) } ?? []
        return name.isEmpty ? host : PathText.text(name)
    }
}

extension Optional<Address> {
    /// Resolves a reference if there is a base, or returns it.
    func resolve(_ reference: String?) -> String? {
        guard let base = self, let reference else { return reference }
        return base.target(of: reference)?.text
    }
}

/// Reads the dates of feeds.
enum FeedDate {
    /// Parses a date of Atom or RSS. Returns nil for other texts.
    ///
    /// Atom writes `2026-11-25T21:00:00+01:00`, and RSS writes `Wed, 25 Nov 2026 21:00:00 +0100`.
    static func moment(_ text: String) -> Timestamp? {
        if let moment = ListingDate.moment(text) { return moment }
        guard text.utf8.count <= maximumLength else { return nil }
        return digits(text) ?? words(text)
    }

    /// Parses a date of RSS, such as `Sat, 07 Sep 02 00:00:01 EST`.
    private static func words(_ text: String) -> Timestamp? {
        var words = text.split(separator: " ")
        guard let zone = words.popLast().flatMap({ offset($0) }) else { return nil }
        var fields = words.joined(separator: " ").split { $0 == " " || $0 == "," || $0 == "-" }
        if fields.first?.first?.isLetter == true { fields.removeFirst() }
        guard fields.count == 4,
            let local = ListingDate.moment(day: fields[0], month: fields[1], year: year(fields[2]), time: fields[3])
        else { return nil }
        return Timestamp(iso8601: local.iso8601.dropLast() + zone)
    }

    /// Parses a date without a time, or a time without seconds or without a colon in its zone.
    ///
    /// Examples are `2006-07-30`, `2006-07-30T07:47Z` and `2024-05-01T10:00:00+0000`.
    private static func digits(_ text: String) -> Timestamp? {
        let day = text.prefix { $0 != "T" }
        guard day.endIndex < text.endIndex else { return Timestamp(iso8601: "\(day)T00:00:00Z") }
        let time = text[day.endIndex...].dropFirst()
        let clock = time.prefix { !"Z+-".contains($0) }
        let zone = time[clock.endIndex...]
        return Timestamp(
            iso8601: "\(day)T\(clock)\(clock.utf8.count == 5 ? ":00" : "")\(offset(zone) ?? String(zone))")
    }

    /// Returns a year with four digits. Short years of RSS are from 1950 to 2049 (RFC 2822, section 4.3).
    private static func year(_ digits: Substring) -> String {
        guard digits.utf8.count == 2 else { return String(digits) }
        return "\(digits < "50" ? "20" : "19")\(digits)"
    }

    /// Returns a zone such as `+0100` in the form `+01:00`. Returns nil for an unknown zone.
    private static func offset(_ zone: Substring) -> String? {
        if let offset = names[String(zone)] { return offset }
        // This check uses no regular expression, because Swift would parse the expression again for each item.
        guard zone.count == 5, zone.hasPrefix("+") || zone.hasPrefix("-"),
            zone.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else {
            return nil
        }
        return "\(zone.prefix(3)):\(zone.suffix(2))"
    }

    /// The time zones that RFC 822 names, and UTC, with their offsets from UTC.
    private static let names = [
        "UT": "+00:00", "GMT": "+00:00", "UTC": "+00:00", "Z": "+00:00",
        "EST": "-05:00", "EDT": "-04:00", "CST": "-06:00", "CDT": "-05:00", "MST": "-07:00", "MDT": "-06:00",
        "PST": "-08:00", "PDT": "-07:00",
    ]

    /// The maximum number of bytes of a date.
    private static let maximumLength = 64
}
