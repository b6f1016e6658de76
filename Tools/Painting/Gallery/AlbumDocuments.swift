/// The valid albums, by file name.
struct AlbumDocuments: Sendable {
    private let entries: [AlbumEntry]

    init(_ entries: [AlbumEntry]) {
        self.entries = entries
    }

    /// The files' names and contents.
    var files: [(name: String, text: String)] {
        [
            ("index.xml", index), ("index-big.xml", Self.album(bigEntries)), ("index-empty.xml", Self.empty),
            ("changes-A.xml", Self.album(changesBefore)), ("changes-B.xml", Self.album(changesAfter)),
        ]
    }

    /// An album with photos only.
    static func album(_ entries: [AlbumEntry]) -> String {
        declaration + "<album>\n" + entries.map(\.xml).joined() + "</album>\n"
    }

    static let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

    /// All photos, with some elements that a reader must ignore.
    private var index: String {
        var elements = entries.map(\.xml)
        elements.insert("  <!-- Comments may stand anywhere. -->\n", at: 3)
        elements.insert(
            """
              <note author="nobody"><image kind="image" srcURL="images/nowhere.jpg"/>Not a photo, so none of this counts.</note>

            """, at: 6)
        let strange = "    <image kind=\"hologram\" srcURL=\"holograms/none.holo\"/>\n  </photo>\n"
        elements[9] = elements[9].dropLast("  </photo>\n".count) + strange
        return Self.declaration + "<!-- The gallery that gallery-painter paints. -->\n<album>\n"
            + elements.joined()
            + "</album>\n"
    }

    private static let empty = declaration + "<album>\n  <!-- Nothing has been hung yet. -->\n</album>\n"

    /// A hundred and ten entries that share the gallery's files.
    var bigEntries: [AlbumEntry] {
        let remarks = [
            "again", "a second look", "the other side", "from memory", "once more", "à l’envers",
            "für später", "雪の朝",
            "in \"quotes\"", "<cropped> & straightened",
            "with a name that goes on and on, well past the width of any frame it could ever be hung in",
        ]
        return (0..<110).map { number in
            let source = entries[number * 11 % entries.count]
            let remark = remarks[number * 7 % remarks.count]
            func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
            let day = "\(2006 + number * 7 % 19)-\(two(1 + number * 5 % 12))-\(two(1 + number * 11 % 28))"
            let time = "\(two(number % 24)):\(two(number * 13 % 60)):\(two(number * 37 % 60))"
            return AlbumEntry(
                id: "\(source.id)-\(number)", name: "\(number + 1). \(source.name), \(remark)",
                date: "\(day)T\(time)Z",
                image: source.image, thumbnail: source.thumbnail)
        }
    }

    /// Ten photos, including the lighthouse, which has a second version.
    var changesBefore: [AlbumEntry] {
        let lighthouse = entries.filter { $0.id == Self.repainted }
        return entries.filter { $0.id != Self.repainted }.prefix(9) + lighthouse
    }

    /// The same album some time later.
    var changesAfter: [AlbumEntry] {
        var after = changesBefore
        let known = after.map(\.id)
        // Positions 1 and 4 lose their photos, and two new ones appear elsewhere.
        after.remove(at: 4)
        after.remove(at: 1)
        let newcomers = entries.filter { !known.contains($0.id) }.suffix(2)
        after.insert(contentsOf: newcomers, at: 3)
        after[0].name = "Three pears, one lying down"
        after[2].date = "2019-02-17T15:12:26Z"
        if let index = after.firstIndex(where: { $0.id == Self.repainted }) {
            after[index].name = "Last light, from the other side"
            after[index].image = "images/\(Self.repainted)-2.jpg"
            after[index].thumbnail = "thumbnails/\(Self.repainted)-2.jpg"
        }
        return after
    }

    /// The photo that has two versions.
    static let repainted = "lighthouse"
}

/// A `photo` element of an album.
struct AlbumEntry: Sendable, Equatable {
    var id: String
    var name: String
    var date: String
    var image: String
    var thumbnail: String?

    /// The element, indented as a child of the root.
    var xml: String {
        var lines = [
            #"  <photo name="\#(Self.escaped(name))" date="\#(date)" id="\#(Self.escaped(id))">"#,
            #"    <image kind="image" srcURL="\#(Self.escaped(image))"/>"#,
        ]
        if let thumbnail {
            lines.append(#"    <image kind="thumbnail" srcURL="\#(Self.escaped(thumbnail))"/>"#)
        }
        return (lines + ["  </photo>", ""]).joined(separator: "\n")
    }

    /// Escapes the characters that have a meaning in an attribute.
    private static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            default: String(character)
            }
        }.joined()
    }
}
