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

    /// How many galleries there are.
    public var count: Int { lines.count }

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
