import Cells
import Model
import Pixels

/// How a photo is looked at: how large, which part of it, and which side up.
///
///     var view = Viewport(room: Size(columns: 80, rows: 22), style: style)
///     view.zoomIn(around: mouse.position)
///     view.pan(columns: 10, rows: 0)
///     let order = view.order(.picture(gallery, key, .original), edition: 3)
///
/// At first the whole photo fits the room, and is never larger than it is. Then it can be as large as one likes.
public struct Viewport: Hashable, Sendable {
    /// How large a photo is shown.
    public enum Zoom: Hashable, Sendable {
        /// All of it, as large as the room lets it be.
        case fit
        /// As much of it as fills the room, enlarged if it takes that.
        case fill
        /// So many of the screen's pixels for each of the photo's.
        case scale(Double)
    }

    /// The room there is.
    public var room: Size { didSet { keepInside() } }
    /// How it is drawn.
    public var style: DrawingStyle { didSet { keepSize(oldValue) } }
    /// How large.
    public private(set) var zoom = Zoom.fit
    /// Quarters by which the photo is turned clockwise, from 0 to 3.
    public private(set) var turns = 0
    /// The photo's size, upright, once it is known.
    private var photo: PixelSize?
    /// The place of the photo that is in the middle of the room, in fractions of its sides, as it is seen.
    private var centre = Viewport.middle

    /// The steps of zooming in and out.
    static let step = 1.5
    /// A photo's pixel is never larger than this many of the screen's.
    static let largest = 16.0

    private static let middle = (x: 0.5, y: 0.5)

    /// Looks at all of a photo, or at what of it fills the room.
    public init(room: Size, style: DrawingStyle, zoom: Zoom = .fit, turns: Int = 0) {
        self.room = room
        self.style = style
        self.zoom = zoom
        self.turns = turns & 3
    }

    /// Takes in how large the photo is.
    public mutating func notePhoto(width: Int, height: Int) {
        photo = PixelSize(width: max(1, width), height: max(1, height))
        keepInside()
    }

    /// Makes the photo larger. What is at a place of the room stays there; without one, what is in the middle.
    public mutating func zoomIn(around place: Point? = nil) { setScale(scale * Self.step, around: place) }

    /// Makes the photo smaller, down to where all of it fits.
    public mutating func zoomOut(around place: Point? = nil) { setScale(scale / Self.step, around: place) }

    /// Shows one of the screen's pixels for each of the photo's.
    public mutating func zoomToActualSize(around place: Point? = nil) { setScale(1, around: place) }

    /// Shows all of the photo.
    public mutating func zoomToFit() {
        zoom = .fit
        centre = Self.middle
    }

    /// Fills the room with the photo, with its middle at first.
    public mutating func zoomToFill() {
        zoom = .fill
        centre = Self.middle
    }

    /// Turns the photo by so many quarters, clockwise. What is in the middle of the room stays there.
    public mutating func turn(by quarters: Int) {
        for _ in 0..<(quarters & 3) { centre = (x: 1 - centre.y, y: centre.x) }
        turns = (turns + quarters) & 3
        keepInside()
    }

    /// Moves what is shown by that many cells: to the right and down, where they are positive.
    public mutating func pan(columns: Int, rows: Int) {
        guard zoom != .fit, photo != nil else { return }
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
        // What is ordered before the photo's size is known is what is ordered afterwards: a neighbour that is drawn already
        // is not drawn again when somebody comes to it.
        let fills = zoom == .fill && centre == Self.middle
        let shown = shownFraction
        let region =
            zoom == .fit || fills
            ? .whole
            : UnitRect(
                x: max(0, min(1 - shown.width, centre.x - shown.width / 2)),
                y: max(0, min(1 - shown.height, centre.y - shown.height / 2)),
                width: shown.width, height: shown.height)
        return PictureOrder(
            subject, edition: edition, room: room, style: style, region: region ?? .whole, turns: turns, fills: fills,
            enlarges: zoom != .fit)
    }

    // MARK: -

    /// The photo's sides as it is seen.
    private var seen: PixelSize? { turns.isMultiple(of: 2) ? photo : photo?.turned }

    /// The screen's pixels that one of the photo's is high.
    private var scale: Double {
        switch zoom {
        case .scale(let scale): scale
        case .fit: fittingScale
        case .fill: fillingScale
        }
    }

    /// At which all of the photo fits; never above its own size.
    private var fittingScale: Double {
        let ratios = ratios
        return min(1, ratios.width, ratios.height)
    }

    /// At which the photo fills the room.
    private var fillingScale: Double {
        let ratios = ratios
        return max(ratios.width, ratios.height)
    }

    /// How many times the photo fits side by side, and one above the other.
    private var ratios: (width: Double, height: Double) {
        guard let seen else { return (1, 1) }
        let screen = screenSize
        return (screen.width / Double(seen.width), screen.height / Double(seen.height))
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
        let (ratios, scale) = (ratios, scale)
        return (min(1, ratios.width / scale), min(1, ratios.height / scale))
    }

    /// What is looked at stays as large as it was when its pixels become others: a terminal may say late that it takes them.
    private mutating func keepSize(_ before: DrawingStyle) {
        let (old, new) = (before.pixelsPerCell.rows, style.pixelsPerCell.rows)
        if case .scale(let scale) = zoom, old != new {
            zoom = .scale(min(Self.largest, scale * Double(new) / Double(old)))
        }
        keepInside()
    }

    private mutating func setScale(_ wanted: Double, around place: Point?) {
        guard photo != nil else { return }
        guard wanted > fittingScale * 1.001 else { return zoomToFit() }
        // How far the place is from the middle, in rooms; and how many rooms the photo is wide and high, before and after.
        let distance = place.map { place in
            (
                x: (Double(place.column) + 0.5) / Double(max(1, room.columns)) - 0.5,
                y: (Double(place.row) + 0.5) / Double(max(1, room.rows)) - 0.5
            )
        }
        let (before, ratios) = (scale, ratios)
        zoom = .scale(min(Self.largest, wanted))
        if let distance {
            // Beside the photo it is its edge that stays.
            let x = max(0, min(1, centre.x + distance.x * ratios.width / before))
            let y = max(0, min(1, centre.y + distance.y * ratios.height / before))
            centre = (x - distance.x * ratios.width / scale, y - distance.y * ratios.height / scale)
        }
        keepInside()
    }

    /// What is shown never reaches beyond the photo, and is no smaller than what fits.
    private mutating func keepInside() {
        switch zoom {
        case .fit: return
        case .fill: break
        case .scale(let scale): guard scale > fittingScale else { return zoomToFit() }
        }
        let shown = shownFraction
        centre.x = max(shown.width / 2, min(1 - shown.width / 2, centre.x))
        centre.y = max(shown.height / 2, min(1 - shown.height / 2, centre.y))
    }

    /// Two viewports are the same if they show the same.
    public static func == (left: Viewport, right: Viewport) -> Bool {
        left.room == right.room && left.style == right.style && left.zoom == right.zoom && left.turns == right.turns
            && left.photo == right.photo && left.centre == right.centre
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(room)
        hasher.combine(style)
        hasher.combine(zoom)
    }
}
