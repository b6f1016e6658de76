import Glibc
import Model

/// The user's position in each gallery, the latest position first.
///
///     var places = Places(text: text)
///     places.record(place)
///     let text = places.text
///
/// Lines are parsed on demand, because the start of Vitrine needs only one line of hundreds.
public struct Places: Equatable, Sendable {
    /// The lines of the file, the latest position first.
    private var lines: [String] = []
    /// Whether the last run ended in a gallery, and not in the list of galleries.
    private var isOpen = false

    /// The maximum number of positions that the file keeps.
    static let most = 500
    /// The size of the largest file, in bytes.
    private static let largest = 512 << 10

    private static let header = "# Your position in each gallery, the latest first. Vitrine rewrites this file."
    /// The line that marks a run which ended in the list of galleries.
    private static let closed = "galleries"

    /// Creates an empty list of positions.
    public init() {}

    /// Reads the positions from the text of the file, and skips invalid lines.
    public init(text: String) {
        let lines = text.split(whereSeparator: \.isNewline)
        self.lines = lines.filter { $0.hasPrefix(Self.beginning) }.prefix(Self.most).map {
            Address.withoutCredentials(String($0))
        }
        isOpen = !self.lines.isEmpty && !lines.contains { $0 == Self.closed }
    }

    /// The text for the file.
    public var text: String {
        var text = Self.header + "\n" + (isOpen ? "" : Self.closed + "\n")
        for line in lines {
            guard text.utf8.count + line.utf8.count < Self.largest else { break }
            text += line + "\n"
        }
        return text
    }

    /// The position where the last run ended.
    public var last: Place { isOpen ? lines.first.map { Place(text: $0) } ?? Place() : Place() }

    /// The gallery that the user opened last, even if the user has left it since.
    public var lastGallery: Address? { lines.first.flatMap { Place(text: $0).gallery } }

    /// Returns the user's last position in a gallery, if any.
    public func place(in gallery: Address) -> Place? {
        guard let line = lines.first(where: { Self.isPlace($0, in: gallery) }) else { return nil }
        var place = Place(text: line)
        place.gallery = gallery
        return place
    }

    /// Records the current position. A place without a gallery stands for the list of galleries.
    public mutating func record(_ place: Place) {
        isOpen = place.gallery != nil
        guard let gallery = place.gallery else { return }
        lines.removeAll { Self.isPlace($0, in: gallery) }
        lines.insert(place.line, at: 0)
        if lines.count > Self.most { lines.removeLast() }
    }

    /// Returns whether the user has opened a gallery, or named it in a command. The commands are those for updates and
    /// exports.
    public func knows(_ gallery: Address) -> Bool { lines.contains { Self.isPlace($0, in: gallery) } }

    /// Records a gallery that the user has named for an update or an export. If the gallery already has a position, the
    /// call changes nothing.
    public mutating func note(_ gallery: Address) {
        guard !knows(gallery) else { return }
        // The first line stays the gallery that the user has opened last.
        lines.insert(Place(gallery: gallery).line, at: min(1, lines.count))
        if lines.count > Self.most { lines.removeLast() }
    }

    private static let beginning = "gallery="

    private static func isPlace(_ line: String, in gallery: Address) -> Bool {
        let beginning = Self.beginning + gallery.textWithoutSecrets
        return line.hasPrefix(beginning)
            && (line.utf8.count == beginning.utf8.count || line.hasPrefix(beginning + "\t"))
    }
}

/// A position in a gallery, with the gallery's layout, order and filter. Vitrine keeps the position between runs.
///
/// If the order or the sections are nil, the settings decide.
public struct Place: Equatable, Sendable {
    /// The ways to lay out the photos of a gallery.
    public enum View: String, CaseIterable, Sendable {
        /// A list with one photo in each row.
        case list
        /// A contact sheet with several photos in each line.
        case sheet
    }

    /// The open gallery; nil for the list of galleries. An address from the file may lack secrets: see
    /// ``Address/lacksSecrets``.
    public var gallery: Address?
    /// The gallery's own id of the selected photo.
    public var photo: String?
    /// Whether the user had opened the selected photo.
    public var isPhotoOpen = false
    /// Whether the open photo filled the screen instead of fitting it.
    public var fillsScreen = false
    /// The layout; nil for the initial layout.
    public var view: View?
    /// The order of the photos; nil for the order in the settings.
    public var order: PhotoOrder?
    /// The division into sections; nil for the sections in the settings.
    public var sections: SectionRule?
    /// The filter's text, if a filter was active.
    public var filter: String?
    /// The folder on the screen; nil for the photos of all folders.
    public var folder: FolderPath?
    /// The selected subfolder of ``folder``; nil if no subfolder is selected.
    public var subfolder: FolderPath?

    /// The length of the longest filter to keep.
    private static let longestFilter = 200

    /// Creates a position whose order and sections come from the settings.
    public init(gallery: Address? = nil, photo: String? = nil, isPhotoOpen: Bool = false) {
        self.gallery = gallery
        self.photo = photo
        self.isPhotoOpen = isPhotoOpen
    }

    /// Reads a position from ``line``, and ignores unknown parts. Older versions wrote each part on a line of its own.
    public init(text: some StringProtocol) {
        self.init()
        var order = PhotoOrder()
        for line in text.split(whereSeparator: { $0.isNewline || $0 == "\t" }) {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let value = String(line[line.index(after: equals)...])
            switch line[..<equals] {
            case "gallery": gallery = try? Address(value)
            // Ids come from the gallery and may contain newlines, so they are in hexadecimal.
            case "photo": photo = Self.unhex(value)
            case "open": isPhotoOpen = value == "photo"
            case "zoom": fillsScreen = value == "fill"
            case "view": view = View(rawValue: value)
            case "sort":
                guard let criterion = PhotoOrder.Criterion(rawValue: value) else { continue }
                order.criterion = criterion
                self.order = order
            case "reversed":
                order.ascending = value != "yes"
                if self.order != nil { self.order = order }
            case "sections": sections = SectionRule(rawValue: value)
            case "filter": filter = Self.unhex(value)
            // Paths end with a slash, so that the path of the gallery's own folder is not empty.
            case "folder": folder = Self.unhex(value).map { FolderPath(ofPhoto: $0) }
            case "subfolder": subfolder = Self.unhex(value).map { FolderPath(ofPhoto: $0) }
            default: break
            }
        }
    }

    /// The position as one line of text, without a newline.
    public var line: String {
        var parts: [String] = []
        if let gallery { parts.append("gallery=\(gallery.textWithoutSecrets)") }
        if let photo { parts.append("photo=\(Self.hex(photo))") }
        if isPhotoOpen { parts.append("open=photo") }
        if fillsScreen { parts.append("zoom=fill") }
        if let view { parts.append("view=\(view.rawValue)") }
        if let order {
            parts.append("sort=\(order.criterion.rawValue)")
            if !order.ascending { parts.append("reversed=yes") }
        }
        if let sections { parts.append("sections=\(sections.rawValue)") }
        if let filter, filter.count <= Self.longestFilter { parts.append("filter=\(Self.hex(filter))") }
        if let folder { parts.append("folder=\(Self.hex(folder.text + "/"))") }
        if let subfolder { parts.append("subfolder=\(Self.hex(subfolder.text + "/"))") }
        return parts.joined(separator: "\t")
    }

    private static func hex(_ text: String) -> String {
        text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func unhex(_ text: String) -> String? {
        let digits = Array(text.utf8)
        let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map(UInt8.init) }
        guard !digits.isEmpty, digits.count % 2 == 0, values.count == digits.count else { return nil }
        let bytes = stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns this position with the photo of another position, in the list of all photos. Returns this position
    /// unchanged if the other position has no photo.
    public func showing(photoOf target: Place?) -> Place {
        guard let target, target.photo != nil else { return self }
        var place = self
        (place.photo, place.isPhotoOpen, place.fillsScreen) = (target.photo, target.isPhotoOpen, target.fillsScreen)
        // A filter or another folder could hide the photo.
        (place.filter, place.folder, place.subfolder) = (nil, nil, nil)
        return place
    }
}

extension Place {
    /// Creates the position of an open photo from its file; nil for other addresses.
    ///
    /// The gallery is the file's folder. A link to a photo stands for the photo, because the gallery of a folder leaves
    /// out links.
    public init?(photoFile address: Address) throws(AddressError) {
        var status = stat()
        guard var path = address.filePath, lstat(path, &status) == 0 else { return nil }
        if status.st_mode & S_IFMT == S_IFLNK {
            guard let target = realpath(path, nil) else { return nil }
            defer { free(target) }
            path = String(cString: target)
            guard lstat(path, &status) == 0 else { return nil }
        }
        guard status.st_mode & S_IFMT == S_IFREG, let place = Place(photoPath: path) else { return nil }
        try place.gallery?.checkLength()
        self = place
    }

    /// Creates the position of an open photo from the path of its file; nil if the name is not a photo's.
    public init?(photoPath path: String) {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
        guard PictureName.isPictureOrVideo(name[...]) else { return nil }
        self.init(
            gallery: Address(filePath: path).folderAlone, photo: String(decoding: name, as: UTF8.self),
            isPhotoOpen: true)
    }
}

/// The file of positions in galleries, which all running Vitrine processes share.
public struct PlacesFile: Sendable {
    private let path: String
    /// The path of the file in which older versions kept a single position.
    private let olderPath: String

    /// Creates an object that reads and writes the file.
    public init(_ locations: Locations) {
        path = locations.placesFile
        olderPath = locations.placeFile
    }

    /// Reads the positions. An unreadable file counts as empty.
    public func read() -> Places {
        places(try? PrivateFile.read(path))
    }

    private func places(_ text: String?) -> Places {
        if let text { return Places(text: text) }
        var places = Places()
        if let text = try? PrivateFile.read(olderPath) { places.record(Place(text: text)) }
        return places
    }

    /// Records positions in order, and keeps the changes that other processes made meanwhile.
    public func record(_ new: [Place]) throws(SettingsError) {
        try PrivateFile.change(path) { text in
            var places = places(text)
            for place in new { places.record(place) }
            return places.text
        }
    }

    /// Records galleries that the user has named for an update or an export.
    public func note(_ galleries: [Address]) throws(SettingsError) {
        let known = read()
        guard !galleries.allSatisfy(known.knows) else { return }
        try PrivateFile.change(path) { text in
            var places = places(text)
            for gallery in galleries { places.note(gallery) }
            return places.text
        }
    }
}

/// The history of typed commands. Its file has a command on each line, the newest last.
public struct CommandHistory: Equatable, Sendable {
    /// The commands, oldest first, without repetitions.
    public private(set) var lines: [String] = []

    /// The maximum number of commands that the history keeps.
    private static let limit = 200
    /// The length of the longest command to keep. Longer lines were probably pasted, not typed.
    private static let longest = 1_000

    /// Reads the history from the text of its file.
    public init(text: String = "") {
        for line in text.lines { add(String(line)) }
    }

    /// The text for the file.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    /// Adds a command at the end of the history.
    ///
    /// The history ignores lines that may contain a secret. An address may have a password before an `@`, or a token in
    /// its query.
    public mutating func add(_ line: String) {
        let line = line.trimmed
        guard !line.isEmpty, line.utf8.count <= Self.longest, !line.contains("@"),
            !line.contains(where: \.isNewline), Address.withoutCredentials(line) == line
        else {
            return
        }
        lines.removeAll { $0 == line }
        lines.append(line)
        lines.removeFirst(max(0, lines.count - Self.limit))
    }
}
