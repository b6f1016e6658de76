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
        let results: FetchedResults
        let selection: PhotoKey?
        let marks: KeySet
        /// The gallery's record at the time of opening, which tells new photos from old ones.
        let opened: GalleryRecord
        /// Returns the byte ranges of a name that match the search.
        let matches: (String) -> [Range<Int>]
    }

    /// The visible photos of a frame, and the pictures to draw for them.
    typealias Drawn = (photos: [PhotoKey], orders: [PictureOrder])

    private(set) var kind: Kind
    /// Whether the user or the settings chose the sections. If not, a short list has no sections.
    private(set) var areSectionsChosen: Bool
    /// The layout of the contact sheet in the last frame.
    private var sheet: SheetLayout?
    private let context: ScreenContext

    /// Shorter lists have no sections by default, because titles take space.
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
    func hasSections(_ results: FetchedResults) -> Bool {
        guard areSectionsChosen || results.count > Self.sectionedCount else { return false }
        return results.section(at: 0).map { $0.range.upperBound < results.count } ?? false
    }

    /// Returns the next way to divide the list: by years, months, days, or not at all.
    ///
    /// Returns nil if the command only made the sections of a short list visible.
    mutating func nextSections(after rule: SectionRule, _ results: FetchedResults) -> SectionRule? {
        let hadSections = hasSections(results)
        areSectionsChosen = true
        guard hadSections == hasSections(results) else { return nil }
        let rules: [SectionRule] = [.year, .month, .day, .none]
        return rules[((rules.firstIndex(of: rule) ?? 0) + 1) % rules.count]
    }

    /// Returns the division of the photos into lines, as in the last frame.
    func lines(_ results: FetchedResults, count: Int) -> ListLines {
        let hasSections = hasSections(results)
        return ListLines(
            count: count, columns: isSheet ? sheet?.columns ?? 1 : 1, hasTitles: hasSections
        ) { hasSections ? results.section(at: $0)?.range : nil }
    }

    // MARK: - Drawing

    /// Draws the visible photos, and records the areas where they are.
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
            in: rest.size, wantedHeight: context.settings.rowHeight, theme: context.theme,
            capabilities: context.capabilities)
        let lines = lines(content.results, count: scroll.count)
        if lines.hasTitles {
            scroll.layOut(lines, rows: rest.size.rows, height: row.height)
        } else {
            scroll.setVisible(rest.size.rows / row.height)
        }
        let photos = (try? content.results.photos(in: scroll.window)) ?? []
        var orders: [PictureOrder] = []
        for (index, photo) in zip(scroll.window, photos) {
            if lines.hasTitles {
                drawTitle(above: index, isFirst: index == scroll.first, content.results, in: &surface, &rest)
            }
            let line = rest.takeTop(row.height)
            scroll.setFrame(line, of: index)
            guard let photo else { continue }
            row.draw(
                photo, thumbnail(of: photo, content, row.thumbnailSize, &orders), matches: content.matches(photo.name),
                badges: badges(of: photo, content), isSelected: photo.key == content.selection, in: &surface,
                frame: line)
        }
        return (photos.compactMap { $0?.key }, orders)
    }

    private mutating func drawSheet(
        _ content: Content, _ scroll: inout ListScroll, in surface: inout Surface, _ frame: Rect
    ) -> Drawn {
        var rest = frame
        // Reserves the bar's column even without a bar, so that picture sizes do not depend on it.
        _ = rest.takeRight(1)
        let layout = SheetLayout(
            in: rest.size, hasTitles: hasSections(content.results), cellAspect: context.capabilities.cellAspect)
        sheet = layout
        let lines = lines(content.results, count: scroll.count)
        scroll.layOut(lines, rows: rest.size.rows, height: layout.cell.rows)
        let photos = (try? content.results.photos(in: scroll.window)) ?? []
        let cell = SheetCell(layout: layout, theme: context.theme, isPlain: !context.capabilities.unicode)
        var orders: [PictureOrder] = []
        var line = 0..<0
        var frames: [Rect] = []
        for (index, photo) in zip(scroll.window, photos) {
            if index >= line.upperBound {
                line = lines.line(of: index)
                if lines.hasTitles {
                    drawTitle(above: index, isFirst: index == scroll.first, content.results, in: &surface, &rest)
                }
                frames = layout.frames(in: rest.takeTop(layout.cell.rows))
            }
            let frame = frames[index - line.lowerBound]
            scroll.setFrame(frame, of: index)
            guard let photo else { continue }
            cell.draw(
                photo, thumbnail(of: photo, content, layout.picture, &orders), matches: content.matches(photo.name),
                badges: badges(of: photo, content), isSelected: photo.key == content.selection, in: &surface,
                frame: frame)
        }
        return (photos.compactMap { $0?.key }, orders)
    }

    /// Draws the title of a section above its first photo or above the first visible photo.
    private func drawTitle(
        above index: Int, isFirst: Bool, _ results: FetchedResults, in surface: inout Surface, _ rest: inout Rect
    ) {
        guard let section = results.section(at: index), section.range.lowerBound == index || isFirst else { return }
        let title = SectionTitle(
            section: section, rule: results.sectionRule, isCounted: results.isComplete, theme: context.theme)
        title.draw(in: &surface, rest.takeTop(1))
    }

    private func badges(of photo: Photo, _ content: Content) -> [PhotoBadge] {
        PhotoBadge.badges(
            of: photo, isMarked: content.marks.contains(photo.key), isNew: content.opened.isNew(photo.key))
    }

    /// Requests a photo's thumbnail. Returns the thumbnail if it is already drawn.
    private func thumbnail(
        of photo: Photo, _ content: Content, _ size: Size, _ orders: inout [PictureOrder]
    ) -> DrawnPicture? {
        guard photo.thumbnail.held != nil || photo.original.held != nil, !size.isEmpty else { return nil }
        func order(_ style: DrawingStyle) -> PictureOrder {
            PictureOrder.thumbnail(of: photo, in: content.results.cache.id, size: size, style: style)
        }
        let wanted = order(context.drawingStyle)
        orders.append(wanted)
        return context.pipeline.picture(wanted) ?? context.formerStyle.flatMap { context.pipeline.picture(order($0)) }
    }
}

/// The line above the photos of a day, a month or a year.
@MainActor
struct SectionTitle {
    let section: PhotoSection
    let rule: SectionRule
    /// Whether the title shows the number of photos, which is known when the list is complete.
    let isCounted: Bool
    let theme: Theme

    /// The date in the user's locale, such as `2006`, `July 2006` or `Sunday 30 July 2006`.
    var text: String {
        switch rule {
        case .none: ""
        case .day: DateText.day(section.start)
        case .month: DateText.month(section.start)
        case .year: "\(section.start.year)"
        }
    }

    func draw(in surface: inout Surface, _ line: Rect) {
        var rest = line
        _ = rest.takeLeft(1)
        _ = rest.takeRight(1)
        let count = isCounted ? CountText.text(section.range.count, "photo") : ""
        _ = rest.takeLeft(surface.write(text.truncated(toWidth: rest.size.columns), in: rest, style: theme.section))
        guard rest.size.columns >= count.displayWidth + 4 else { return }
        surface.write(count, in: rest.takeRight(count.displayWidth), style: theme.detail)
        let rule = theme.signs.rule(rest.size.columns - 2)
        _ = rest.takeLeft(1)
        surface.write(rule, in: rest, style: theme.detail)
    }
}
