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
