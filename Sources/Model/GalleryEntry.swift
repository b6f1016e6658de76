/// One photo as a gallery's list describes it.
public struct GalleryEntry: Hashable, Sendable {
    /// Unique within its gallery, chosen by whoever made it.
    public var id: String
    /// The photo's title.
    public var name: String
    /// When the photo was last modified.
    public var date: Timestamp
    /// Where the photo lies.
    public var photo: Address
    /// Where its thumbnail lies, if the gallery has one.
    public var thumbnail: Address?

    /// Describes a photo.
    public init(id: String, name: String, date: Timestamp, photo: Address, thumbnail: Address?) {
        self.id = id
        self.name = name
        self.date = date
        self.photo = photo
        self.thumbnail = thumbnail
    }
}

/// One photo of a gallery's list in the form in which it is kept and compared: its texts as UTF-8, end to end in one block
/// of bytes that serves one entry after the other.
///
///     entry.begin(date: date, digest: digest)
///     entry.append(id)
///     entry.end(.id)
///     …
///
/// A list may have a million entries, and whoever makes texts of all of them does little else.
public struct EntryBytes: Sendable {
    /// The texts of an entry, in the order in which they lie in the block.
    public enum Part: Int, CaseIterable, Sendable {
        /// The id, unique within its gallery.
        case id
        /// The photo's title.
        case name
        /// Where the photo lies.
        case photo
        /// Where its thumbnail lies; without a byte where the gallery has none.
        case thumbnail
    }

    /// All texts.
    public private(set) var bytes: [UInt8] = []
    /// When the photo was last modified.
    public private(set) var date = Timestamp(milliseconds: 0)
    /// Of the entry as it was written: see ``WrittenEntries``.
    public private(set) var digest: Int64?
    /// Where each text ends.
    private var ends = SIMD4<Int32>()

    /// Makes an empty block.
    public init() {}

    /// Takes an entry apart.
    public init(_ entry: GalleryEntry, digest: Int64? = nil) {
        set(entry, digest: digest)
    }

    /// Begins another entry.
    public mutating func begin(date: Timestamp, digest: Int64?) {
        bytes.removeAll(keepingCapacity: true)
        ends = SIMD4()
        self.date = date
        self.digest = digest
    }

    /// Adds to the text that is being written.
    public mutating func append(_ more: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: more)
    }

    mutating func append(_ more: [UInt8]) {
        bytes.append(contentsOf: more)
    }

    /// Ends a text. All of them are ended, in their order.
    public mutating func end(_ part: Part) {
        ends[part.rawValue] = Int32(bytes.count)
    }

    /// Becomes what an entry says.
    public mutating func set(_ entry: GalleryEntry, digest: Int64?) {
        begin(date: entry.date, digest: digest)
        for part in Part.allCases {
            let text =
                switch part {
                case .id: entry.id
                case .name: entry.name
                case .photo: entry.photo.text
                case .thumbnail: entry.thumbnail?.text ?? ""
                }
            bytes.append(contentsOf: text.utf8)
            end(part)
        }
    }

    /// Where a text lies in the block.
    public func range(of part: Part) -> Range<Int> {
        let start = part == .id ? 0 : Int(ends[part.rawValue - 1])
        return start..<max(start, Int(ends[part.rawValue]))
    }

    /// A text's bytes.
    public subscript(part: Part) -> ArraySlice<UInt8> { bytes[range(of: part)] }

    /// A text.
    public func text(_ part: Part) -> String { String(decoding: self[part], as: UTF8.self) }

    /// Whether the gallery has a thumbnail of its own.
    public var hasThumbnail: Bool { !range(of: .thumbnail).isEmpty }
}

/// Entries of a gallery's list as they were written, which can be told from others without being taken apart.
///
/// Most lists that come have come before, and most of their entries mean what they meant then. A digest says so at a
/// fraction of what it takes to find out what they mean.
public protocol WrittenEntries {
    /// How many there are.
    var count: Int { get }

    /// A digest of everything that decides what an entry means. Two that agree mean the same, and break no rule.
    ///
    /// Nil where there is none: what the entry means is then found out each time.
    func digest(at index: Int) -> Int64?

    /// Finds out what an entry means. Returns false, and notes why, if it breaks a rule and is left out.
    mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool
}

/// Entries that have been taken apart.
extension Array: WrittenEntries where Element == GalleryEntry {
    /// None.
    public func digest(at index: Int) -> Int64? { nil }

    /// Takes it over.
    public mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool {
        entry.set(self[index], digest: nil)
        return true
    }
}
