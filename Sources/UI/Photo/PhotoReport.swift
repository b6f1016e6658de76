import Cache
import Cells
import Model
import Pictures
import Text

/// The facts about a photo, in lines of a given width. The facts come from untrusted files.
struct PhotoReport {
    struct Line: Equatable {
        /// The label of the text; empty in the second and later lines of a text.
        var label = ""
        var text: String
        var isTitle = false
    }

    let photo: Photo
    /// The photo's metadata, as far as Vitrine knows them.
    let metadata: PhotoMetadata?
    /// The photo's annotations from the gallery's list, such as caption and tags.
    private let annotations: PhotoAnnotations
    /// Whether to write `°` and `★`, and not `deg` and `*`.
    private let hasUnicode: Bool
    /// All metadata fields of the photo's file.
    private let fields: [PhotoExamination.Field]

    /// The width of the column with the labels.
    private static let labelWidth = 9
    /// The maximum length of an annotation on the screen, in bytes. The cache may hold more.
    private static let longestFact = 2_048

    /// Creates the report on a photo.
    ///
    /// - Parameter reader: reads the photo's annotations.
    init(
        photo: Photo, metadata: PhotoMetadata?, annotationsIn reader: CacheReader? = nil,
        fields: [PhotoExamination.Field] = [], hasUnicode: Bool = true
    ) {
        (self.photo, self.metadata, self.fields, self.hasUnicode) = (photo, metadata, fields, hasUnicode)
        annotations = (try? reader?.annotations(of: photo.key)) ?? PhotoAnnotations()
    }

    /// Returns lines with the main facts.
    func facts(width: Int) -> [Line] {
        var lines = photo.name.folded(toWidth: width).map { Line(text: $0, isTitle: true) }
        lines += Self.lines("Date", DateText.long(photo.date), width)
        for case (let label, let text?) in annotationFacts { lines += Self.lines(label, text, width) }
        guard let metadata else { return lines }
        let words = MetadataText(metadata)
        let file = [metadata.format, photo.size.map { ByteText.text($0) }].compactMap { $0 }.joined(separator: ", ")
        let facts: [(String, String?)] = [
            ("Exposure", words.settings), ("Camera", metadata.camera), ("Lens", metadata.lens), ("Size", words.size),
            ("Codec", words.coding), ("File", file), ("Taken", words.taken), ("Town", metadata.town?.text),
            ("Place", words.place), ("Map", words.map),
            ("Title", metadata.title), ("Caption", metadata.description),
        ]
        // Many cameras and programs repeat the name as the title or caption, and servers repeat the file's caption.
        for case (let label, let text?) in facts
        where !text.isEmpty && text != photo.name && text != annotations.description {
            lines += Self.lines(label, withPlainDegrees(text), width)
        }
        return lines
    }

    /// The labels and texts of the annotations. A text is nil if it is empty.
    private var annotationFacts: [(String, String?)] {
        let stars = RatingText.text(photo.rating, isPlain: !hasUnicode)
        let facts = [
            ("Video", photo.videoMilliseconds.map { VideoText.length($0) } ?? ""), ("Rating", stars),
            ("Favorite", annotations.isFavorite ? "yes" : ""),
            ("Caption", annotations.description == photo.name ? "" : annotations.description),
            ("People", annotations.people.joined(separator: ", ")), ("Tags", annotations.tags.joined(separator: ", ")),
            ("Place", annotations.place), ("Author", annotations.author),
        ]
        return facts.map { ($0, $1.isEmpty ? nil : $1.cut(toBytes: Self.longestFact)) }
    }

    /// Returns lines with the main facts and all metadata.
    func everything(width: Int) -> [Line] {
        guard !fields.isEmpty else { return facts(width: width) }
        return facts(width: width) + [Line(text: ""), Line(text: "All metadata", isTitle: true)]
            + fields.flatMap { field in
                // Field names can be long, so their values begin on the next line.
                [Line(label: field.name.truncated(toWidth: width), text: "")]
                    + withPlainDegrees(field.value).folded(toWidth: width - 2).map { Line(text: "  " + $0) }
            }
    }

    /// Returns the text without degree signs: `52.51628 deg N` for `52.51628° N`, and `23 deg C` for `23°C`.
    private func withPlainDegrees(_ text: String) -> String {
        guard !hasUnicode, text.contains("°") else { return text }
        let parts = text.split(separator: "°", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts[0])) { text, part in
            let (before, after) = (text.last.map { !$0.isWhitespace }, part.first.map { $0.isLetter || $0.isNumber })
            return text + (before == true ? " deg" : "deg") + (after == true ? " " : "") + part
        }
    }

    /// Returns lines with a label and the text beside it, as many as the text needs.
    private static func lines(_ label: String, _ text: String, _ width: Int) -> [Line] {
        text.folded(toWidth: width - labelWidth).enumerated().map { number, part in
            Line(label: number == 0 ? label : "", text: String(repeating: " ", count: labelWidth) + part)
        }
    }

    static func draw(_ line: Line, in surface: inout Surface, _ frame: Rect, _ theme: Theme) {
        surface.write(line.text, in: frame, style: line.isTitle ? theme.selectedName : .plain)
        if !line.label.isEmpty { surface.write(line.label, in: frame, style: theme.detail) }
    }
}

extension String {
    /// Returns the text in lines of this width, broken between words. A word wider than a line is broken, too.
    ///
    /// No text is cut off, because addresses must stay complete.
    func folded(toWidth width: Int) -> [String] {
        guard width > 0 else { return [] }
        return madeVisible.wrapped(toWidth: width).flatMap { line -> [String] in
            var (parts, left) = ([""], width)
            for glyph in Glyphs(line) {
                if glyph.width > left, left < width {
                    parts.append("")
                    left = width
                }
                parts[parts.count - 1] += glyph.text
                left -= glyph.width
            }
            return parts
        }
    }
}

/// Draws a picture's histogram: bars from dark to bright, for the brightness and each colour.
struct HistogramDrawing {
    let theme: Theme

    /// The greatest useful height in rows: six rows for each channel.
    static let mostRows = Histogram.Channel.allCases.count * 6

    /// Draws the channels of a histogram, one below the other.
    ///
    /// In fewer than sixteen rows, each colour gets only one row. In fewer than seven rows, only the brightness is
    /// drawn. Fewer than four rows show nothing.
    func draw(_ histogram: Histogram, in surface: inout Surface, _ frame: Rect) {
        let rows = frame.size.rows
        guard rows >= 4, frame.size.columns >= 8 else { return }
        let channels = Histogram.Channel.allCases
        let each = min(6, rows / channels.count)
        let brightest = each >= 4 ? each : min(6, rows - (channels.count - 1))
        var rest = frame
        _ = rest.takeTop(each >= 4 ? rows - channels.count * each : 0)
        guard brightest >= 4 else { return draw(histogram, .luminance, in: &surface, rest.takeBottom(min(6, rows))) }
        for channel in channels {
            let height = channel == .luminance ? brightest : each >= 4 ? each : 1
            draw(histogram, channel, in: &surface, rest.takeTop(height))
        }
    }

    private func draw(
        _ histogram: Histogram, _ channel: Histogram.Channel, in surface: inout Surface, _ frame: Rect
    ) {
        var rest = frame
        let (letter, style) = look(channel)
        var label = rest.takeLeft(2)
        surface.write(letter, in: label.takeBottom(1), style: style)
        let bars = histogram.bars(channel, rest.size.columns)
        for (distance, row) in rest.rows.reversed().enumerated() {
            let text = String(bars.map { sign($0 * Double(rest.size.rows) - Double(distance)) })
            surface.write(
                text, in: Rect(column: rest.origin.column, row: row, columns: rest.size.columns, rows: 1), style: style)
        }
    }

    /// Returns the character for a bar's part in one row, from an empty to a full cell.
    private func sign(_ height: Double) -> Character {
        let signs = theme.signs.heights
        let eighths = Int((height * Double(signs.count)).rounded(.up))
        return eighths <= 0 ? " " : signs[min(eighths, signs.count) - 1]
    }

    private func look(_ channel: Histogram.Channel) -> (letter: String, style: Style) {
        switch channel {
        case .luminance: ("L", theme.name)
        case .red: ("R", theme.red)
        case .green: ("G", theme.green)
        case .blue: ("B", theme.blue)
        }
    }
}
