import Cache
import Cells
import Model
import Pictures
import Text

/// Draws one row of a list: a photo, a folder or an album.
///
/// The row of a photo shows a thumbnail, a name, a date and a remark.
@MainActor
struct PhotoRow {
    let theme: Theme
    /// Whether badges are ASCII letters instead of signs.
    private let isPlain: Bool
    let thumbnailSize: Size
    /// The height of a photo's row in cells. A height above three includes an empty line below the picture.
    let height: Int
    /// The number of empty columns between the badges and the picture.
    private let gap: Int

    /// Creates the layout of a row for photos of common proportions.
    ///
    /// - Parameters:
    ///   - wantedHeight: the height from the settings; 0 for a height that suits the window.
    ///   - hasPictures: whether any row may have a thumbnail.
    ///   - isInLetters: whether pictures consist of letters. Such pictures need more cells, and a gap beside other
    ///     text.
    init(
        in space: Size, wantedHeight: Int, hasPictures: Bool = true, isInLetters: Bool = false, theme: Theme,
        capabilities: Capabilities
    ) {
        self.theme = theme
        isPlain = !capabilities.unicode || theme.signs.isPlain
        // Plain mode has no pictures.
        let isInLetters = isInLetters && hasPictures && !theme.signs.isPlain
        gap = isInLetters ? 1 : 0
        /// Returns the columns of a picture with this number of rows.
        func columns(_ rows: Int) -> Int { Int((Double(rows) / capabilities.cellAspect * 4 / 3).rounded()) }
        let thumbnailHeight: Int
        if !hasPictures {
            (height, thumbnailHeight) = (2, 2)
        } else if wantedHeight > 0 {
            height = min(wantedHeight, max(1, space.rows))
            thumbnailHeight = height > 3 ? height - 1 : height
        } else if isInLetters {
            let rows =
                switch space.rows {
                case ..<8: 2
                case ..<12: 3
                case ..<18: 4
                case ..<45: 6
                default: 7
                }
            // Texts get more than half of a narrow window.
            thumbnailHeight = max(2, (2...rows).last { columns($0) * 5 <= space.columns * 2 } ?? 2)
            height = thumbnailHeight > 3 ? thumbnailHeight + 1 : thumbnailHeight
        } else {
            (height, thumbnailHeight) =
                switch space.rows {
                case ..<12: (2, 2)
                case ..<30: (3, 3)
                case ..<45: (5, 4)
                default: (6, 5)
                }
        }
        // Without pictures, texts begin at the left.
        thumbnailSize = Size(
            columns: theme.signs.isPlain || !hasPictures ? 0 : max(2, columns(thumbnailHeight)), rows: thumbnailHeight)
    }

    /// Draws a photo.
    ///
    /// - Parameter hasFolder: whether the row names the photo's folder.
    func draw(
        _ photo: Photo, _ picture: DrawnPicture?, matches: [Range<Int>], badges: [PhotoBadge], hasFolder: Bool = false,
        isSelected: Bool, in surface: inout Surface, frame: Rect
    ) {
        var rest = drawPicture(of: photo, picture, badges: badges, isSelected: isSelected, in: &surface, frame)
        let name = rest.takeTop(1)
        PhotoName(name: photo.name, matches: matches).draw(isSelected: isSelected, theme, in: &surface, name)
        let folder = hasFolder ? photo.folder.flatMap { $0.isTop ? nil : $0.text.madeVisible } : nil
        draw(lines(photo, folder, width: rest.size.columns), in: &surface, &rest)
    }

    /// Draws a folder with the thumbnail of its newest photo.
    ///
    /// - Parameter cover: the newest photo; nil if it was deleted meanwhile.
    func draw(
        _ folder: Subfolder, cover: Photo?, _ picture: DrawnPicture?, badges: [PhotoBadge], isSelected: Bool,
        in surface: inout Surface, frame: Rect
    ) {
        var rest = drawPicture(of: cover, picture, badges: badges, isSelected: isSelected, in: &surface, frame)
        let name = rest.takeTop(1)
        surface.write(
            (folder.path.name.madeVisible + "/").truncated(toWidth: name.size.columns), in: name,
            style: isSelected ? theme.selectedName : theme.section)
        let (count, date) = (CountText.text(folder.count, "photo"), DateText.long(folder.newest))
        var line = FittedLine()
        line.add(count)
        line.add(date, isOptional: true)
        let texts = rest.size.rows > 1 ? [count, "newest: \(date)"] : [line.text(width: rest.size.columns)]
        draw(texts.map { ($0, theme.detail) }, in: &surface, &rest)
    }

    /// Draws an album with its cover.
    ///
    /// - Parameter cover: the photo that stands for the album; nil if the cache does not have it.
    func draw(
        _ album: Album, cover: Photo?, _ picture: DrawnPicture?, matches: [Range<Int>], isSelected: Bool,
        in surface: inout Surface, frame: Rect
    ) {
        var rest = drawPicture(of: cover, picture, badges: [], isSelected: isSelected, in: &surface, frame)
        let name = rest.takeTop(1)
        PhotoName(name: album.name, matches: matches).draw(isSelected: isSelected, theme, in: &surface, name)
        var line = FittedLine()
        // The name of the favourites already states their kind.
        if album.kind != .favorites { line.add(album.kind.rawValue) }
        line.add(album.count.map { CountText.text($0, "item") }, isOptional: true)
        draw([(line.text(width: rest.size.columns), theme.detail)], in: &surface, &rest)
    }

    /// Draws the badges, the thumbnail and the selection mark. Returns the space for texts.
    private func drawPicture(
        of photo: Photo?, _ picture: DrawnPicture?, badges: [PhotoBadge], isSelected: Bool, in surface: inout Surface,
        _ frame: Rect
    ) -> Rect {
        var rest = frame
        rest.size.rows = min(rest.size.rows, thumbnailSize.rows)
        PhotoBadge.draw(badges, in: &surface, rest.takeLeft(1), theme, isPlain: isPlain)
        _ = rest.takeLeft(gap)
        let space = rest.takeLeft(thumbnailSize.columns)
        if space.size.isEmpty {
            // Plain mode: the remark replaces the placeholder.
        } else if let picture {
            surface.draw(picture.cells, pixels: picture.pixels, at: space.origin, in: space)
        } else if let photo {
            Placeholder.draw(photo, theme, in: &surface, space)
        }
        _ = rest.takeLeft(1)
        // The mark is right of the thumbnail, so that moving it does not touch the picture.
        let mark = rest.takeLeft(1)
        if isSelected { theme.drawMark(in: &surface, mark) }
        rest.trimSides()
        return rest
    }

    private func draw(_ lines: [(String, Style)], in surface: inout Surface, _ rest: inout Rect) {
        for (text, style) in lines {
            let line = rest.takeTop(1)
            guard !line.size.isEmpty else { break }
            surface.write(text.truncated(toWidth: line.size.columns), in: line, style: style)
        }
    }

    private func lines(_ photo: Photo, _ folder: String?, width: Int) -> [(String, Style)] {
        var date = FittedLine()
        date.add(DateText.long(photo.date))
        date.add(photo.videoMilliseconds.map { VideoText.text($0) })
        date.add(RatingText.text(photo.rating, isPlain: isPlain))
        date.add(folder, least: 8, isOptional: true)
        return [(date.text(width: width), theme.detail), Self.remark(photo, theme)].compactMap { $0 }
    }

    /// Returns a remark about the photo's failure, or else about its cached file.
    static func remark(_ photo: Photo, _ theme: Theme) -> (String, Style)? {
        for (word, state) in [("Photo", photo.original), ("Thumbnail", photo.thumbnail)] {
            switch state.trouble {
            case .bad(let failure): return ("\(word): \(failure)", theme.trouble)
            case .putOff(let failure): return ("\(word) (retry later): \(failure)", theme.trouble)
            case nil: continue
            }
        }
        if photo.isRemoteVideo, photo.thumbnail.isAbsent, photo.thumbnail.held == nil, photo.original.held == nil {
            return ("No thumbnail: this server makes none for videos", theme.detail)
        }
        guard photo.original.isCurrent else { return nil }
        let size = photo.size.map { ByteText.text($0) }
        if photo.isInPlace { return size.map { ($0, theme.detail) } }
        return (size.map { "Cached, \($0)" } ?? "Cached", theme.detail)
    }
}

/// Draws a photo's name in a list, with search matches highlighted.
struct PhotoName {
    let name: String
    /// The byte ranges of the name that match the search.
    let matches: [Range<Int>]

    func draw(isSelected: Bool, _ theme: Theme, in surface: inout Surface, _ line: Rect) {
        surface.write(
            name.truncated(toWidth: line.size.columns), in: line, style: isSelected ? theme.selectedName : theme.name)
        drawMatches(theme, in: &surface, line)
    }

    /// Draws the visible matches over the name, highlighted.
    private func drawMatches(_ theme: Theme, in surface: inout Surface, _ line: Rect) {
        let bytes = Array(name.utf8)
        for match in matches where match.upperBound <= bytes.count {
            let before = String(decoding: bytes[..<match.lowerBound], as: UTF8.self).madeVisible.displayWidth
            let word = String(decoding: bytes[match], as: UTF8.self)
            var space = line
            guard before + word.madeVisible.displayWidth < line.size.columns else { continue }
            _ = space.takeLeft(before)
            surface.write(word, in: space, style: theme.hit)
        }
    }
}

/// A sign beside a photo. Badges have a column of their own, so that pictures and names stay aligned.
enum PhotoBadge: CaseIterable {
    /// The user marked the photo.
    case marked
    /// The photo is new since the user last left the gallery.
    case new
    /// Vitrine could not fetch the photo or its thumbnail.
    case failed
    /// The cache has the photo itself, not only the thumbnail.
    case cached
    /// The photo is a video.
    case video

    /// Returns the badges of a photo, the most important first.
    static func badges(of photo: Photo, isMarked: Bool, isNew: Bool) -> [PhotoBadge] {
        allCases.filter { badge in
            switch badge {
            case .marked: isMarked
            case .new: isNew
            case .failed: photo.original.trouble != nil || photo.thumbnail.trouble != nil
            case .cached: photo.original.isCurrent
            case .video: photo.videoMilliseconds != nil
            }
        }
    }

    /// Returns the sign of the badge.
    ///
    /// - Parameter isPlain: whether to use an ASCII letter.
    func sign(isPlain: Bool) -> String {
        switch self {
        case .marked: isPlain ? "M" : "✓"
        case .new: isPlain ? "N" : "●"
        case .failed: isPlain ? "F" : "×"
        case .cached: isPlain ? "H" : "▪"
        case .video: isPlain ? "V" : "▸"
        }
    }

    func style(_ theme: Theme) -> Style {
        switch self {
        case .marked: theme.hit
        case .new: theme.key
        case .failed: theme.trouble
        case .cached, .video: theme.detail
        }
    }

    /// Draws badges one below the other, as many as fit.
    static func draw(
        _ badges: [PhotoBadge], in surface: inout Surface, _ column: Rect, _ theme: Theme, isPlain: Bool
    ) {
        var rest = column
        for badge in badges.prefix(column.size.rows) {
            surface.write(badge.sign(isPlain: isPlain), in: rest.takeTop(1), style: badge.style(theme))
        }
    }
}

/// The sign in place of a missing thumbnail: not yet fetched, retried later, or failed.
enum Placeholder {
    /// Draws the sign for a photo. A thumbnail that is cached but not drawn yet has the sign for “not yet fetched”.
    static func draw(_ photo: Photo, _ theme: Theme, in surface: inout Surface, _ space: Rect) {
        let (sign, style) =
            switch trouble(of: photo) {
            case nil where photo.isRemoteVideo && photo.thumbnail.isAbsent: (theme.signs.video, theme.detail)
            case nil: (theme.signs.awaited, theme.detail)
            case .putOff: (theme.signs.putOff, theme.trouble)
            case .bad: (theme.signs.bad, theme.trouble)
            }
        surface.write(sign, in: space.centred(Size(columns: 1, rows: 1)), style: style)
    }

    /// Returns the reason why a photo has no thumbnail. Returns nil if nothing failed.
    static func trouble(of photo: Photo) -> RenditionState.Trouble? {
        photo.thumbnail.held == nil ? photo.thumbnail.trouble ?? photo.original.trouble : nil
    }
}
