import Cells
import Model

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
