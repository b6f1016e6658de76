import Model
import Numbers

/// Parses a page of the photos that a PhotoPrism server finds.
///
///     [{"UID": "…", "Type": "image", "Title": "…", "TakenAtLocal": "…", "Hash": "…", …}]
///
/// Files such as sounds and documents are left out. Members may be in any order, and the parser skips unknown ones.
public final class PhotoPrismPhotoParser: LibraryParser {
    private var answer = JSONAnswer(PhotoPrismReader())
    private let pictures: PhotoPrismPictures
    private let offset: Int
    private let pageSize: Int
    private let share: PhotoPrismSharePage?

    /// Creates a parser for one page.
    ///
    /// - Parameters:
    ///   - server: the address of the server, with a slash at its end.
    ///   - offset: the number of photos and videos on earlier pages.
    ///   - pageSize: the number of photos that the request asked for. If the page has fewer photos, it is the last
    ///     page.
    ///   - share: the page of the album behind a shared link; nil without a shared link.
    public init(server: Address, offset: Int, pageSize: Int, share: PhotoPrismSharePage? = nil) {
        pictures = PhotoPrismPictures(server: server)
        (self.offset, self.pageSize, self.share) = (offset, pageSize, share)
    }

    /// Parses the next bytes. Returns the photos that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPhoto] {
        try answer.parse(bytes).compactMap { $0.photo(pictures) }
    }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no page of photos.
    public func finish() throws -> [LibraryPhoto] {
        try answer.finish().compactMap { $0.photo(pictures) }
    }

    /// Whether the page may have only files that Vitrine does not show.
    public var mayLackPhotos: Bool { answer.reader.count > 0 }

    /// The name of the page that follows; nil after the last page.
    ///
    /// The name is the page's offset. For a shared link, the name also contains the session and the album.
    public var nextPage: String? {
        guard answer.reader.count >= pageSize else { return nil }
        let (next, isOverflow) = offset.addingReportingOverflow(answer.reader.count)
        if isOverflow { return nil }
        guard let share else { return String(next) }
        return PhotoPrismSharePage(session: share.session, album: share.album, offset: next).name
    }
}

/// Parses a PhotoPrism server's list of one month's photos, videos and other files.
///
/// The list has the same form as a page of photos.
public final class PhotoPrismMemberParser: LibraryParser {
    private var answer = JSONAnswer(PhotoPrismReader())

    /// Creates a parser for one answer.
    public init() {}

    /// Parses the next bytes. Returns the members that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryMember] { try members(answer.parse(bytes)) }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no list of photos and videos.
    public func finish() throws -> [LibraryMember] { try members(answer.finish()) }

    private func members(_ records: [PhotoPrismRecord]) throws -> [LibraryMember] {
        try records.map { record in
            // If a photo with an unknown id were left out, the update would remove the photo.
            guard let id = record.id else { throw FormatError.notAGallery("a month with an unknown id") }
            return LibraryMember(id: id, isShown: record.isShown)
        }
    }
}

/// The addresses of a PhotoPrism server's pictures.
///
/// A request for a picture must carry a token, which changes. So these addresses, which the cache stores, contain a
/// placeholder or nothing where the token belongs.
public struct PhotoPrismPictures: Sendable {
    private let server: Address

    /// The text in the place of a token.
    public static let placeholder = "-"

    /// Creates the addresses.
    ///
    /// - Parameter server: the address of the server, with a slash at its end.
    public init(server: Address) {
        self.server = server.asFolder
    }

    /// Returns the address of a photo's thumbnail, which has 720 pixels. Smaller thumbnails are cropped.
    func thumbnail(_ hash: String) -> Address? { picture(hash, "fit_720") }

    /// Returns the address of a photo: the original file, or a preview if Vitrine cannot decode the file.
    func photo(_ hash: String, isDecodable: Bool) -> Address? {
        isDecodable ? try? server.resolving("api/v1/dl/\(hash)") : picture(hash, "fit_1920")
    }

    private func picture(_ hash: String, _ size: String) -> Address? {
        try? server.resolving("api/v1/t/\(hash)/\(Self.placeholder)/\(size)")
    }
}

/// Reads the events of a list of photos and videos.
private struct PhotoPrismReader: ItemReader {
    var items: [PhotoPrismRecord] = []
    private var record = PhotoPrismRecord()
    /// The number of photos and videos so far.
    private(set) var count = 0

    mutating func take(_ event: JSONEvent, depth: Int) throws {
        switch (depth, event) {
        case (2, _): record.take(event)
        case (0, .beginArray), (0, .endArray): break
        case (0, _): throw FormatError.notAGallery("an answer without photos")
        case (1, .beginObject): record = PhotoPrismRecord()
        case (1, .endObject):
            count += 1
            items.append(record)
        case (1, _): throw FormatError.notAGallery("a list without photos")
        default: break
        }
    }
}

/// The members of the object that describes a photo or video.
private struct PhotoPrismRecord {
    private enum Member {
        case id, hash, type, title, originalName, fileName, year, month, localTime, takenAt, updatedAt
        case isFavorite, caption, place, duration

        init?(_ name: UnsafeRawBufferPointer) {
            switch name.count {
            case 3 where name.isText("UID"): self = .id
            case 4 where name.isText("Hash"): self = .hash
            case 4 where name.isText("Type"): self = .type
            case 4 where name.isText("Year"): self = .year
            case 5 where name.isText("Title"): self = .title
            case 5 where name.isText("Month"): self = .month
            case 7 where name.isText("TakenAt"): self = .takenAt
            case 7 where name.isText("Caption"): self = .caption
            case 8 where name.isText("Favorite"): self = .isFavorite
            case 8 where name.isText("Duration"): self = .duration
            case 10 where name.isText("PlaceLabel"): self = .place
            // Before 2025, the server called the caption `Description`.
            case 11 where name.isText("Description"): self = .caption
            case 8 where name.isText("FileName"): self = .fileName
            case 9 where name.isText("UpdatedAt"): self = .updatedAt
            case 12 where name.isText("OriginalName"): self = .originalName
            case 12 where name.isText("TakenAtLocal"): self = .localTime
            default: return nil
            }
        }
    }

    /// The maximum number of bytes of a name that are kept.
    private static let longestName = 1_024
    /// The maximum number of bytes of a caption that are kept.
    private static let longestCaption = 4_096
    private static let otherTypes: Set<String> = ["audio", "document", "other", "sidecar"]

    private(set) var id: String?
    private(set) var isShown = true
    private var isVideo = false
    private var duration = 0
    private var member: Member?
    private var hash: String?
    private var (title, originalName, fileName) = ("", "", "")
    private var (year, month): (Int?, Int?)
    private var annotations = PhotoAnnotations()
    private var (localTime, takenAt, updatedAt): (Timestamp?, Timestamp?, Timestamp?)

    /// Reads the name or the value of a member.
    mutating func take(_ event: JSONEvent) {
        switch (member, event) {
        case (_, .key(let name)): member = Member(name)
        case (.id, .string(let text)): id = PhotoPrismText.id(text)
        case (.hash, .string(let text)): hash = PhotoPrismText.id(text)
        case (.type, .string(let text)):
            let type = text.text(atMost: Self.longestName)
            (isShown, isVideo) = (!Self.otherTypes.contains(type), type == "video")
        case (.duration, .number(let text)): duration = PhotoPrismText.milliseconds(text)
        case (.title, .string(let text)): title = text.text(atMost: Self.longestName)
        case (.originalName, .string(let text)): originalName = text.text(atMost: Self.longestName)
        case (.fileName, .string(let text)): fileName = text.text(atMost: Self.longestName)
        case (.isFavorite, .bool(let value)): annotations.isFavorite = value
        case (.caption, .string(let text)) where !text.isEmpty:
            annotations.description = text.text(atMost: Self.longestCaption)
        // The server writes `zz` for an unknown place.
        case (.place, .string(let text)) where !text.isText("Unknown") && !text.isText("zz"):
            annotations.place = text.text(atMost: Self.longestName)
        case (.year, .number(let text)): year = PhotoPrismText.number(text, upTo: 9_999)
        case (.month, .number(let text)): month = PhotoPrismText.number(text, upTo: 12)
        case (.localTime, .string(let text)): localTime = PhotoPrismText.time(text)
        case (.takenAt, .string(let text)): takenAt = PhotoPrismText.time(text)
        case (.updatedAt, .string(let text)): updatedAt = PhotoPrismText.time(text)
        default: break
        }
    }

    /// Returns the photo or video. Returns nil for other media, and for an object without an id or without a file.
    func photo(_ pictures: PhotoPrismPictures) -> LibraryPhoto? {
        // For a video, Vitrine shows the still picture that the server makes.
        let isDecodable = !isVideo && (fileName.isEmpty || PictureName.isFinished(Array(fileName.utf8)[...]))
        guard isShown, let id, let hash, let photo = pictures.photo(hash, isDecodable: isDecodable) else { return nil }
        let names = [title, Self.lastPart(originalName), Self.lastPart(fileName), id]
        return LibraryPhoto(
            id: id, name: names.first { !$0.isEmpty } ?? id,
            date: localTime.map { .cameraTime($0) } ?? takenAt.map { .moment($0) },
            part: PhotoPrismText.month(year: year, month: month) ?? LibraryPhoto.noPart, revision: hash, photo: photo,
            thumbnail: pictures.thumbnail(hash), changedAt: updatedAt, annotations: annotations,
            videoMilliseconds: isVideo ? duration : nil)
    }

    private static func lastPart(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? ""
    }
}

/// The texts and numbers in a PhotoPrism server's answers.
enum PhotoPrismText {
    private static let longestID = 128
    /// Ten days in nanoseconds.
    private static let longestVideo = 864_000_000_000_000

    /// Returns an id or hash, which becomes part of addresses. Returns nil unless the text has only letters and digits.
    static func id(_ bytes: some Collection<UInt8>) -> String? {
        let isSound = bytes.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
        }
        return isSound && (1...longestID).contains(bytes.count) ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// Returns the id of an album. Returns nil for ids of other things.
    static func albumID(_ bytes: some Collection<UInt8>) -> String? {
        bytes.first == UInt8(ascii: "a") ? id(bytes) : nil
    }

    /// Returns the word that finds a label in searches. Returns nil for a text with characters that such words do not
    /// have.
    static func slug(_ bytes: some Collection<UInt8>) -> String? {
        id(bytes.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }).map { _ in
            String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Returns a number from 1 to a limit. Returns nil for other numbers; the server writes -1 for an unknown year.
    static func number(_ bytes: some Collection<UInt8>, upTo limit: Int) -> Int? {
        // Four digits cannot overflow.
        guard (1...4).contains(bytes.count), bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let number = bytes.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return (1...limit).contains(number) ? number : nil
    }

    /// Returns a number of nanoseconds in milliseconds. Returns 0 for an implausible number.
    static func milliseconds(_ bytes: some Collection<UInt8>) -> Int {
        (Int(digits: String(decoding: bytes.prefix(20), as: UTF8.self), atMost: longestVideo) ?? 0) / 1_000_000
    }

    /// Returns a time. Returns nil for an unknown time, which the server writes with the year 1.
    static func time(_ bytes: UnsafeRawBufferPointer) -> Timestamp? {
        bytes.prefix(5).elementsEqual("0001-".utf8) ? nil : Timestamp(iso8601: bytes)
    }

    /// Returns the name of a month, such as `2024-05`. Returns nil if the year or month is unknown.
    static func month(year: Int?, month: Int?) -> String? {
        guard let year, let month else { return nil }
        let (years, months) = (String(year), String(month))
        return String(repeating: "0", count: max(4 - years.count, 0)) + years + (months.count < 2 ? "-0" : "-") + months
    }
}

/// The settings of a PhotoPrism server that decide which photos its own pages show.
///
///     {"name": "PhotoPrism", "settings": {"features": {"review": true, …}, …}, …}
public struct PhotoPrismSettings: Sendable {
    /// Whether photos of low quality wait for a review. True if the server does not say.
    public let hasReview: Bool

    /// Parses an answer. Throws if the answer is incomplete, or is no object.
    public init(json: [UInt8]) throws {
        var stream = JSONPushStream()
        var reader = Reader()
        try stream.push(json, to: &reader)
        try stream.finish(to: &reader)
        hasReview = reader.hasReview
    }

    private struct Reader: JSONConsumer {
        private(set) var hasReview = true
        private var (isInSettings, isInFeatures, isReview) = (false, false, false)

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginObject), (0, .endObject): break
            case (0, _): throw FormatError.notAGallery("an answer without settings")
            case (1, .key(let name)): (isInSettings, isInFeatures) = (name.isText("settings"), false)
            case (2, .key(let name)): isInFeatures = isInSettings && name.isText("features")
            case (3, .key(let name)): isReview = isInFeatures && name.isText("review")
            case (3, .bool(let value)) where isReview: hasReview = value
            default: break
            }
        }
    }
}

/// Parses a PhotoPrism server's list of months. Each month has a count of photos and videos.
///
///     [{"Year": 2024, "Month": 5, "PhotoCount": 42}]
public final class PhotoPrismMonthListParser: LibraryParser {
    private var answer = JSONAnswer(Reader())

    /// Creates a parser for one answer.
    public init() {}

    /// Parses the next bytes. Returns the months that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPart] { try answer.parse(bytes) }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no list of months.
    public func finish() throws -> [LibraryPart] { try answer.finish() }

    private struct Reader: ItemReader {
        private enum Member { case year, month, count }

        var items: [LibraryPart] = []
        private var member: Member?
        private var (year, month): (Int?, Int?)
        private var count: String?

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginArray), (0, .endArray): break
            case (0, _): throw FormatError.notAGallery("an answer without months")
            case (1, .beginObject): (year, month, count, member) = (nil, nil, nil, nil)
            case (1, .endObject):
                guard let count else { throw FormatError.notAGallery("a month without a count") }
                // The server also counts photos without a date. They belong to no part.
                guard let name = PhotoPrismText.month(year: year, month: month) else { return }
                items.append(LibraryPart(name: name, count: count))
            case (1, _): throw FormatError.notAGallery("a list without months")
            case (2, .key(let key)):
                member =
                    key.isText("Year") ? .year : key.isText("Month") ? .month : key.isText("PhotoCount") ? .count : nil
            case (2, .number(let text)):
                switch member {
                case .year: year = PhotoPrismText.number(text, upTo: 9_999)
                case .month: month = PhotoPrismText.number(text, upTo: 12)
                case .count: count = String(decoding: text, as: UTF8.self)
                case nil: break
                }
            default: break
            }
        }
    }
}
