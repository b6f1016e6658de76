import Model

/// A photo in the list of a photo library.
public struct LibraryPhoto: Equatable, Sendable {
    /// The date of a photo.
    public enum Date: Hashable, Sendable {
        /// The moment when the photo was published.
        case published(Timestamp)
        /// The moment when the photo was taken, as the server states it.
        case moment(Timestamp)
        /// The time on the camera's clock, which has no zone. The value is this time as if it were UTC.
        case cameraTime(Timestamp)
    }

    /// The server's id of the photo, which never changes.
    public var id: String
    /// The photo's title, or the name of its file.
    public var name: String
    /// The date; nil if unknown.
    public var date: Date?
    /// The photo's part of the library, such as a month; ``noPart`` if there is none.
    public var part: String
    /// A string that changes whenever the photo’s bytes change.
    public var revision: String
    /// A blurred picture of the photo as a ThumbHash in Base64; empty if the server makes none.
    public var thumbhash: String
    /// The address of the photo's file.
    public var photo: Address
    /// The address of a small picture; nil if the server makes none.
    public var thumbnail: Address?
    /// The time when the server's record of the photo last changed; nil if unknown.
    public var changedAt: Timestamp?
    /// The photo's annotations, such as its description and tags.
    public var annotations: PhotoAnnotations
    /// The length of the video in milliseconds, 0 if unknown; nil for a photo. The addresses of a video lead to still
    /// pictures.
    public var videoMilliseconds: Int?

    /// The value of ``part`` for a photo that is in no part.
    public static let noPart = "-"

    /// Creates a photo.
    public init(
        id: String, name: String, date: Date?, part: String = LibraryPhoto.noPart, revision: String,
        thumbhash: String = "", photo: Address, thumbnail: Address?, changedAt: Timestamp? = nil,
        annotations: PhotoAnnotations = PhotoAnnotations(), videoMilliseconds: Int? = nil
    ) {
        self.id = id
        self.name = name
        self.date = date
        self.part = part
        self.revision = revision
        self.thumbhash = thumbhash
        self.photo = photo
        self.thumbnail = thumbnail
        self.changedAt = changedAt
        self.annotations = annotations
        self.videoMilliseconds = videoMilliseconds
    }
}

/// A part of a library, with its count. Parts are, for example, months or albums.
public struct LibraryPart: Hashable, Sendable {
    /// The server's name for the part.
    public var name: String
    /// The number of photos and videos, as the server wrote it. The text may contain further facts that change with the
    /// photos, such as a date.
    public var count: String

    /// Creates a part.
    public init(name: String, count: String) {
        (self.name, self.count) = (name, count)
    }
}

/// A photo or another file in a list of ids.
public struct LibraryMember: Hashable, Sendable {
    /// The server's id.
    public var id: String
    /// Whether the file is a photo or video, so that Vitrine shows it.
    public var isShown: Bool

    /// Creates a member.
    public init(id: String, isShown: Bool = true) {
        (self.id, self.isShown) = (id, isShown)
    }
}

/// Parses an answer of a photo library while it arrives.
///
///     let parser = library.makePhotoParser(forPage: nil)
///     for try await bytes in body { take(try parser.parse(bytes)) }
///     take(try parser.finish())
///     if let page = parser.nextPage { … }
///
/// Answers are untrusted. A parser limits depths and lengths, and its memory use does not grow with the answer, except
/// where its description says so.
public protocol LibraryParser<Item>: AnyObject {
    /// The type of the items in the answer, such as photos.
    associatedtype Item: Sendable

    /// Parses the next bytes. Returns the items that are complete.
    func parse(_ bytes: [UInt8]) throws -> [Item]
    /// Parses the end of the document. Throws if the answer is incomplete.
    func finish() throws -> [Item]
    /// The server's name for the page that follows; nil after the last page. Valid after `finish()`.
    var nextPage: String? { get }
    /// Whether this page may lack photos although other pages follow.
    var mayLackPhotos: Bool { get }
    /// The name of the gallery, if the answer states one; otherwise nil. Valid after `finish()`.
    var galleryName: String? { get }
}

extension LibraryParser {
    /// By default, an answer has only one page.
    public var nextPage: String? { nil }
    /// By default, a page without photos must be the last page.
    public var mayLackPhotos: Bool { false }
    /// By default, answers state no name.
    public var galleryName: String? { nil }
}
