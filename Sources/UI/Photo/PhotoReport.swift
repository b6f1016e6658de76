import Cells
import Model
import Pictures
import Text

/// What there is to say of a photo, in lines of some width. All of it comes from strangers.
struct PhotoReport {
    /// A line of the panel.
    struct Line: Equatable {
        /// What is said; empty where the line goes on with what the one above says.
        var label = ""
        var text: String
        var isTitle = false
    }

    let photo: Photo
    /// What the photo says, as far as that is known.
    let metadata: PhotoMetadata?
    /// Whether there is more than ASCII. Else a degree is a word, and not the one sign that fits into its place.
    var hasUnicode = true
    /// Everything that its file says.
    var fields: [PhotoExamination.Field] = []

    /// Columns of what things are called.
    private static let labelWidth = 9

    /// What most photos say, in as few lines as it takes.
    func facts(width: Int) -> [Line] {
        var lines = photo.name.folded(toWidth: width).map { Line(text: $0, isTitle: true) }
        lines += Self.lines("Date", DateText.long(photo.date), width)
        guard let metadata else { return lines }
        let words = MetadataText(metadata)
        let file = [metadata.format, photo.size.map { ByteText.text($0) }].compactMap { $0 }.joined(separator: ", ")
        let facts: [(String, String?)] = [
            ("Exposure", words.settings), ("Camera", metadata.camera), ("Lens", metadata.lens), ("Size", words.size),
            ("File", file), ("Taken", words.taken), ("Place", words.place), ("Map", words.map),
            ("Title", metadata.title), ("About it", metadata.description),
        ]
        // Many cameras and programs write the name there once more.
        for case (let label, let text?) in facts where !text.isEmpty && text != photo.name {
            lines += Self.lines(label, inCharacters(text), width)
        }
        return lines
    }

    /// The same, and below it all that the file says.
    func everything(width: Int) -> [Line] {
        guard !fields.isEmpty else { return facts(width: width) }
        return facts(width: width) + [Line(text: ""), Line(text: "All that the file says", isTitle: true)]
            + fields.flatMap { field in
                // Names are of any length, so what is said begins below them.
                [Line(label: field.name.truncated(toWidth: width), text: "")]
                    + inCharacters(field.value).folded(toWidth: width - 2).map { Line(text: "  " + $0) }
            }
    }

    /// `52.51628° N` as `52.51628 deg N`, and `23°C` as `23 deg C`, where there is ASCII alone.
    private func inCharacters(_ text: String) -> String {
        guard !hasUnicode, text.contains("°") else { return text }
        let parts = text.split(separator: "°", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts[0])) { text, part in
            let (before, after) = (text.last.map { !$0.isWhitespace }, part.first.map { $0.isLetter || $0.isNumber })
            return text + (before == true ? " deg" : "deg") + (after == true ? " " : "") + part
        }
    }

    /// What something is called, and what is said of it beside it, in as many lines as that takes.
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
    /// The text made visible and broken between its words, and within those that are wider than a line: an address is of no
    /// use without its end.
    func folded(toWidth width: Int) -> [String] {
        guard width > 0 else { return [] }
        return madeVisible.wrapped(toWidth: width).flatMap { line -> [String] in
            var (parts, room) = ([""], width)
            for glyph in Glyphs(line) {
                if glyph.width > room, room < width {
                    parts.append("")
                    room = width
                }
                parts[parts.count - 1] += glyph.text
                room -= glyph.width
            }
            return parts
        }
    }
}

/// Draws how a picture's tones are spread: bars from dark to bright, of the brightness and of each colour.
struct HistogramDrawing {
    let theme: Theme

    /// The most rows that all of it takes: six for each channel.
    static let most = Histogram.Channel.allCases.count * 6

    /// Draws all channels one below the other, each as high as the others; where that would be too low, the colours a row
    /// each below the brightness; and nothing where there is no room for four rows.
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

    /// For the part of a bar that is in a row: none of it, some of the row, or all of it.
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
