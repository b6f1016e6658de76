/// The annotations of a photo in the gallery's list: description, rating, favorite, author, place, people and tags.
///
///     var annotations = PhotoAnnotations()
///     annotations.rating = 4
///     annotations.tags = ["lake", "summer"]
///
/// The texts may contain control characters, so make them harmless before a screen shows them.
public struct PhotoAnnotations: Hashable, Sendable {
    /// The number of stars, 0 to 5; 0 if unrated.
    public var rating = 0
    /// Whether the photo is a favorite.
    public var isFavorite = false
    /// The description of the photo; empty if there is none.
    public var description = ""
    /// The name of the photographer; empty if unknown.
    public var author = ""
    /// The name of the place; empty if unknown.
    public var place = ""
    /// The names of the people in the photo.
    public var people: [String] = []
    /// The tags of the photo.
    public var tags: [String] = []

    /// Creates empty annotations.
    public init() {}

    /// Whether the photo has no annotations.
    public var isEmpty: Bool { self == PhotoAnnotations() }
}

extension PhotoAnnotations {
    /// The character at the start of a line, which tells the line's kind. No such sign is a letter or digit, so the
    /// search index ignores it.
    private enum Sign: UInt8 {
        case description = 0x7C  // |
        case author = 0x7E  // ~
        case place = 0x3E  // >
        case person = 0x40  // @
        case tag = 0x23  // #
    }

    private static let (star, favoriteSign) = ("*", "+")
    /// The maximum number of bytes of a description, and of each other text.
    private static let (longestDescription, longestText) = (4_096, 256)
    /// The maximum number of tags, and also of people, of a photo.
    private static let mostNames = 64

    /// The text that the cache stores and searches; empty without annotations.
    ///
    /// The first line has the stars, and a plus for a favorite. A line for each text follows:
    ///
    ///     ****+
    ///     >Potsdam, Germany
    ///     @Anna
    ///     #lake
    ///     |The ferry
    ///     |at noon
    public var text: String {
        guard !isEmpty else { return "" }
        var text = String(repeating: Self.star, count: min(max(rating, 0), Rating.mostStars))
        if isFavorite { text += Self.favoriteSign }
        func add(_ sign: Sign, _ line: some StringProtocol, _ limit: Int) {
            guard !line.isEmpty else { return }
            text += "\n\(UnicodeScalar(sign.rawValue))\(String(line).cut(toBytes: limit))"
        }
        func addLine(_ sign: Sign, _ name: String) {
            add(sign, name.split(whereSeparator: \.isWhitespace).joined(separator: " "), Self.longestText)
        }
        addLine(.author, author)
        addLine(.place, place)
        for name in people.prefix(Self.mostNames) { addLine(.person, name) }
        for name in tags.prefix(Self.mostNames) { addLine(.tag, name) }
        for line in description.cut(toBytes: Self.longestDescription).split(whereSeparator: \.isNewline) {
            add(.description, line, Self.longestDescription)
        }
        return text
    }

    /// Reads annotations from the text that the cache stores. Ignores unknown lines.
    public init(text: String) {
        // Split bytes, not characters: an accent at the beginning of a text would form one character with the sign.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let marks = lines.first else { return }
        rating = min(marks.prefix { $0 == Self.star.utf8.first }.count, Rating.mostStars)
        isFavorite = marks.last == Self.favoriteSign.utf8.first
        for line in lines.dropFirst() {
            let text = String(decoding: line.dropFirst(), as: UTF8.self)
            switch line.first.flatMap(Sign.init) {
            case .description: description += description.isEmpty ? text : "\n" + text
            case .author: author = text
            case .place: place = text
            case .person: people.append(text)
            case .tag: tags.append(text)
            case nil: break
            }
        }
    }
}

extension String {
    /// Returns the longest prefix of whole characters within a limit of bytes.
    ///
    /// If even the first character does not fit, returns as many of its scalars as fit: a character may have any number
    /// of accents.
    public func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        let characters = prefix(of: self, limit) { $0.utf8.count }
        return characters.isEmpty ? String(prefix(of: unicodeScalars, limit) { UTF8.width($0) }) : String(characters)
    }

    private func prefix<Parts: Collection>(
        of parts: Parts, _ limit: Int, size: (Parts.Element) -> Int
    ) -> Parts.SubSequence {
        var rest = limit
        return parts.prefix { part in
            rest -= size(part)
            return rest >= 0
        }
    }
}
