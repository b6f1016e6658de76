import Model

/// Where the user was in each gallery, the latest first.
///
///     var places = Places(text: text)
///     places.note(place)
///     let text = places.text
///
/// Of hundreds of places one is wanted, and at once: a line is read when somebody asks for its gallery.
public struct Places: Equatable, Sendable {
    /// A place each, the latest first.
    private var lines: [String] = []
    /// Whether the first of them was open at the end, and not the list of galleries.
    private var isOpen = false

    /// Older ones are forgotten.
    static let most = 500
    /// So is what would make a file that is too large to be read again.
    private static let largest = 512 << 10

    private static let header = "# Where you were in each gallery, the last one first. Vitrine rewrites this file."
    /// Stands in the file where the list of galleries was looked at last.
    private static let closed = "galleries"

    /// Nowhere yet.
    public init() {}

    /// Reads a file's text; lines that are none are passed over.
    public init(text: String) {
        let lines = text.split(whereSeparator: \.isNewline)
        self.lines = lines.filter { $0.hasPrefix(Self.beginning) }.prefix(Self.most).map {
            Address.withoutCredentials(String($0))
        }
        isOpen = !self.lines.isEmpty && !lines.contains { $0 == Self.closed }
    }

    /// The file's text.
    public var text: String {
        var text = Self.header + "\n" + (isOpen ? "" : Self.closed + "\n")
        for line in lines {
            guard text.utf8.count + line.utf8.count < Self.largest else { break }
            text += line + "\n"
        }
        return text
    }

    /// Where the program begins: where it ended.
    public var last: Place { isOpen ? lines.first.map { Place(text: $0) } ?? Place() : Place() }

    /// The gallery that was open last, though it may have been left for the list of galleries.
    public var lastGallery: Address? { lines.first.flatMap { Place(text: $0).gallery } }

    /// Where the user was in a gallery, if he ever was.
    public func place(in gallery: Address) -> Place? {
        guard let line = lines.first(where: { Self.isPlace($0, in: gallery) }) else { return nil }
        var place = Place(text: line)
        place.gallery = gallery
        return place
    }

    /// The user is there now; at a place without a gallery, in the list of them.
    public mutating func note(_ place: Place) {
        isOpen = place.gallery != nil
        guard let gallery = place.gallery else { return }
        lines.removeAll { Self.isPlace($0, in: gallery) }
        lines.insert(place.line, at: 0)
        if lines.count > Self.most { lines.removeLast() }
    }

    private static let beginning = "gallery="

    private static func isPlace(_ line: String, in gallery: Address) -> Bool {
        let beginning = Self.beginning + gallery.textWithoutSecrets
        return line.hasPrefix(beginning)
            && (line.utf8.count == beginning.utf8.count || line.hasPrefix(beginning + "\t"))
    }
}

/// Where the user was in a gallery, and how he looked at it: kept between runs. What is nil is as the settings have it.
public struct Place: Equatable, Sendable {
    /// How photos are laid out.
    public enum View: String, CaseIterable, Sendable {
        /// One below the other, each with what is said of it.
        case list
        /// Side by side.
        case sheet
    }

    /// The gallery that was open. Read from a file it lacks the secrets of its address: see ``Address/lacksSecrets``.
    public var gallery: Address?
    /// The photo that was selected in it, by the gallery's own id.
    public var photo: String?
    /// Whether the photo itself was being looked at.
    public var isPhotoOpen = false
    /// Whether it filled the screen, and was not shown whole.
    public var fillsScreen = false
    /// How the photos were laid out.
    public var view: View?
    /// What they were sorted by.
    public var order: PhotoOrder?
    /// How they were divided.
    public var sections: SectionRule?
    /// What was searched for, if nothing else was shown.
    public var filter: String?

    /// Nobody types more than this to find a photo.
    private static let longestFilter = 200

    /// Nowhere yet.
    public init(gallery: Address? = nil, photo: String? = nil, isPhotoOpen: Bool = false) {
        self.gallery = gallery
        self.photo = photo
        self.isPhotoOpen = isPhotoOpen
    }

    /// Reads a file's text, or a line of one; what cannot be read is nowhere.
    public init(text: some StringProtocol) {
        self.init()
        var order = PhotoOrder()
        for line in text.split(whereSeparator: { $0.isNewline || $0 == "\t" }) {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let value = String(line[line.index(after: equals)...])
            switch line[..<equals] {
            case "gallery": gallery = try? Address(value)
            // An id is a stranger's text and may hold a line's end: it was written on one line, in hexadecimal.
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
            default: break
            }
        }
    }

    /// The file's text.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    /// The same in one line, without its end.
    public var line: String { lines.joined(separator: "\t") }

    private var lines: [String] {
        var lines: [String] = []
        if let gallery { lines.append("gallery=\(gallery.textWithoutSecrets)") }
        if let photo { lines.append("photo=\(Self.hex(photo))") }
        if isPhotoOpen { lines.append("open=photo") }
        if fillsScreen { lines.append("zoom=fill") }
        if let view { lines.append("view=\(view.rawValue)") }
        if let order {
            lines.append("sort=\(order.criterion.rawValue)")
            if !order.ascending { lines.append("reversed=yes") }
        }
        if let sections { lines.append("sections=\(sections.rawValue)") }
        if let filter, filter.count <= Self.longestFilter { lines.append("filter=\(Self.hex(filter))") }
        return lines
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
}

/// The file of places, which several programs may write.
public struct PlacesFile: Sendable {
    private let path: String
    /// Where older versions kept the one place that they knew.
    private let olderPath: String

    /// The usual one.
    public init(_ locations: Locations) {
        path = locations.placesFile
        olderPath = locations.placeFile
    }

    /// What is in it. A place is a convenience: where it cannot be read there is none.
    public func read() -> Places {
        places((try? PrivateFile.read(path)) ?? nil)
    }

    private func places(_ text: String?) -> Places {
        if let text { return Places(text: text) }
        var places = Places()
        if let text = try? PrivateFile.read(olderPath) { places.note(Place(text: text)) }
        return places
    }

    /// Notes places, one after the other. What others have written meanwhile stays.
    public func note(_ noted: [Place]) throws(SettingsError) {
        try PrivateFile.change(path) { text in
            var places = places(text)
            for place in noted { places.note(place) }
            return places.text
        }
    }
}
