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
