/// Albums with mistakes, by file name.
///
/// A comment beside each mistake names the rule it breaks; all else in these files is valid.
struct BrokenDocuments: Sendable {
    private let entries: [AlbumEntry]

    init(_ entries: [AlbumEntry]) {
        self.entries = entries
    }

    /// The files' names and contents.
    var files: [(name: String, text: String)] {
        [
            ("broken-attributes.xml", attributes), ("broken-images.xml", images),
            ("broken-xml.xml", illFormed),
            ("html.xml", Self.html), ("text.xml", Self.text), ("empty.xml", ""),
        ]
    }

    /// Returns a photo element with any attributes, for the gallery's picture of that number.
    private func photo(_ attributes: String, showing number: Int) -> String {
        """
          <photo \(attributes)>
            <image kind="image" srcURL="\(entries[number].image)"/>
            <image kind="thumbnail" srcURL="\(entries[number].thumbnail ?? "")"/>
          </photo>

        """
    }

    private var attributes: String {
        let faults: [(rule: String, attributes: String)] = [
            ("Bad: no id.", #"name="No id" date="2011-01-01T10:00:00Z""#),
            ("Bad: the id is empty.", #"id="" name="Empty id" date="2011-01-02T10:00:00Z""#),
            ("Bad: no name.", #"id="no-name" date="2011-01-03T10:00:00Z""#),
            ("Bad: the name is empty.", #"id="empty-name" name="" date="2011-01-04T10:00:00Z""#),
            ("Bad: no date.", #"id="no-date" name="No date""#),
            (
                "Bad: the date is not in the form asked for.",
                #"id="prose-date" name="Prose date" date="6 January 2011""#
            ),
            ("Bad: the date is only a day.", #"id="day-only" name="Day only" date="2011-01-07""#),
            ("Bad: the date is empty.", #"id="empty-date" name="Empty date" date="""#),
            (
                "Bad: something follows the date.",
                #"id="trailing-date" name="Trailing date" date="2011-01-08T10:00:00Z and a bit""#
            ),
            ("Bad: there is no month 13.", #"id="month-13" name="Month 13" date="2011-13-09T10:00:00Z""#),
            (
                "Bad: February never has 30 days.",
                #"id="february-30" name="February 30" date="2011-02-30T10:00:00Z""#
            ),
            ("Bad: no time zone.", #"id="no-zone" name="No zone" date="2011-01-10T10:00:00""#),
        ]
        let twin = #"id="\#(entries[0].id)" name="The second of that id" date="2011-01-11T10:00:00Z""#
        let inner = entries[3].xml.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
        return AlbumDocuments.declaration + "<album>\n" + entries[0].xml
            + faults.enumerated().map { index, fault in
                "  <!-- \(fault.rule) -->\n" + photo(fault.attributes, showing: index)
            }.joined() + entries[1].xml + "  <!-- Bad: this id has been used above; the first one wins. -->\n"
            + photo(twin, showing: 5) + """
                  <!-- Bad: a photo that holds another photo. The inner one is good. -->
                  <photo id="outer" name="Outer" date="2011-01-12T10:00:00Z">
                    <image kind="image" srcURL="\(entries[2].image)"/>
                \(inner)
                  </photo>

                """ + "  <!-- Good: fractions of a second. -->\n"
            + photo(#"id="fraction" name="Fraction of a second" date="2013-05-06T07:08:09.250Z""#, showing: 6)
            + "  <!-- Good: two hours ahead of Greenwich. -->\n"
            + photo(#"id="offset" name="Two hours ahead" date="2013-05-06T10:00:00+02:00""#, showing: 7)
            + entries[4].xml + "</album>\n"
    }

    /// Returns a valid photo element with any image elements.
    private func photo(_ rule: String, _ id: String, _ images: [(kind: String, path: String)]) -> String {
        let day = 10 + id.utf8.count
        let lines = images.map { "    <image kind=\"\($0.kind)\" srcURL=\"\($0.path)\"/>\n" }.joined()
        return """
              <!-- \(rule) -->
              <photo id="\(id)" name="\(id)" date="2014-03-\(day)T10:00:00Z">
            \(lines)  </photo>

            """
    }

    private var images: String {
        let (first, second) = (entries[5], entries[6])
        let thumbnail = first.thumbnail ?? ""
        return AlbumDocuments.declaration + "<album>\n" + entries[0].xml
            + photo("Bad: no image at all.", "no-image", [])
            + photo("Bad: the path is empty.", "empty-path", [("image", ""), ("thumbnail", thumbnail)])
            + photo("Bad: only a thumbnail.", "thumb-only", [("thumbnail", thumbnail)])
            + photo("Bad: no image of a known kind.", "unknown-kind", [("painting", first.image)])
            + entries[1].xml
            + photo("Good: no thumbnail.", "no-thumb", [("image", first.image)])
            + photo(
                "Good: two of a kind; the last wins, and the first is nowhere.", "repeated-kind",
                [
                    ("image", "images/nowhere.jpg"), ("image", second.image),
                    ("thumbnail", second.thumbnail ?? ""),
                ])
            + photo(
                "Good, but the thumbnail is nowhere.", "thumb-nowhere",
                [("image", first.image), ("thumbnail", "thumbnails/nowhere.jpg")])
            + photo(
                "Good, but the photo is nowhere.", "photo-nowhere",
                [("image", "images/nowhere.jpg"), ("thumbnail", thumbnail)])
            + photo(
                "Good, but the thumbnail is a text.", "thumb-text",
                [("image", second.image), ("thumbnail", "images/not-a-picture.jpg")])
            + photo(
                "Good, but the photo is a text.", "photo-text",
                [("image", "images/not-a-picture.jpg"), ("thumbnail", thumbnail)])
            + photo("Good, but the file breaks off.", "broken-off", [("image", "images/truncated.jpg")])
            + photo("Good, but the file is damaged.", "damaged", [("image", "images/damaged.jpg")])
            + entries[2].xml
            + "</album>\n"
    }

    /// Four valid photos, then an element that is never closed.
    private var illFormed: String {
        AlbumDocuments.declaration + "<album>\n" + entries[0..<4].map(\.xml).joined() + """
              <photo id="unfinished" name="Unfinished" date="2015-01-01T00:00:00Z">
                <image kind="image" srcURL="\(entries[4].image)">
              </photo>

            """ + entries[5..<8].map(\.xml).joined() + "</album>\n"
    }

    private static let html = """
        <!DOCTYPE html>
        <html lang="en">
          <head><meta charset="utf-8"><title>Moved</title></head>
          <body>
            <h1>The gallery has moved</h1>
            <p>It hangs somewhere else now.<br>Ask at the desk &mdash; they know.
          </body>
        </html>

        """

    private static let text = """
        This is a plain text that somebody has saved under the name of an album.
        It holds no photos & it is not XML either.

        """
}
