import Cache
import Cells
import Commands
import Model
import Pictures
import Text

/// The layout of the photos screen: rows or a contact sheet, with or without sections.
@MainActor
struct PhotoLayout {
    enum Kind {
        /// A list with one photo in each row, and the photo's details.
        case list
        /// A contact sheet with several photos side by side.
        case sheet
    }

    /// The data that a frame shows.
    struct Content {
        let entries: PhotoEntries
        let selection: PhotoEntries.Entry?
        let marking: PhotoMarking
        /// The gallery's record at the time of opening. The record shows which photos are new.
        let opened: GalleryRecord
        /// Returns the byte ranges of a name that match the search.
        let matches: (String) -> [Range<Int>]

        /// Whether each row names its photo's folder. A list of photos from several folders needs these names, unless
        /// section titles name the folders.
        @MainActor var namesFolders: Bool {
            if case .own = entries.photos.filter.folder { return false }
            return entries.photos.sectionRule != .folder
        }

        /// Returns the photo of each row. For a folder, returns the folder's newest photo.
        @MainActor func photos(in range: Range<Int>) -> [Photo?] {
            (try? entries.photos.photos(range.map { entries.picture(at: $0) })) ?? []
        }
    }

    /// The visible photos of a frame, and the requests for their pictures.
    typealias Drawn = (photos: [PhotoKey], orders: [PictureOrder])

    private(set) var kind: Kind
    /// Whether the user or the settings chose the sections. If neither chose sections, a short list has no sections.
    private var areSectionsChosen: Bool
    /// The layout of the contact sheet in the last frame.
    private var sheet: SheetLayout?
    private let context: ScreenContext

    /// Lists of at most this length have no sections by default, because titles take space.
    private static let sectionedCount = 100

    init(_ kind: Kind, areSectionsChosen: Bool, _ context: ScreenContext) {
        self.kind = kind
        self.areSectionsChosen = areSectionsChosen
        self.context = context
    }

    /// Whether the photos are in a contact sheet. Plain mode has no contact sheet.
    var isSheet: Bool { kind == .sheet && !context.settings.plain }

    /// Switches between list and contact sheet.
    mutating func switchKind() { kind = kind == .list ? .sheet : .list }

    // MARK: - Sections

    /// Returns whether the sections have titles. A single section needs no title.
    func hasSections(_ entries: PhotoEntries) -> Bool {
        let photos = entries.photos
        guard areSectionsChosen || photos.count > Self.sectionedCount else { return false }
        return photos.section(at: 0).map { $0.range.upperBound < photos.count } ?? false
    }

    /// Returns the next rule in the cycle of section rules.
    ///
    /// Returns nil if the command only made the sections of a short list visible.
    ///
    /// - Parameter rules: the rules of the cycle, in order.
    mutating func nextSections(
        after rule: SectionRule, of rules: [SectionRule], _ entries: PhotoEntries
    ) -> SectionRule? {
        let hadSections = hasSections(entries)
        areSectionsChosen = true
        guard hadSections == hasSections(entries) else { return nil }
        return rules[((rules.firstIndex(of: rule) ?? rules.count - 1) + 1) % rules.count]
    }

    /// Returns the division of the rows into lines, as in the last frame.
    func lines(_ entries: PhotoEntries, count: Int) -> ListLines {
        let hasSections = hasSections(entries)
        return ListLines(
            count: count, columns: isSheet ? sheet?.columns ?? 1 : 1, hasTitles: hasSections
        ) { hasSections ? entries.section(at: $0) : nil }
    }

    // MARK: - Drawing

    /// Draws the visible photos, and records their areas for mouse clicks.
    mutating func draw(
        _ content: Content, _ scroll: inout ListScroll, in surface: inout Surface, _ frame: Rect
    ) -> Drawn {
        isSheet
            ? drawSheet(content, &scroll, in: &surface, frame) : drawList(content, &scroll, in: &surface, frame)
    }

    private func drawList(
        _ content: Content, _ scroll: inout ListScroll, in surface: inout Surface, _ frame: Rect
    ) -> Drawn {
        var rest = frame
        let row = PhotoRow(
            in: rest.size, wantedHeight: context.settings.rowHeight, isInLetters: context.drawingStyle.isInLetters,
            theme: context.theme, capabilities: context.capabilities)
        let lines = lines(content.entries, count: scroll.count)
        if lines.hasTitles {
            scroll.layOut(lines, rows: rest.size.rows, height: row.height)
        } else {
            scroll.setVisible(rest.size.rows / row.height)
        }
        let photos = content.photos(in: scroll.window)
        var orders: [PictureOrder] = []
        for (index, photo) in zip(scroll.window, photos) {
            if lines.hasTitles {
                drawTitle(above: index, isFirst: index == scroll.first, content.entries, in: &surface, &rest)
            }
            let line = rest.takeTop(row.height)
            scroll.setFrame(line, of: index)
            let isSelected = content.entries[index] == content.selection
            if let folder = content.entries.folder(at: index) {
                let picture = photo.flatMap { thumbnail(of: $0, content, row.thumbnailSize, &orders) }
                row.draw(
                    folder, cover: photo, picture, badges: badges(of: folder, content),
                    isSelected: isSelected, in: &surface, frame: line)
                continue
            }
            guard let photo else { continue }
            row.draw(
                photo, thumbnail(of: photo, content, row.thumbnailSize, &orders), matches: content.matches(photo.name),
                badges: badges(of: photo, content), hasFolder: content.namesFolders, isSelected: isSelected,
                in: &surface, frame: line)
        }
        return (photos.compactMap { $0?.key }, orders)
    }

    private mutating func drawSheet(
        _ content: Content, _ scroll: inout ListScroll, in surface: inout Surface, _ frame: Rect
    ) -> Drawn {
        var rest = frame
        // Reserve the column of the scroll bar even without a bar, so that picture sizes do not depend on the bar.
        _ = rest.takeRight(1)
        let layout = SheetLayout(
            in: rest.size, hasTitles: hasSections(content.entries), cellAspect: context.capabilities.cellAspect,
            isInLetters: context.drawingStyle.isInLetters)
        sheet = layout
        let lines = lines(content.entries, count: scroll.count)
        scroll.layOut(lines, rows: rest.size.rows, height: layout.cell.rows)
        let photos = content.photos(in: scroll.window)
        let cell = SheetCell(layout: layout, theme: context.theme, isPlain: !context.capabilities.unicode)
        var orders: [PictureOrder] = []
        var line = 0..<0
        var frames: [Rect] = []
        for (index, photo) in zip(scroll.window, photos) {
            if index >= line.upperBound {
                line = lines.line(of: index)
                if lines.hasTitles {
                    drawTitle(above: index, isFirst: index == scroll.first, content.entries, in: &surface, &rest)
                }
                frames = layout.frames(in: rest.takeTop(layout.cell.rows))
            }
            let frame = frames[index - line.lowerBound]
            scroll.setFrame(frame, of: index)
            let isSelected = content.entries[index] == content.selection
            if let folder = content.entries.folder(at: index) {
                let picture = photo.flatMap { thumbnail(of: $0, content, layout.picture, &orders) }
                cell.draw(
                    folder, cover: photo, picture, badges: badges(of: folder, content),
                    isSelected: isSelected, in: &surface, frame: frame)
                continue
            }
            guard let photo else { continue }
            cell.draw(
                photo, thumbnail(of: photo, content, layout.picture, &orders), matches: content.matches(photo.name),
                badges: badges(of: photo, content), isSelected: isSelected, in: &surface, frame: frame)
        }
        return (photos.compactMap { $0?.key }, orders)
    }

    /// Draws the title of a section above its first row or above the first visible row.
    private func drawTitle(
        above index: Int, isFirst: Bool, _ entries: PhotoEntries, in surface: inout Surface, _ rest: inout Rect
    ) {
        guard let range = entries.section(at: index), range.lowerBound == index || isFirst else { return }
        let (photos, folders) = (entries.photos, entries.folders.count)
        let title =
            if index < folders {
                SectionTitle(text: "Folders", count: CountText.text(folders, "folder"), theme: context.theme)
            } else {
                SectionTitle(
                    text: photos.section(at: index - folders).map { text(of: $0, photos) } ?? "",
                    count: photos.isComplete ? CountText.text(range.count, "photo") : "", theme: context.theme)
            }
        title.draw(in: &surface, rest.takeTop(1))
    }

    /// Returns the title of a section: a folder's path or a date. The date is in the user's locale, such as `2006`,
    /// `July 2006` or `Sunday 30 July 2006`.
    private func text(of section: PhotoSection, _ photos: FetchedResults) -> String {
        switch (section.name, photos.sectionRule) {
        case (.folder(let path), _):
            path.isTop ? context.folderName(of: photos.cache.address) : path.text.madeVisible
        case (.undated, _): DateText.unknown
        case (.period(let day), .day): DateText.day(day)
        case (.period(let day), .month): DateText.month(day)
        case (.period(let day), _): "\(day.year)"
        }
    }

    private func thumbnail(
        of photo: Photo, _ content: Content, _ size: Size, _ orders: inout [PictureOrder]
    ) -> DrawnPicture? {
        context.thumbnail(of: photo, in: content.entries.photos.cache.id, size, &orders)
    }

    private func badges(of photo: Photo, _ content: Content) -> [PhotoBadge] {
        PhotoBadge.badges(
            of: photo, isMarked: content.marking.keys.contains(photo.key), isNew: content.opened.isNew(photo.key))
    }

    private func badges(of folder: Subfolder, _ content: Content) -> [PhotoBadge] {
        content.marking.isMarked(folder) ? [.marked] : []
    }
}

/// The line above the rows of a section.
@MainActor
struct SectionTitle {
    let text: String
    /// The number of photos or folders as text; empty if it is unknown.
    let count: String
    let theme: Theme

    func draw(in surface: inout Surface, _ line: Rect) {
        var rest = line
        rest.trimSides()
        _ = rest.takeLeft(surface.write(text.truncated(toWidth: rest.size.columns), in: rest, style: theme.section))
        guard rest.size.columns >= count.displayWidth + 4 else { return }
        surface.write(count, in: rest.takeRight(count.displayWidth), style: theme.detail)
        let rule = theme.signs.rule(rest.size.columns - 2)
        _ = rest.takeLeft(1)
        surface.write(rule, in: rest, style: theme.detail)
    }
}

/// The layout of a contact sheet: the number of photos in a line, and their size.
struct SheetLayout: Equatable {
    /// The number of photos in a full line.
    let columns: Int
    /// The size in cells of one photo with its name, its badges and the gap to the next photo.
    let cell: Size
    /// The size in cells of one picture.
    let picture: Size
    /// The number of empty columns before and after a picture.
    let gap: Int

    /// The columns for the selection mark and the badges.
    static let margin = 2

    /// Creates the layout that fills the space with photos of common proportions.
    ///
    /// A small screen shows a few small pictures, and a large screen shows many.
    ///
    /// - Parameter isInLetters: whether pictures consist of letters. Such pictures need more cells, and gaps beside
    ///   other text.
    init(in space: Size, hasTitles: Bool, cellAspect: Double, isInLetters: Bool = false) {
        let between = space.rows < 45 ? 0 : 1
        let wanted =
            switch space.rows {
            case ..<6: 2
            case ..<12: 4
            case ..<30: isInLetters ? 6 : 5
            case ..<45: isInLetters ? 7 : 6
            default: 8
            }
        gap = isInLetters ? 1 : 0
        let margins = Self.margin + 2 * gap
        let rows = max(2, space.rows - (hasTitles ? 1 : 0))
        // The lines share the rows that are left over.
        let lines = max(1, rows / (wanted + 1 + between))
        let height = max(1, min(wanted + 1, rows / lines - 1 - between))
        let width = max(2, Int((Double(height) / cellAspect * 4 / 3).rounded()))
        columns = max(1, space.columns / (width + margins))
        cell = Size(columns: space.columns / columns, rows: min(space.rows, height + 1 + between))
        picture = Size(columns: max(0, cell.columns - margins), rows: min(height, max(0, space.rows - 1)))
    }

    /// Returns the areas of the photos in a line, from left to right.
    func frames(in line: Rect) -> [Rect] {
        (0..<columns).map { column in
            Rect(
                column: line.origin.column + column * cell.columns, row: line.origin.row, columns: cell.columns,
                rows: line.size.rows)
        }
    }
}

/// Draws one photo of a contact sheet: its thumbnail, name and badges.
struct SheetCell {
    let layout: SheetLayout
    let theme: Theme
    /// Whether badges are ASCII letters instead of signs.
    let isPlain: Bool

    func draw(
        _ photo: Photo, _ picture: DrawnPicture?, matches: [Range<Int>], badges: [PhotoBadge], isSelected: Bool,
        in surface: inout Surface, frame: Rect
    ) {
        let name = drawPicture(of: photo, picture, badges: badges, isSelected: isSelected, in: &surface, frame)
        PhotoName(name: photo.name, matches: matches).draw(isSelected: isSelected, theme, in: &surface, name)
    }

    /// Draws a folder with the thumbnail of its newest photo.
    func draw(
        _ folder: Subfolder, cover: Photo?, _ picture: DrawnPicture?, badges: [PhotoBadge], isSelected: Bool,
        in surface: inout Surface, frame: Rect
    ) {
        let line = drawPicture(of: cover, picture, badges: badges, isSelected: isSelected, in: &surface, frame)
        surface.write(
            (folder.path.name.madeVisible + "/").truncated(toWidth: line.size.columns), in: line,
            style: isSelected ? theme.selectedName : theme.section)
    }

    /// Draws the thumbnail, the badges and the selection mark. Returns the space for the name.
    private func drawPicture(
        of photo: Photo?, _ picture: DrawnPicture?, badges: [PhotoBadge], isSelected: Bool, in surface: inout Surface,
        _ frame: Rect
    ) -> Rect {
        var rest = frame
        rest.size.rows = min(rest.size.rows, layout.picture.rows + 1)
        // The selection mark has its own column, so that moving it does not touch the pictures.
        let mark = rest.takeLeft(1)
        if isSelected { theme.drawMark(in: &surface, mark) }
        PhotoBadge.draw(badges, in: &surface, rest.takeLeft(1), theme, isPlain: isPlain)
        _ = rest.takeLeft(layout.gap)
        var space = rest.takeTop(layout.picture.rows)
        _ = space.takeRight(layout.gap)
        if let picture {
            surface.draw(picture.cells, pixels: picture.pixels, at: space.origin, in: space)
        } else if let photo {
            Placeholder.draw(photo, theme, in: &surface, space)
        }
        return rest.takeTop(1)
    }
}
