import Cache
import Cells
import Concurrency
import Model
import Pictures
import Text

/// The preview pane beside a list, which shows the selected photo and its facts.
///
/// The pane shows another photo only when the selection has rested on that photo for a moment. The pane fetches
/// nothing. For a photo that is not cached, it shows the cached thumbnail.
@MainActor
final class PhotoPane {
    /// Called when the selection has rested on another photo.
    var onRest: () -> Void = {}

    private let context: ScreenContext
    private let rest: Debounce<PhotoKey>
    private var isWanted = true
    /// Whether the window was wide enough for the pane in the last frame.
    private var isRoomy = false
    /// The last drawn picture. It stays until the next photo has a picture, so that the pane does not go blank.
    private var shown: (key: PhotoKey, picture: DrawnPicture)?

    /// The time that the selection must rest on a photo before the pane shows the photo.
    static let restInterval = Duration.milliseconds(120)
    /// The least width of a window with a pane, in columns.
    static let leastWidth = 120

    init(_ context: ScreenContext) {
        self.context = context
        rest = Debounce(interval: Self.restInterval, wait: context.wait)
        rest.onChange = { [weak self] in self?.onRest() }
    }

    /// Shows or hides the pane. Returns a notice for the user if no pane is possible.
    func toggle() -> String? {
        guard !context.settings.plain else { return "Plain mode has no preview pane." }
        guard isRoomy else { return "The preview pane needs at least \(Self.leastWidth) columns." }
        isWanted.toggle()
        return nil
    }

    /// Takes the pane's space from the list's space. Returns nil if no pane is shown.
    func takeSpace(_ rest: inout Rect) -> Rect? {
        guard !context.settings.plain else { return nil }
        isRoomy = rest.size.columns >= Self.leastWidth
        guard isRoomy, isWanted else { return nil }
        return rest.takeRight(min(90, rest.size.columns * 2 / 5))
    }

    /// Draws the photo on which the selection rests. Returns requests for the pictures to draw, the most important
    /// first.
    ///
    /// - Parameter hasRule: whether a line separates the pane from the list.
    func draw(
        _ selection: PhotoKey?, of results: FetchedResults, _ reader: CacheReader, hasRule: Bool,
        in surface: inout Surface, _ frame: Rect
    ) -> [PictureOrder] {
        self.rest.set(selection)
        var rest = frame
        let rule = rest.takeLeft(1)
        if hasRule { context.theme.drawUprightRule(in: &surface, rule) }
        rest.trimSides()
        var report = rest.takeBottom(Self.reportLines(in: rest))
        _ = report.takeTop(1)
        guard let photo = self.rest.value.flatMap({ try? results.photo($0) }) else { return [] }
        let look = PhotoLook(gallery: results.cache.id)
        let view = Viewport(size: rest.size, style: context.drawingStyle)
        // The thumbnail of a cached photo is drawn sooner than the photo.
        var wanted = [look.order(of: photo, in: view), look.preview(of: photo, in: view)].compactMap { $0 }
        if wanted.first == wanted.last { wanted = Array(wanted.prefix(1)) }
        if let picture = wanted.lazy.compactMap({ self.context.pipeline.picture($0) }).first {
            shown = (photo.key, picture)
        } else if wanted.allSatisfy({ context.pipeline.failure($0) != nil }) {
            shown = nil
        }
        // The facts belong to the visible picture.
        let seen = shown.flatMap { try? results.photo($0.key) } ?? photo
        if seen.key != shown?.key { shown = nil }
        if let picture = shown?.picture {
            surface.draw(
                picture.cells, pixels: picture.pixels, at: rest.centred(picture.cells.size).origin, in: rest)
        } else {
            Placeholder.draw(seen, context.theme, in: &surface, rest)
        }
        return wanted.reversed() + drawReport(of: seen, look, reader, in: &surface, report)
    }

    /// Returns the number of lines for facts. It is the same for all photos, so that all pictures have one size.
    private static func reportLines(in frame: Rect) -> Int { min(14, frame.size.rows * 2 / 5) }

    /// Draws the facts about a photo. Returns the request to examine the photo's file, if that is needed.
    private func drawReport(
        of photo: Photo, _ look: PhotoLook, _ reader: CacheReader, in surface: inout Surface, _ frame: Rect
    ) -> [PictureOrder] {
        var rest = frame
        let kept = try? reader.metadata(of: photo.key)
        // Examine only a cached photo whose stored metadata are missing or outdated.
        let examination = PictureOrder.examination(of: photo, in: look.gallery)
        let isUnread = photo.original.held != nil && kept?.edition != photo.original.held
        let metadata = look.metadata(of: photo, kept, isUnread ? context.pipeline.examination(examination) : nil)
        if let (text, style) = PhotoRow.remark(photo, context.theme) {
            let line = rest.takeBottom(1)
            surface.write(text.truncated(toWidth: line.size.columns), in: line, style: style)
        }
        let report = PhotoReport(
            photo: photo, metadata: metadata, annotationsIn: reader, hasUnicode: context.capabilities.unicode)
        for line in report.facts(width: rest.size.columns).prefix(rest.size.rows) {
            PhotoReport.draw(line, in: &surface, rest.takeTop(1), context.theme)
        }
        return isUnread ? [examination] : []
    }
}
