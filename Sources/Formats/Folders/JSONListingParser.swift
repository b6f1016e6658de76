import Model

/// Parses the lists of folders that nginx, Caddy and copyparty write as JSON.
///
/// The parser recognises the server only by this structure:
///
///     [{"name": "a.jpg", "type": "file", "mtime": "Wed, 25 Nov 2026 21:00:00 GMT", "size": 123}]            nginx
///     [{"name": "a.jpg", "url": "./a.jpg", "mod_time": "2026-11-25T21:00:00Z", "is_dir": false, "size": 123}]   Caddy
///     {"dirs": [{"href": "sub/"}], "files": [{"href": "a.jpg", "sz": 123, "ts": 1764104400}]}           copyparty
///
/// Members may be in any order, and the parser skips unknown ones.
public final class JSONListingParser: ListingParser {
    // nginx copies file names that are not UTF-8 unchanged, so its list is then not valid JSON. The parser must accept
    // such a list.
    private var stream = JSONPushStream(keepsInvalidText: true)
    private var reader: JSONListingReader

    /// Creates a parser for the list of one folder.
    public init(_ folder: ListedFolder) {
        reader = JSONListingReader(folder)
    }

    /// Parses the next bytes. Returns the files and folders that are complete.
    public func parse(_ bytes: [UInt8]) throws -> ListingPiece {
        try stream.push(bytes, to: &reader)
        return reader.takePiece()
    }

    /// Parses the end of the document. Throws if the document is incomplete, or is no list of a folder.
    public func finish() throws -> ListingPiece {
        try stream.finish(to: &reader)
        guard reader.isList else { throw JSONListingReader.refusal }
        return reader.takePiece()
    }

    /// Returns whether an answer begins like a list that this parser reads.
    ///
    /// - Parameter beginning: at least 1 KB, or the whole answer.
    public static func recognises(_ beginning: [UInt8]) -> Bool {
        guard let root = try? Address("http://localhost/") else { return false }
        var stream = JSONPushStream(keepsInvalidText: true)
        var reader = JSONListingReader(ListedFolder(root))
        let isJSON = (try? stream.push(Array(beginning.prefix(recognisedLength)), to: &reader)) != nil
        return reader.isKnownList || (isJSON && reader.isPossibleList)
    }

    /// The maximum number of bytes that ``recognises(_:)`` examines.
    private static let recognisedLength = 4_096
}

/// Reads the events of a list's JSON.
private struct JSONListingReader: JSONConsumer {
    /// The error for documents that are no list of a folder.
    static let refusal = FormatError.notAGallery("a JSON file")

    private enum Section { case folders, files }

    private let folder: ListedFolder
    private var piece = ListingPiece()
    /// The depth of the objects that describe files and folders: 1 in an array, 2 in copyparty's object.
    private var entryDepth = 1
    /// The section of copyparty's object to which the last key belongs; nil for other keys.
    private var section: Section?
    private var isInSection = false
    /// Whether copyparty's list of folders and its list of files have arrived.
    private var (hasFolders, hasFiles) = (false, false)
    private var entry = JSONListingEntry()
    private var isInEntry = false
    private var isWhole = false
    /// Whether any entry had a known form, and whether any had an unknown form.
    private var (hasKnown, hasUnknown) = (false, false)

    init(_ folder: ListedFolder) {
        self.folder = folder
    }

    /// Returns the files and folders since the last call.
    mutating func takePiece() -> ListingPiece {
        defer { piece = ListingPiece() }
        return piece
    }

    /// Whether the whole document was a list, perhaps an empty one.
    var isList: Bool {
        entryDepth == 1 ? hasKnown || !hasUnknown : hasFolders || hasFiles
    }

    /// Whether the document's beginning can only be a list.
    var isKnownList: Bool {
        guard !hasUnknown else { return false }
        return hasKnown || (hasFolders && hasFiles) || (isWhole && isList)
    }

    /// Whether the document's beginning ends in an entry of known members.
    var isPossibleList: Bool {
        isInEntry && !hasUnknown && entry.isPossible
    }

    mutating func take(_ event: JSONEvent, depth: Int) throws {
        if isInEntry {
            if depth > entryDepth {
                if depth == entryDepth + 1 { entry.take(event) }
            } else {
                // An event at the entry's own depth is the entry's end.
                isInEntry = false
                addEntry()
            }
            return
        }
        switch (depth, event) {
        case (0, .beginArray): entryDepth = 1
        case (0, .beginObject): entryDepth = 2
        case (0, .endArray), (0, .endObject): isWhole = true
        case (0, _): throw Self.refusal
        case (1, .key(let name)):
            section = name.isText("dirs") ? .folders : name.isText("files") ? .files : nil
        case (1, .beginArray) where entryDepth == 2 && section != nil:
            isInSection = true
            if section == .folders { hasFolders = true } else { hasFiles = true }
        case (1, .endArray): isInSection = false
        case (entryDepth, .beginObject) where entryDepth == 1 || isInSection:
            isInEntry = true
            entry.removeAll()
        case (1, _) where entryDepth == 1: hasUnknown = true
        default: break
        }
    }

    private mutating func addEntry() {
        let isKnown =
            if let section, isInSection { addCopyparty(section) } else { addCaddy() || addNginx() }
        if isKnown { hasKnown = true } else { hasUnknown = true }
    }

    /// Adds an entry of Caddy's list. In names, Caddy replaces bytes that are not UTF-8, so this method reads the URL.
    private mutating func addCaddy() -> Bool {
        guard let isFolder = entry.isFolder else { return false }
        guard entry.reference.isSet else { return false }
        piece.caddyEntryCount += 1
        if let found = folder.name(of: entry.reference.text) {
            add(found.name, isFolder: isFolder || found.isFolder, date: ListingDate.moment(entry.date.text))
        }
        return true
    }

    private mutating func addNginx() -> Bool {
        guard let kind = entry.kind, entry.name.isSet, !entry.reference.isSet else { return false }
        let name = entry.name.bytes
        if kind != .other, ListedFolder.isSound(name) {
            add(name, isFolder: kind == .folder, date: ListingDate.moment(entry.date.text))
        }
        return true
    }

    /// Adds an entry of copyparty's list. A file's address may contain a key that reading the file requires.
    private mutating func addCopyparty(_ section: Section) -> Bool {
        guard entry.reference.isSet else { return false }
        let reference = entry.reference.bytes
        let mark = reference.firstIndex(of: UInt8(ascii: "?")) ?? reference.endIndex
        let path = String(decoding: reference[..<mark], as: UTF8.self)
        if section == .folders {
            if let found = folder.name(of: path) { add(found.name, isFolder: true, date: nil) }
            return true
        }
        let query = String(decoding: reference[mark...], as: UTF8.self)
        guard let thumbnail = try? folder.address.resolving(path + (query.isEmpty ? "?" : query + "&") + "th=j"),
            thumbnail.origin == folder.address.origin, let found = folder.name(of: thumbnail), !found.isFolder
        else { return true }
        let photo = query.isEmpty ? nil : try? folder.address.resolving(path + query)
        add(found.name, isFolder: false, date: entry.moment, thumbnail: thumbnail, photo: photo)
        return true
    }

    private mutating func add(
        _ name: [UInt8], isFolder: Bool, date: Timestamp?, thumbnail: Address? = nil, photo: Address? = nil
    ) {
        if isFolder {
            if ListedSubfolder.isWanted(name) { piece.folders.append(ListedSubfolder(name: name)) }
        } else if PictureName.isPictureOrVideo(name[...]) {
            piece.files.append(
                ListedFile(name: name, date: date, revision: entry.revision, thumbnail: thumbnail, photo: photo))
        }
    }
}

/// The members of the object that describes a file or folder.
private struct JSONListingEntry {
    /// A string or number of limited length. A longer value counts as empty.
    struct Field {
        private(set) var bytes: [UInt8] = []
        private(set) var isSet = false

        var text: String { String(decoding: bytes, as: UTF8.self) }

        mutating func set(_ value: UnsafeRawBufferPointer, atMost length: Int) {
            bytes.removeAll(keepingCapacity: true)
            if value.count <= length { bytes.append(contentsOf: value) }
            isSet = true
        }

        mutating func removeAll() {
            bytes.removeAll(keepingCapacity: true)
            isSet = false
        }
    }

    enum Kind { case file, folder, other }

    /// The members that the servers write.
    private enum Member {
        case name, reference, kind, size, date, seconds, isFolder
        /// A member that is known and not needed.
        case unneeded

        init?(_ name: UnsafeRawBufferPointer) {
            switch name.count {
            case 2 where name.isText("sz"): self = .size
            case 2 where name.isText("ts"): self = .seconds
            case 2 where name.isText("dt"): self = .unneeded
            case 3 where name.isText("url"): self = .reference
            case 3 where name.isText("ext"): self = .unneeded
            case 4 where name.isText("name"): self = .name
            case 4 where name.isText("href"): self = .reference
            case 4 where name.isText("type"): self = .kind
            case 4 where name.isText("size"): self = .size
            case 4 where name.isText("lead") || name.isText("mode") || name.isText("tags"): self = .unneeded
            case 5 where name.isText("mtime"): self = .date
            case 5 where name.isText("perms"): self = .unneeded
            case 6 where name.isText("is_dir"): self = .isFolder
            case 8 where name.isText("mod_time"): self = .date
            case 10 where name.isText("is_symlink"): self = .unneeded
            default: return nil
            }
        }
    }

    private(set) var name = Field()
    private(set) var reference = Field()
    private(set) var date = Field()
    private(set) var kind: Kind?
    private(set) var isFolder: Bool?
    private var size = Field()
    private var seconds = Field()
    private var member: Member?
    private var (hasKnown, hasUnknown) = (false, false)

    /// The maximum number of bytes of a name or reference.
    private static let longestName = 8_192
    /// The maximum number of bytes of a date.
    private static let longestDate = 64
    /// The years 0 to 9999, in seconds since 1970. In the other formats, dates have no other years.
    private static let years = -62_167_219_200.0...253_402_300_799

    /// Whether all members so far are members that the servers write.
    var isPossible: Bool { hasKnown && !hasUnknown }

    /// The size and the date, as written; empty if the list states neither value.
    var revision: String {
        let date = date.isSet ? date : seconds
        return size.isSet || date.isSet ? size.text + "-" + date.text : ""
    }

    /// The date of the stated number of seconds; nil outside the years 0 to 9999.
    var moment: Timestamp? {
        guard let seconds = Double(seconds.text), Self.years.contains(seconds) else { return nil }
        return Timestamp(milliseconds: 0).advanced(by: seconds)
    }

    mutating func removeAll() {
        name.removeAll()
        reference.removeAll()
        date.removeAll()
        size.removeAll()
        seconds.removeAll()
        (kind, isFolder, member, hasKnown, hasUnknown) = (nil, nil, nil, false, false)
    }

    /// Stores a member's value, or notes the member's name.
    mutating func take(_ event: JSONEvent) {
        switch (member, event) {
        case (_, .key(let name)):
            member = Member(name)
            if member == nil { hasUnknown = true } else { hasKnown = true }
        case (.name, .string(let text)): name.set(text, atMost: Self.longestName)
        case (.reference, .string(let text)): reference.set(text, atMost: Self.longestName)
        case (.date, .string(let text)): date.set(text, atMost: Self.longestDate)
        case (.size, .number(let text)): size.set(text, atMost: JSONPushStream.maximumNumber)
        case (.seconds, .number(let text)): seconds.set(text, atMost: JSONPushStream.maximumNumber)
        case (.isFolder, .bool(let value)): isFolder = value
        case (.kind, .string(let text)):
            kind =
                text.isText("file") ? .file : text.isText("directory") ? .folder : text.isText("other") ? .other : nil
        default: break
        }
    }
}
