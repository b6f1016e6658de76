import Cells
import Model

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
