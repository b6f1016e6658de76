import Model
import Numbers

/// Parses a page of an Immich server's search results.
///
///     {"assets": {"items": [{"id": "…", "originalFileName": "a.jpg", "localDateTime": "…", …}], "nextPage": "2"}}
///
/// Photos in the trash are left out. Members may be in any order, and the parser skips unknown ones.
public final class ImmichPhotoParser: LibraryParser {
    private var answer: JSONAnswer<ImmichPageReader>
    private let tag: String?

    /// Creates a parser for one page.
    ///
    /// - Parameters:
    ///   - server: the address of the server, with a slash at its end.
    ///   - tag: the id of the tag that the search required; nil if the search required no tag.
    ///   - onlyFavorites: whether to leave out photos that the user has not marked as favorites. A search for favorites
    ///     also finds those of partners, and states that they are none of the user's.
    public init(server: Address, tag: String? = nil, onlyFavorites: Bool = false) {
        answer = JSONAnswer(ImmichPageReader(ImmichPictures(server: server), onlyFavorites: onlyFavorites))
        self.tag = tag
    }

    /// Parses the next bytes. Returns the photos that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPhoto] { try answer.parse(bytes) }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no page of photos.
    public func finish() throws -> [LibraryPhoto] { try answer.finish() }

    /// The name of the page that follows; nil after the last page.
    ///
    /// The name is the page's number. For the photos of a tag, the name also contains the tag's id.
    public var nextPage: String? {
        answer.reader.nextPage.map { number in tag.map { ImmichTagPage(tag: $0, number: number).name } ?? number }
    }

    /// Whether the page may have only files that Vitrine does not show.
    public var mayLackPhotos: Bool { answer.reader.hasAssets }
}

/// The addresses of an Immich server's pictures.
public struct ImmichPictures: Sendable {
    /// Addresses with the queries for a photo's pictures. They are parsed once, because parsing a query takes longer than
    /// all other work for a photo.
    private struct Queries: Sendable {
        let thumbnail: Address?
        let preview: Address?
        let original: Address?

        init(_ server: Address, isEdited: Bool) {
            // Without this field, the server sends the pictures as they were before the edits.
            let edited = isEdited ? "&edited=true" : ""
            thumbnail = try? server.resolving("?size=thumbnail" + edited)
            preview = try? server.resolving("?size=preview" + edited)
            original = try? server.resolving(isEdited ? "?edited=true" : "./")
        }
    }

    private let server: Address
    private let (queries, editedQueries): (Queries, Queries)
    private let hasOriginals: Bool

    /// Creates the addresses.
    ///
    /// - Parameters:
    ///   - server: the address of the server, with a slash at its end.
    ///   - hasOriginals: whether the server sends the original files.
    public init(server: Address, hasOriginals: Bool = true) {
        self.server = server.asFolder
        self.hasOriginals = hasOriginals
        queries = Queries(server, isEdited: false)
        editedQueries = Queries(server, isEdited: true)
    }

    /// Returns the address of a photo's thumbnail, which has 250 pixels.
    ///
    /// - Parameter isEdited: whether the user has edited the photo on the server.
    func thumbnail(_ id: String, isEdited: Bool = false) -> Address? {
        picture("\(id)/thumbnail", (isEdited ? editedQueries : queries).thumbnail)
    }

    /// Returns the address of a photo: the original file, or a preview if Vitrine cannot get or decode the file.
    ///
    /// - Parameter isEdited: whether the user has edited the photo on the server.
    func photo(_ id: String, isDecodable: Bool, isEdited: Bool = false) -> Address? {
        let queries = isEdited ? editedQueries : self.queries
        return isDecodable && hasOriginals
            ? picture("\(id)/original", queries.original) : picture("\(id)/thumbnail", queries.preview)
    }

    private func picture(_ path: String, _ query: Address?) -> Address? {
        query.flatMap { try? server.resolving("api/assets/\(path)").with(queryOf: $0) }
    }
}

/// Reads the events of a page's JSON.
private struct ImmichPageReader: ItemReader {
    private let pictures: ImmichPictures
    private let onlyFavorites: Bool
    var items: [LibraryPhoto] = []
    private var asset = ImmichAsset()
    private var (isInAssets, isInItems, isInAsset) = (false, false, false)
    private var (isItems, isNextPage) = (false, false)
    /// Whether the page has a list of photos, perhaps an empty one.
    private var isPage = false
    /// Whether the page has files.
    private(set) var hasAssets = false
    private(set) var nextPage: String?

    init(_ pictures: ImmichPictures, onlyFavorites: Bool) {
        (self.pictures, self.onlyFavorites) = (pictures, onlyFavorites)
    }

    func check() throws {
        guard isPage else { throw FormatError.notAGallery("an answer without photos") }
    }

    mutating func take(_ event: JSONEvent, depth: Int) throws {
        if isInAsset {
            if depth >= 4 {
                asset.take(event, depth: depth - 4)
            } else if depth == 3 {
                isInAsset = false
                hasAssets = true
                guard let photo = asset.photo(pictures), !onlyFavorites || photo.annotations.isFavorite else { return }
                items.append(photo)
            }
            return
        }
        switch (depth, event) {
        case (3, .beginObject) where isInItems:
            isInAsset = true
            asset.removeAll()
        case (2, .endArray): isInItems = false
        case (2, .beginArray) where isInAssets && isItems:
            isInItems = true
            isPage = true
        case (2, .key(let name)) where isInAssets:
            isItems = name.isText("items")
            isNextPage = name.isText("nextPage")
        case (2, .string(let text)) where isInAssets && isNextPage,
            (2, .number(let text)) where isInAssets && isNextPage:
            nextPage = try Self.pageNumber(text)
        case (1, .key(let name)): isInAssets = name.isText("assets")
        case (0, .beginObject), (0, .endObject): break
        case (0, _): throw FormatError.notAGallery("an answer without photos")
        default: break
        }
    }

    /// Returns the number of a page, which Vitrine sends to the server. Throws for other texts.
    private static func pageNumber(_ text: UnsafeRawBufferPointer) throws -> String {
        guard (1...9).contains(text.count), text.allSatisfy({ (0x30...0x39).contains($0) }), text[0] != 0x30 else {
            throw FormatError.notAGallery("an answer with an unknown page number")
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The members of the object that describes a photo or video.
struct ImmichAsset {
    private enum Member {
        case id, name, type, checksum, thumbhash, mimeType, isTrashed, localTime, createdAt, updatedAt
        case isFavorite, isEdited, exif, people, tags, duration, visibility

        init?(_ name: UnsafeRawBufferPointer) {
            switch name.count {
            case 2 where name.isText("id"): self = .id
            case 4 where name.isText("type"): self = .type
            case 4 where name.isText("tags"): self = .tags
            case 6 where name.isText("people"): self = .people
            case 8 where name.isText("exifInfo"): self = .exif
            case 8 where name.isText("duration"): self = .duration
            case 8 where name.isText("checksum"): self = .checksum
            case 8 where name.isText("isEdited"): self = .isEdited
            case 9 where name.isText("thumbhash"): self = .thumbhash
            case 9 where name.isText("isTrashed"): self = .isTrashed
            case 9 where name.isText("updatedAt"): self = .updatedAt
            case 10 where name.isText("isFavorite"): self = .isFavorite
            case 10 where name.isText("visibility"): self = .visibility
            case 13 where name.isText("localDateTime"): self = .localTime
            case 13 where name.isText("fileCreatedAt"): self = .createdAt
            case 16 where name.isText("originalFileName"): self = .name
            case 16 where name.isText("originalMimeType"): self = .mimeType
            default: return nil
            }
        }
    }

    /// The maximum number of bytes of a name that are kept.
    private static let longestName = 1_024
    /// The maximum number of bytes of a checksum, thumbhash or media type. Longer values count as missing.
    private static let longestValue = 128

    private var member: Member?
    private var id: String?
    private var name = ""
    private var checksum: [UInt8] = []
    private var thumbhash: [UInt8] = []
    private var mimeType = ""
    private var (isShown, isVideo, isEdited) = (true, false, false)
    private var duration = 0
    private var (localTime, createdAt, updatedAt): (Timestamp?, Timestamp?, Timestamp?)
    private var words = ImmichWords()

    mutating func removeAll() {
        (member, id, name, mimeType) = (nil, nil, "", "")
        (isShown, isVideo, isEdited, duration) = (true, false, false, 0)
        (localTime, createdAt, updatedAt) = (nil, nil, nil)
        (checksum, thumbhash) = ([], [])
        words = ImmichWords()
    }

    /// Reads the name or the value of a member. The members of the asset itself have the depth 0.
    mutating func take(_ event: JSONEvent, depth: Int) {
        guard depth == 0 else { return takeWords(event, depth: depth) }
        switch (member, event) {
        case (_, .key(let name)): member = Member(name)
        case (.id, .string(let text)): id = ImmichID.text(text)
        case (.name, .string(let text)): name = text.text(atMost: Self.longestName)
        case (.checksum, .string(let text)) where text.count <= Self.longestValue: checksum = Array(text)
        case (.thumbhash, .string(let text)) where text.count <= Self.longestValue: thumbhash = Array(text)
        case (.mimeType, .string(let text)) where text.count <= Self.longestValue:
            mimeType = String(decoding: text, as: UTF8.self)
        case (.type, .string(let text)):
            isVideo = text.isText("VIDEO")
            isShown = isShown && (isVideo || text.isText("IMAGE"))
        case (.isTrashed, .bool(true)): isShown = false
        case (.isEdited, .bool(let value)): isEdited = value
        case (.duration, .number(let text)), (.duration, .string(let text)):
            duration = ImmichDuration.milliseconds(text)
        // The server stores the videos of live photos as hidden files.
        case (.visibility, .string(let text)): isShown = isShown && !text.isText("hidden")
        case (.isFavorite, .bool(let value)): words.takeFavorite(value)
        case (.localTime, .string(let text)): localTime = Timestamp(iso8601: text)
        case (.createdAt, .string(let text)): createdAt = Timestamp(iso8601: text)
        case (.updatedAt, .string(let text)): updatedAt = Timestamp(iso8601: text)
        default: break
        }
    }

    private mutating func takeWords(_ event: JSONEvent, depth: Int) {
        switch member {
        case .exif where depth == 1: words.takeExif(event)
        case .people where depth == 2: words.takeName(event, of: \.people)
        case .tags where depth == 2: words.takeName(event, of: \.tags)
        default: break
        }
    }

    /// Returns the photo or video. Returns nil for other media, and for an object without an id.
    func photo(_ pictures: ImmichPictures) -> LibraryPhoto? {
        guard isShown, let id,
            let photo = pictures.photo(id, isDecodable: isDecodable, isEdited: isEdited)
        else { return nil }
        // The checksum is that of the original file, which an edit does not change.
        let revision = isEdited ? checksum + thumbhash : checksum
        return LibraryPhoto(
            id: id, name: name.isEmpty ? id : name,
            date: localTime.map { .cameraTime($0) } ?? createdAt.map { .moment($0) },
            part: localTime.map { ImmichMonth.name(of: $0) } ?? LibraryPhoto.noPart,
            revision: String(decoding: revision, as: UTF8.self), thumbhash: String(decoding: thumbhash, as: UTF8.self),
            photo: photo, thumbnail: pictures.thumbnail(id, isEdited: isEdited), changedAt: updatedAt,
            annotations: words.annotations, videoMilliseconds: isVideo ? duration : nil)
    }

    /// Whether Vitrine can decode the file. If not, Vitrine shows the server's still picture.
    private var isDecodable: Bool {
        guard !isVideo else { return false }
        guard mimeType.isEmpty else { return Self.decodableTypes.contains(mimeType) }
        return PictureName.isFinished(Array(name.utf8)[...])
    }

    private static let decodableTypes: Set<String> = [
        "image/jpeg", "image/jpg", "image/png", "image/gif", "image/webp", "image/tiff", "image/heic", "image/heif",
        "image/avif", "image/jxl", "image/bmp",
    ]
}

/// The annotations that an Immich server states about a photo.
private struct ImmichWords {
    private enum Member { case name, description, rating, city, state, country }

    /// The longest text to keep, in bytes. Longer texts are cut.
    private static let longestText = 4_096
    /// The maximum number of people or tags of a photo.
    private static let mostNames = 64

    /// The annotations without the place. The place consists of the city, state and country.
    private var words = PhotoAnnotations()
    private var (city, state, country) = ("", "", "")
    private var member: Member?

    /// The annotations with the place, such as `Potsdam, Brandenburg, Germany`. A city that is also a state appears
    /// once.
    var annotations: PhotoAnnotations {
        var annotations = words
        annotations.place = [city, state == city ? "" : state, country].filter { !$0.isEmpty }.joined(separator: ", ")
        return annotations
    }

    /// Records whether the photo is a favorite.
    mutating func takeFavorite(_ isFavorite: Bool) { words.isFavorite = isFavorite }

    /// Reads the name or the value of a member of `exifInfo`.
    mutating func takeExif(_ event: JSONEvent) {
        switch (member, event) {
        case (_, .key(let name)): member = Self.exifMember(name)
        case (.description, .string(let text)): words.description = text.text(atMost: Self.longestText)
        case (.rating, .number(let text)): words.rating = Self.stars(text)
        case (.city, .string(let text)): city = text.text(atMost: Self.longestText)
        case (.state, .string(let text)): state = text.text(atMost: Self.longestText)
        case (.country, .string(let text)): country = text.text(atMost: Self.longestText)
        default: break
        }
    }

    /// Reads the name or the value of a person's or tag's member. Only `name` counts: a tag's `value` is a path such as
    /// `animals/birds`.
    mutating func takeName(_ event: JSONEvent, of names: WritableKeyPath<PhotoAnnotations, [String]>) {
        switch (member, event) {
        case (_, .key(let name)): member = name.isText("name") ? .name : nil
        case (.name, .string(let text)):
            let name = text.text(atMost: Self.longestText)
            if !name.isEmpty, words[keyPath: names].count < Self.mostNames { words[keyPath: names].append(name) }
        default: break
        }
    }

    private static func exifMember(_ name: UnsafeRawBufferPointer) -> Member? {
        switch name.count {
        case 4 where name.isText("city"): .city
        case 5 where name.isText("state"): .state
        case 6 where name.isText("rating"): .rating
        case 7 where name.isText("country"): .country
        case 11 where name.isText("description"): .description
        default: nil
        }
    }

    /// Returns the number of stars. The server writes -1 for a rejected photo.
    private static func stars(_ bytes: UnsafeRawBufferPointer) -> Int {
        bytes.count == 1 && (0x31...0x35).contains(bytes[0]) ? Int(bytes[0]) - 0x30 : 0
    }
}

/// The ids of an Immich server, which are UUIDs.
enum ImmichID {
    /// Returns the text of an id. Returns nil for other texts, because ids are part of addresses.
    static func text(_ bytes: some Collection<UInt8>) -> String? {
        guard bytes.count == 36 else { return nil }
        let isSound = bytes.enumerated().allSatisfy { index, byte in
            [8, 13, 18, 23].contains(index)
                ? byte == UInt8(ascii: "-")
                : (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
        }
        return isSound ? String(decoding: bytes, as: UTF8.self).lowercased() : nil
    }
}

/// The lengths of videos, as an Immich server writes them.
enum ImmichDuration {
    /// Reads a number of milliseconds, or a text such as `0:01:02.500000` of a server before version 3.
    ///
    /// Returns 0 for other texts.
    static func milliseconds(_ bytes: UnsafeRawBufferPointer) -> Int {
        let text = String(decoding: bytes.prefix(longest), as: UTF8.self)
        if let number = Int(digits: text, atMost: maximum) { return number }
        let parts = text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "." }
        let numbers = parts.prefix(3).compactMap { Int(digits: $0, atMost: 999) }
        guard (3...4).contains(parts.count), numbers.count == 3 else { return 0 }
        // The numbers are at most 999, so nothing overflows.
        let thousandths = parts.count == 4 ? Int(digits: parts[3].prefix(3), atMost: 999) ?? 0 : 0
        return ((numbers[0] * 60 + numbers[1]) * 60 + numbers[2]) * 1_000 + thousandths
    }

    private static let longest = 24
    /// Ten days in milliseconds.
    private static let maximum = 864_000_000
}

/// The names of months, as an Immich server writes them.
enum ImmichMonth {
    /// Returns the month that contains a time, such as `2024-05`.
    static func name(of time: Timestamp) -> String { String(time.iso8601.prefix { $0 != "T" }.dropLast(3)) }

    /// Returns the month in a text such as `2024-05-01` or `2024-05-01T00:00:00.000Z`. Returns nil for other texts.
    static func name(_ bytes: some Collection<UInt8>) -> String? {
        let text = String(decoding: bytes.prefix(10), as: UTF8.self)
        guard Timestamp(iso8601: text + "T00:00:00Z") != nil else { return nil }
        return String(text.dropLast(3))
    }
}
