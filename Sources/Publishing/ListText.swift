import Model

/// A gallery's list as it is written: the beginning, a photo, the end.
enum ListText {
    /// What every list of ours begins with, in this edition and in all that follow.
    static let mark = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Made by vitrine publish"
    static let beginning = mark + ", which writes it anew when photos have changed. -->\n<album>\n"
    static let end = "</album>\n"
    /// The folder of thumbnails, beside the list.
    static let thumbnails = "thumbnails"

    static func text(of photo: PublishedPhoto, at reference: String) -> String {
        """
          <photo name="\(escaped(photo.name))" date="\(photo.date.iso8601)" id="\(reference)">
            <image kind="image" srcURL="\(reference)"/>
            <image kind="thumbnail" srcURL="\(thumbnails)/\(photo.thumbnail.text)"/>
          </photo>

        """
    }

    /// Text as an attribute's value.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
