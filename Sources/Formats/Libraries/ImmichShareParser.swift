import Model

/// A page of the photos behind a shared link of an Immich server.
///
/// The first page is the link itself, which lists single photos or names an album. For an album, the next page is the
/// list of its months, and each month is a further page.
public enum ImmichSharePage: Equatable, Sendable {
    /// An album behind a shared link.
    public struct Album: Equatable, Sendable {
        /// The album's id.
        public let id: String
        /// Whether the server sends the original files.
        fileprivate let hasOriginals: Bool
    }

    /// The first page: the link itself.
    case link
    /// The list of an album's months.
    case months(Album)
    /// A month of an album, and the months that follow.
    case month(String, Album, others: [String])

    /// Creates a page from its name. Returns nil for an invalid name.
    public init?(name: String?) {
        guard let name else {
            self = .link
            return
        }
        let words = name.split(separator: " ").map(String.init)
        guard words.count >= 2, let id = ImmichID.text(words[0].utf8) else { return nil }
        let album = Album(id: id, hasOriginals: words[1] == Self.originals)
        let months = words.dropFirst(2)
        self = months.first.map { .month($0, album, others: Array(months.dropFirst())) } ?? .months(album)
    }

    private static let (originals, previews) = ("originals", "previews")

    /// Returns the name of an album's page.
    ///
    /// - Parameter months: the page's month and the following months; empty for the list of months.
    fileprivate static func name(of album: Album, _ months: [String] = []) -> String {
        ([album.id, album.hasOriginals ? originals : previews] + months).joined(separator: " ")
    }

    /// Creates a parser for the page.
    ///
    /// - Parameter server: the address of the server, with a slash at its end.
    public func makeParser(server: Address) -> any LibraryParser<LibraryPhoto> {
        switch self {
        case .link: ImmichLinkParser(server)
        case .months(let album): ImmichAlbumMonthsParser(album)
        case .month(_, let album, let others):
            ImmichAlbumMonthParser(
                ImmichPictures(server: server, hasOriginals: album.hasOriginals),
                nextPage: others.isEmpty ? nil : Self.name(of: album, others))
        }
    }
}

/// Parses a shared link of an Immich server.
///
///     {"type": "INDIVIDUAL", "assets": [{"id": "…", "originalFileName": "a.jpg", …}], "allowDownload": true, …}
///     {"type": "ALBUM", "album": {"id": "…", …}, "assets": [], …}
///
/// The parser returns all photos at the end of the answer, because the answer may state only there whether the server
/// sends the original files.
private final class ImmichLinkParser: LibraryParser {
    private var stream = JSONPushStream()
    private var reader = Reader()
    private let server: Address

    init(_ server: Address) { self.server = server }

    var mayLackPhotos: Bool { reader.album != nil }

    /// The name of the page with the album's months; nil if the link leads to single photos.
    var nextPage: String? {
        reader.album.map { ImmichSharePage.name(of: .init(id: $0, hasOriginals: reader.hasOriginals)) }
    }

    func parse(_ bytes: [UInt8]) throws -> [LibraryPhoto] {
        try stream.push(bytes, to: &reader)
        return []
    }

    func finish() throws -> [LibraryPhoto] {
        try stream.finish(to: &reader)
        guard reader.isLink else { throw FormatError.notAGallery("an answer without a shared link") }
        // The photos of an album are on the pages of its months.
        guard reader.album == nil else { return [] }
        let pictures = ImmichPictures(server: server, hasOriginals: reader.hasOriginals)
        return reader.assets.compactMap { $0.photo(pictures) }
    }

    private struct Reader: JSONConsumer {
        private enum Member { case album, assets, download }

        private(set) var assets: [ImmichAsset] = []
        /// The id of the link's album; nil if the link leads to single photos.
        private(set) var album: String?
        private(set) var hasOriginals = true
        /// Whether the answer has a list of photos, perhaps an empty one.
        private(set) var isLink = false
        private var asset = ImmichAsset()
        private var member: Member?
        private var isAlbumID = false

        /// The maximum number of photos of a link without an album.
        private static let maximumCount = 100_000

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginObject), (0, .endObject): break
            case (0, _): throw FormatError.notAGallery("an answer without a shared link")
            case (1, .key(let name)): member = Self.member(name)
            case (1, .bool(let value)) where member == .download: hasOriginals = value
            case (1, .beginArray) where member == .assets: isLink = true
            case (2, .beginObject) where member == .assets: asset.removeAll()
            case (2, .endObject) where member == .assets:
                guard assets.count < Self.maximumCount else {
                    throw FormatError.notAGallery("a link to too many photos")
                }
                assets.append(asset)
            case (3..., _) where member == .assets: asset.take(event, depth: depth - 3)
            case (2, .key(let name)) where member == .album: isAlbumID = name.isText("id")
            case (2, .string(let text)) where member == .album && isAlbumID: album = ImmichID.text(text)
            default: break
            }
        }

        private static func member(_ name: UnsafeRawBufferPointer) -> Member? {
            switch String(decoding: name.prefix(16), as: UTF8.self) {
            case "album": .album
            case "assets": .assets
            case "allowDownload": .download
            default: nil
            }
        }
    }
}

/// Parses an Immich server's list of a shared album's months. The list contains the months in which the album has
/// photos. Each month is a later page.
private final class ImmichAlbumMonthsParser: LibraryParser {
    private let parser = ImmichMonthListParser()
    private let album: ImmichSharePage.Album
    private var months: [String] = []

    /// The maximum number of months of an album. This is more than two centuries.
    private static let maximumCount = 3_000

    init(_ album: ImmichSharePage.Album) { self.album = album }

    var mayLackPhotos: Bool { true }

    var nextPage: String? { months.isEmpty ? nil : ImmichSharePage.name(of: album, months) }

    func parse(_ bytes: [UInt8]) throws -> [LibraryPhoto] { try take(try parser.parse(bytes)) }

    func finish() throws -> [LibraryPhoto] { try take(try parser.finish()) }

    private func take(_ parts: [LibraryPart]) throws -> [LibraryPhoto] {
        months += parts.map(\.name)
        guard months.count <= Self.maximumCount else { throw FormatError.notAGallery("an album with too many months") }
        return []
    }
}

/// Parses the photos of a month in a shared album. The list has an array for each property, so the parser returns all
/// photos at the end. The list contains no file names.
///
///     {"id": ["…", "…"], "isImage": [true, false], "fileCreatedAt": ["2024-05-06T12:00:00.000"], …}
private final class ImmichAlbumMonthParser: LibraryParser {
    private var stream = JSONPushStream()
    private var reader = Reader()
    private let pictures: ImmichPictures
    let nextPage: String?
    var mayLackPhotos: Bool { !reader.ids.isEmpty }

    /// The maximum number of photos and videos of a month.
    private static let maximumCount = 1_000_000

    init(_ pictures: ImmichPictures, nextPage: String?) {
        (self.pictures, self.nextPage) = (pictures, nextPage)
    }

    func parse(_ bytes: [UInt8]) throws -> [LibraryPhoto] {
        try stream.push(bytes, to: &reader)
        return []
    }

    func finish() throws -> [LibraryPhoto] {
        try stream.finish(to: &reader)
        let count = reader.ids.count
        guard reader.isList, reader.arePhotos.count == count else {
            throw FormatError.notAGallery("a month without ids")
        }
        return (0..<count).compactMap { index in
            let (id, isPhoto) = (reader.ids[index], reader.arePhotos[index])
            guard let photo = pictures.photo(id, isDecodable: isPhoto) else { return nil }
            let hash = reader.thumbhashes.count == count ? reader.thumbhashes[index] : ""
            let time = reader.time(at: index)
            return LibraryPhoto(
                id: id, name: time.map { Self.name($0) } ?? id, date: time.map { .cameraTime($0) }, revision: hash,
                thumbhash: hash, photo: photo, thumbnail: pictures.thumbnail(id),
                videoMilliseconds: isPhoto ? nil : reader.durations.count == count ? reader.durations[index] : 0)
        }
    }

    /// Returns a name for a photo, such as `2024-05-06 12.00.00`.
    private static func name(_ time: Timestamp) -> String {
        let text = time.iso8601
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8).replacing(":", with: "."))"
    }

    private struct Reader: JSONConsumer {
        private enum Column { case id, isPhoto, time, zone, thumbhash, duration }

        private(set) var ids: [String] = []
        private(set) var arePhotos: [Bool] = []
        private(set) var thumbhashes: [String] = []
        private(set) var durations: [Int] = []
        private(set) var isList = false
        private var times: [Timestamp?] = []
        /// The hours by which the camera's clock was ahead of UTC, for each photo.
        private var zones: [Double] = []
        private var column: Column?

        /// The maximum number of bytes of a ThumbHash. A longer value counts as missing.
        private static let longestThumbhash = 48
        /// The maximum difference between a time zone and UTC in hours.
        private static let widestZone = 15.0

        /// Returns the time on the camera's clock, as if it were UTC. Returns nil if the time is unknown.
        func time(at index: Int) -> Timestamp? {
            guard times.count == ids.count, zones.count == ids.count else { return nil }
            return times[index]?.advanced(by: zones[index] * 3_600)
        }

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginObject), (0, .endObject): break
            case (0, _): throw FormatError.notAGallery("a month without ids")
            case (1, .key(let key)): column = Self.column(key)
            case (1, .beginArray) where column == .id: isList = true
            case (2, _):
                guard
                    max(ids.count, arePhotos.count, times.count, zones.count, thumbhashes.count, durations.count)
                        <= ImmichAlbumMonthParser.maximumCount
                else { throw FormatError.notAGallery("a month with too many photos") }
                try take(event)
            default: break
            }
        }

        private static func column(_ key: UnsafeRawBufferPointer) -> Column? {
            switch String(decoding: key.prefix(32), as: UTF8.self) {
            case "id": .id
            case "isImage": .isPhoto
            case "fileCreatedAt": .time
            case "localOffsetHours": .zone
            case "thumbhash": .thumbhash
            case "duration": .duration
            default: nil
            }
        }

        /// Stores a value of the current column.
        private mutating func take(_ value: JSONEvent) throws {
            switch (column, value) {
            case (.id, .string(let text)):
                guard let id = ImmichID.text(text) else { throw FormatError.notAGallery("a month with an unknown id") }
                ids.append(id)
            case (.isPhoto, .bool(let value)): arePhotos.append(value)
            case (.time, .string(let text)): times.append(Self.time(text))
            case (.time, .null): times.append(nil)
            case (.zone, .number(let text)):
                let hours = Double(String(decoding: text.prefix(16), as: UTF8.self)) ?? 0
                zones.append(min(max(hours, -Self.widestZone), Self.widestZone))
            case (.thumbhash, .string(let text)):
                thumbhashes.append(
                    text.count <= Self.longestThumbhash ? String(decoding: text, as: UTF8.self) : "")
            case (.duration, .number(let text)), (.duration, .string(let text)):
                durations.append(ImmichDuration.milliseconds(text))
            case (.duration, .null): durations.append(0)
            case (.thumbhash, .null): thumbhashes.append("")
            default: break
            }
        }

        /// Parses a moment in UTC, which the server writes with or without a zone.
        private static func time(_ text: UnsafeRawBufferPointer) -> Timestamp? {
            let text = String(decoding: text.prefix(32), as: UTF8.self)
            return Timestamp(iso8601: text) ?? Timestamp(iso8601: text + "Z")
        }
    }
}
