/// One photo in a gallery's list.
public struct GalleryEntry: Hashable, Sendable {
    /// The photo's id, which is unique within the gallery.
    public var id: String
    /// The photo's title.
    public var name: String
    /// The photo's date.
    public var date: Timestamp
    /// The source of the date, which tells what the date means.
    public var dateOrigin: DateOrigin
    /// The address of the photo's file.
    public var photo: Address
    /// The address of the photo's thumbnail; nil if the gallery has none.
    public var thumbnail: Address?
    /// A string that changes whenever the photo's bytes change: an `ETag`, or size and time. Empty if unknown.
    public var revision: String
    /// The part of a photo library, such as a month, that contains the photo. Empty in galleries of other kinds. See
    /// ``EntryBytes/Part/libraryPart``.
    public var libraryPart: String
    /// A blurred picture of the photo in a few bytes; empty if there is none. See ``EntryBytes/Part/thumbhash``.
    public var thumbhash: String
    /// The photo's annotations, such as its description and tags.
    public var annotations: PhotoAnnotations
    /// The length of the video in milliseconds, 0 if unknown; nil for a photo. The pictures of a video are
    /// stills that the server made.
    public var videoMilliseconds: Int?

    /// Creates an entry.
    public init(
        id: String, name: String, date: Timestamp, dateOrigin: DateOrigin = .stated, photo: Address,
        thumbnail: Address?, revision: String = "", libraryPart: String = "", thumbhash: String = "",
        annotations: PhotoAnnotations = PhotoAnnotations(), videoMilliseconds: Int? = nil
    ) {
        self.id = id
        self.name = name
        self.date = date
        self.dateOrigin = dateOrigin
        self.photo = photo
        self.thumbnail = thumbnail
        self.revision = revision
        self.libraryPart = libraryPart
        self.thumbhash = thumbhash
        self.annotations = annotations
        self.videoMilliseconds = videoMilliseconds
    }
}

/// The origin of a photo's date. The cache stores the raw value.
public enum DateOrigin: Int64, Hashable, Sendable {
    /// The gallery's list states the date.
    case stated = 0
    /// The date is the time of the file's last modification.
    case modified = 1
    /// According to the metadata, the photo was taken on this date. This date replaces the date of the file's last
    /// modification.
    case taken = 2
    /// The date is unknown and the stored number has no meaning. Any other date replaces it.
    case unknown = 3
}

/// One entry of a gallery's list, as UTF-8 texts in one reusable block of bytes.
///
///     entry.begin(date: date, digest: digest)
///     entry.append(id)
///     entry.end(.id)
///     …
///
/// A list may have a million entries. Creating strings for all entries would take most of the time.
public struct EntryBytes: Sendable {
    /// The texts of an entry, in the order in which the block stores them.
    public enum Part: Int, CaseIterable, Sendable {
        /// The photo's id, which is unique within the gallery.
        case id
        /// The photo's title.
        case name
        /// The address of the photo's file.
        case photo
        /// The address of the photo's thumbnail; empty if the gallery has none.
        case thumbnail
        /// A string that changes whenever the photo's bytes change, such as an `ETag`; empty if unknown.
        case revision
        /// The part of a photo library that contains the photo.
        ///
        /// A part is a month, for example. In galleries that are no photo library, this text is empty. If such a
        /// gallery states a photo's revision, the photo's id is a path.
        case libraryPart
        /// A blurred picture of the photo as a ThumbHash in Base64; empty if the gallery has none.
        case thumbhash
        /// The photo's annotations; see ``PhotoAnnotations/text``.
        case annotations
    }

    /// The bytes of all texts, one after the other.
    public private(set) var bytes: [UInt8] = []
    /// The photo's date.
    public private(set) var date = Timestamp(milliseconds: 0)
    /// The source of the date, which tells what the date means.
    public private(set) var dateOrigin = DateOrigin.stated
    /// The length of the video in milliseconds; nil for a photo.
    public private(set) var videoMilliseconds: Int?
    /// The digest of the entry's original form, if known; see ``WrittenEntries``.
    public private(set) var digest: Int64?
    /// The offset at which each text ends.
    private var ends = SIMD8<Int32>()

    /// Creates an empty block.
    public init() {}

    /// Creates a block with the texts of an entry.
    public init(_ entry: GalleryEntry, digest: Int64? = nil) {
        set(entry, digest: digest)
    }

    /// Removes all texts and starts the next entry.
    public mutating func begin(
        date: Timestamp, _ origin: DateOrigin = .stated, videoMilliseconds: Int? = nil, digest: Int64?
    ) {
        bytes.removeAll(keepingCapacity: true)
        ends = SIMD8()
        self.date = date
        dateOrigin = origin
        self.videoMilliseconds = videoMilliseconds
        self.digest = digest
    }

    /// Appends bytes to the current text.
    public mutating func append(_ more: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: more)
    }

    /// Appends bytes to the current text.
    public mutating func append(_ more: some Collection<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Ends the current text. Call this for every part, in order.
    public mutating func end(_ part: Part) {
        ends[part.rawValue] = Int32(bytes.count)
    }

    /// Replaces all texts with the texts of an entry.
    public mutating func set(_ entry: GalleryEntry, digest: Int64?) {
        begin(date: entry.date, entry.dateOrigin, videoMilliseconds: entry.videoMilliseconds, digest: digest)
        for part in Part.allCases {
            let text =
                switch part {
                case .id: entry.id
                case .name: entry.name
                case .photo: entry.photo.text
                case .thumbnail: entry.thumbnail?.text ?? ""
                case .revision: entry.revision
                case .libraryPart: entry.libraryPart
                case .thumbhash: entry.thumbhash
                case .annotations: entry.annotations.text
                }
            bytes.append(contentsOf: text.utf8)
            end(part)
        }
    }

    /// Returns the range of a text's bytes.
    public func range(of part: Part) -> Range<Int> {
        let start = part == .id ? 0 : Int(ends[part.rawValue - 1])
        return start..<max(start, Int(ends[part.rawValue]))
    }

    /// The bytes of a text.
    public subscript(part: Part) -> ArraySlice<UInt8> { bytes[range(of: part)] }

    /// Returns one of the texts as a string.
    public func text(_ part: Part) -> String { String(decoding: self[part], as: UTF8.self) }

    /// Whether the gallery has a thumbnail for the photo.
    public var hasThumbnail: Bool { !range(of: .thumbnail).isEmpty }
}

/// The entries of a gallery's list in their original form, parsed on demand.
///
/// Most entries of an update are unchanged. Comparing digests finds the unchanged entries in a fraction of the time
/// that parsing takes.
public protocol WrittenEntries {
    /// The number of entries.
    var count: Int { get }

    /// Returns a digest of everything that determines an entry's meaning.
    ///
    /// Equal digests mean equal, valid entries. Nil means that the entry must be parsed each time.
    func digest(at index: Int) -> Int64?

    /// Parses an entry. Returns false if the entry breaks a rule, and records the reason.
    mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool
}

/// A list of entries that have already been parsed.
extension Array: WrittenEntries where Element == GalleryEntry {
    /// Returns nil, because parsed entries have no digest.
    public func digest(at index: Int) -> Int64? { nil }

    /// Copies an entry and returns true.
    public mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool {
        entry.set(self[index], digest: nil)
        return true
    }
}
