import Cells
import Model
import Pictures
import Text

/// Draws one photo of a list: its thumbnail, and beside it name, date and whatever is to be said of it.
struct PhotoRow {
    let theme: Theme
    /// Whether badges are letters.
    private let isPlain: Bool
    let thumbnailSize: Size
    /// As many lines as make a picture of it, and still some photos on the screen; where there is room, one more, so that
    /// pictures do not touch.
    let height: Int

    /// How a row is laid out, for photos of the usual proportions.
    ///
    /// - Parameter wantedHeight: the height that the user wants; 0 for one that suits the room.
    init(in room: Size, wantedHeight: Int, theme: Theme, capabilities: Capabilities) {
        self.theme = theme
        isPlain = !capabilities.unicode || theme.signs.isPlain
        let thumbnailHeight: Int
        if wantedHeight > 0 {
            height = min(wantedHeight, max(1, room.rows))
            thumbnailHeight = height > 3 ? height - 1 : height
        } else {
            (height, thumbnailHeight) =
                switch room.rows {
                case ..<12: (2, 2)
                case ..<30: (3, 3)
                case ..<45: (5, 4)
                default: (6, 5)
                }
        }
        let columns = Int((Double(thumbnailHeight) / capabilities.cellAspect * 4 / 3).rounded())
        // Without pictures there is text alone, and it begins at the left.
        thumbnailSize = Size(columns: theme.signs.isPlain ? 0 : max(2, columns), rows: thumbnailHeight)
    }

    func draw(
        _ photo: Photo, _ picture: DrawnPicture?, hits: [Range<Int>], badges: [PhotoBadge], isSelected: Bool,
        in surface: inout Surface, frame: Rect
    ) {
        var rest = frame
        rest.size.rows = min(rest.size.rows, thumbnailSize.rows)
        PhotoBadge.draw(badges, in: &surface, rest.takeLeft(1), theme, isPlain: isPlain)
        let room = rest.takeLeft(thumbnailSize.columns)
        if room.size.isEmpty {
            // What a sign in its place would say is said in words.
        } else if let picture {
            surface.draw(picture.cells, pixels: picture.pixels, at: room.origin, in: room)
        } else {
            Placeholder.draw(photo, theme, in: &surface, room)
        }
        _ = rest.takeLeft(1)
        // The mark is on this side of the thumbnail, so that moving it does not touch the picture's cells.
        drawMark(isSelected, in: &surface, rest.takeLeft(1))
        _ = rest.takeLeft(1)
        _ = rest.takeRight(1)
        let name = rest.takeTop(1)
        PhotoName(name: photo.name, hits: hits).draw(isSelected: isSelected, theme, in: &surface, name)
        for (text, style) in lines(photo) {
            let line = rest.takeTop(1)
            guard !line.size.isEmpty else { break }
            surface.write(text.truncated(toWidth: line.size.columns), in: line, style: style)
        }
    }

    private func lines(_ photo: Photo) -> [(String, Style)] {
        [(DateText.long(photo.date), theme.detail), Self.remark(photo, theme)].compactMap { $0 }
    }

    /// What is to be said of what is here of a photo, and of what went wrong.
    static func remark(_ photo: Photo, _ theme: Theme) -> (String, Style)? {
        for (word, state) in [("Photo", photo.original), ("Thumbnail", photo.thumbnail)] {
            switch state.trouble {
            case .bad(let failure): return ("\(word): \(failure)", theme.trouble)
            case .putOff(let failure): return ("\(word) later: \(failure)", theme.trouble)
            case nil: continue
            }
        }
        guard photo.original.isCurrent else { return nil }
        return (photo.size.map { "Photo is here, \(ByteText.text($0))" } ?? "Photo is here", theme.detail)
    }

    private func drawMark(_ isSelected: Bool, in surface: inout Surface, _ frame: Rect) {
        guard isSelected else { return }
        for row in theme.signs.markedRows(frame.rows) {
            let place = Rect(column: frame.origin.column, row: row, columns: 1, rows: 1)
            surface.write(theme.signs.mark, in: place, style: theme.mark)
        }
    }
}

/// What is to be known of a photo at a glance. Its signs have a column of their own, so that pictures and names stay where
/// they are.
enum PhotoBadge: CaseIterable {
    /// The user has marked it.
    case marked
    /// It has come since the user left the gallery.
    case new
    /// It, or its thumbnail, could not be fetched.
    case failed
    /// Photo and not thumbnail alone is here.
    case here

    /// Those that a photo has, what counts most first.
    static func badges(of photo: Photo, isMarked: Bool, isNew: Bool) -> [PhotoBadge] {
        allCases.filter { badge in
            switch badge {
            case .marked: isMarked
            case .new: isNew
            case .failed: photo.original.trouble != nil || photo.thumbnail.trouble != nil
            case .here: photo.original.isCurrent
            }
        }
    }

    /// - Parameter isPlain: whether there is ASCII alone; then these are letters.
    func sign(isPlain: Bool) -> String {
        switch self {
        case .marked: isPlain ? "M" : "✓"
        case .new: isPlain ? "N" : "●"
        case .failed: isPlain ? "F" : "×"
        case .here: isPlain ? "H" : "▪"
        }
    }

    func style(_ theme: Theme) -> Style {
        switch self {
        case .marked: theme.hit
        case .new: theme.key
        case .failed: theme.trouble
        case .here: theme.detail
        }
    }

    /// Draws them one below the other, as far as there are lines.
    static func draw(
        _ badges: [PhotoBadge], in surface: inout Surface, _ column: Rect, _ theme: Theme, isPlain: Bool
    ) {
        var rest = column
        for badge in badges.prefix(column.size.rows) {
            surface.write(badge.sign(isPlain: isPlain), in: rest.takeTop(1), style: badge.style(theme))
        }
    }
}

/// A photo's name in a list, with what was searched for set off.
struct PhotoName {
    let name: String
    /// Where in the name the words that were searched for stand, in bytes.
    let hits: [Range<Int>]

    func draw(isSelected: Bool, _ theme: Theme, in surface: inout Surface, _ line: Rect) {
        surface.write(
            name.truncated(toWidth: line.size.columns), in: line, style: isSelected ? theme.selectedName : theme.name)
        drawHits(theme, in: &surface, line)
    }

    /// Writes the words that were searched for once more, as far as they are in sight.
    private func drawHits(_ theme: Theme, in surface: inout Surface, _ line: Rect) {
        let bytes = Array(name.utf8)
        for hit in hits where hit.upperBound <= bytes.count {
            let before = String(decoding: bytes[..<hit.lowerBound], as: UTF8.self).madeVisible.displayWidth
            let word = String(decoding: bytes[hit], as: UTF8.self)
            var room = line
            guard before + word.madeVisible.displayWidth < line.size.columns else { continue }
            _ = room.takeLeft(before)
            surface.write(word, in: room, style: theme.hit)
        }
    }
}

/// What stands in a thumbnail's place as long as there is none: it is not here yet, put off, or bad.
enum Placeholder {
    /// A thumbnail that is held, an older one too, is only waiting to be drawn.
    static func draw(_ photo: Photo, _ theme: Theme, in surface: inout Surface, _ room: Rect) {
        let trouble = photo.thumbnail.held == nil ? photo.thumbnail.trouble ?? photo.original.trouble : nil
        let (sign, style) =
            switch trouble {
            case nil: (theme.signs.awaited, theme.detail)
            case .putOff: (theme.signs.putOff, theme.trouble)
            case .bad: (theme.signs.bad, theme.trouble)
            }
        surface.write(sign, in: room.centred(Size(columns: 1, rows: 1)), style: style)
    }
}
