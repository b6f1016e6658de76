import Cells
import Model
import Pixels

/// How a photo is looked at: how large, and which part of it.
///
///     var view = Viewport(room: Size(columns: 80, rows: 22), style: style)
///     view.zoomIn()
///     view.pan(columns: 10, rows: 0)
///     let order = view.order(.picture(gallery, key, .photo), edition: 3)
///
/// At first the whole photo fits the room, and is never larger than it is. Then it can be as large as one likes.
public struct Viewport: Hashable, Sendable {
    /// How large a photo is shown.
    public enum Zoom: Hashable, Sendable {
        /// All of it, as large as the room lets it be.
        case fit
        /// So many of the screen's pixels for each of the photo's.
        case scale(Double)
    }

    /// The room there is.
    public var room: Size { didSet { keepInside() } }
    /// How it is drawn.
    public var style: DrawingStyle { didSet { keepSize(oldValue) } }
    /// How large.
    public private(set) var zoom = Zoom.fit
    /// The photo's size, once it is known.
    private var photo: PixelSize?
    /// The place of the photo that is in the middle of the room, in fractions of its sides.
    private var centre = (x: 0.5, y: 0.5)

    /// The steps of zooming in and out.
    static let step = 1.5
    /// A photo's pixel is never larger than this many of the screen's.
    static let largest = 16.0

    /// Looks at all of a photo.
    public init(room: Size, style: DrawingStyle) {
        self.room = room
        self.style = style
    }

    /// Takes in how large the photo is.
    public mutating func notePhoto(width: Int, height: Int) {
        photo = PixelSize(width: max(1, width), height: max(1, height))
        keepInside()
    }

    /// Makes the photo larger.
    public mutating func zoomIn() { setScale(scale * Self.step) }

    /// Makes the photo smaller, down to where all of it fits.
    public mutating func zoomOut() { setScale(scale / Self.step) }

    /// Shows one of the screen's pixels for each of the photo's.
    public mutating func zoomToActualSize() { setScale(1) }

    /// Shows all of the photo.
    public mutating func zoomToFit() {
        zoom = .fit
        centre = (0.5, 0.5)
    }

    /// Moves what is shown by that many cells: to the right and down, where they are positive.
    public mutating func pan(columns: Int, rows: Int) {
        guard case .scale = zoom, photo != nil else { return }
        let shown = shownFraction
        centre.x += Double(columns) / Double(max(1, room.columns)) * shown.width
        centre.y += Double(rows) / Double(max(1, room.rows)) * shown.height
        keepInside()
    }

    /// How large the photo is shown now, in percent of its own size; nil while that is not known.
    public var percent: Int? {
        photo == nil ? nil : Int((scale * 100).rounded())
    }

    /// Orders what is to be seen of a photo.
    public func order(_ subject: Wish.Subject, edition: Int) -> PictureOrder {
        let shown = shownFraction
        let region =
            zoom == .fit
            ? .whole
            : UnitRect(
                x: max(0, min(1 - shown.width, centre.x - shown.width / 2)),
                y: max(0, min(1 - shown.height, centre.y - shown.height / 2)),
                width: shown.width, height: shown.height)
        return PictureOrder(
            subject, edition: edition, room: room, style: style, region: region ?? .whole, fills: false,
            enlarges: zoom != .fit)
    }

    // MARK: -

    /// The screen's pixels that one of the photo's is high.
    private var scale: Double {
        if case .scale(let scale) = zoom { return scale }
        return fittingScale
    }

    /// At which all of the photo fits; never above its own size.
    private var fittingScale: Double {
        guard let photo else { return 1 }
        let screen = screenSize
        return min(1, screen.width / Double(photo.width), screen.height / Double(photo.height))
    }

    /// The room in the screen's pixels, as high as those of the drawing and as wide as they would be if they were square.
    private var screenSize: (width: Double, height: Double) {
        let pixels = style.pixelsPerCell
        return (
            Double(room.columns * pixels.columns) * style.pixelAspect, Double(room.rows * pixels.rows)
        )
    }

    /// Which part of the photo's sides the room shows.
    private var shownFraction: (width: Double, height: Double) {
        guard let photo else { return (1, 1) }
        let screen = screenSize
        return (
            min(1, screen.width / (Double(photo.width) * scale)), min(1, screen.height / (Double(photo.height) * scale))
        )
    }

    /// What is looked at stays as large as it was when its pixels become others: a terminal may say late that it takes them.
    private mutating func keepSize(_ before: DrawingStyle) {
        let (old, new) = (before.pixelsPerCell.rows, style.pixelsPerCell.rows)
        if case .scale(let scale) = zoom, old != new {
            zoom = .scale(min(Self.largest, scale * Double(new) / Double(old)))
        }
        keepInside()
    }

    private mutating func setScale(_ wanted: Double) {
        guard photo != nil else { return }
        guard wanted > fittingScale * 1.001 else { return zoomToFit() }
        zoom = .scale(min(Self.largest, wanted))
        keepInside()
    }

    /// What is shown never reaches beyond the photo, and is no smaller than what fits.
    private mutating func keepInside() {
        guard case .scale(let scale) = zoom else { return }
        guard scale > fittingScale else { return zoomToFit() }
        let shown = shownFraction
        centre.x = max(shown.width / 2, min(1 - shown.width / 2, centre.x))
        centre.y = max(shown.height / 2, min(1 - shown.height / 2, centre.y))
    }

    /// Two viewports are the same if they show the same.
    public static func == (left: Viewport, right: Viewport) -> Bool {
        left.room == right.room && left.style == right.style && left.zoom == right.zoom && left.photo == right.photo
            && left.centre == right.centre
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(room)
        hasher.combine(style)
        hasher.combine(zoom)
    }
}
