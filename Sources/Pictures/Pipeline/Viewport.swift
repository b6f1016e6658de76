import Cells
import Model
import Pixels

/// The view of a photo: its zoom, visible part and rotation.
///
///     var view = Viewport(size: Size(columns: 80, rows: 22), style: style)
///     view.zoomIn(around: mouse.position)
///     view.pan(columns: 10, rows: 0)
///     let order = view.order(.picture(gallery, key, .original), edition: 3)
///
/// At first, the view shows the whole photo, not enlarged.
public struct Viewport: Hashable, Sendable {
    /// The rule for the size at which a view shows a photo.
    public enum Zoom: Hashable, Sendable {
        /// The whole photo is visible, as large as fits, but not enlarged.
        case fit
        /// The photo covers all cells, enlarged if necessary.
        case fill
        /// The view shows this many screen pixels per photo pixel.
        case scale(Double)
    }

    /// The number of cells that the view covers.
    public var size: Size { didSet { keepInside() } }
    /// The style in which the photo is drawn.
    public var style: DrawingStyle { didSet { keepSize(oldValue) } }
    /// The current zoom.
    public private(set) var zoom = Zoom.fit
    /// The number of clockwise quarter turns, 0 to 3.
    public private(set) var turns = 0
    /// The size of the upright photo; nil until it is known.
    private var photo: PixelSize?
    /// The point of the photo that is in the middle of the view, in fractions.
    private var centre = Viewport.middle

    /// The factor by which one zoom step enlarges or shrinks.
    static let step = 1.5
    /// The largest scale, in screen pixels per photo pixel. Only a photo that fills the view may be larger.
    static let largest = 16.0

    private static let middle = (x: 0.5, y: 0.5)

    /// Creates a view of a photo with a zoom and clockwise quarter turns.
    public init(size: Size, style: DrawingStyle, zoom: Zoom = .fit, turns: Int = 0) {
        self.size = size
        self.style = style
        self.zoom = zoom
        self.turns = turns & 3
    }

    /// Sets the photo's size in its own pixels.
    public mutating func setPhotoSize(width: Int, height: Int) {
        photo = PixelSize(width: max(1, width), height: max(1, height))
        keepInside()
    }

    /// Enlarges the photo. The given cell stays in place; without a cell, the middle stays.
    public mutating func zoomIn(around cell: Point? = nil) { setScale(scale * Self.step, around: cell) }

    /// Shrinks the photo, at most until all of it fits.
    public mutating func zoomOut(around cell: Point? = nil) { setScale(scale / Self.step, around: cell) }

    /// Shows one screen pixel per photo pixel.
    public mutating func zoomToActualSize(around cell: Point? = nil) { setScale(1, around: cell) }

    /// Shows the whole photo.
    public mutating func zoomToFit() {
        zoom = .fit
        centre = Self.middle
    }

    /// Covers all cells with the middle of the photo.
    public mutating func zoomToFill() {
        zoom = .fill
        centre = Self.middle
    }

    /// Rotates the photo clockwise by quarter turns. The middle stays in place.
    public mutating func turn(by quarters: Int) {
        for _ in 0..<(quarters & 3) { centre = (x: 1 - centre.y, y: centre.x) }
        turns = (turns + quarters) & 3
        keepInside()
    }

    /// Moves the view by cells. Positive numbers move the view right and down.
    public mutating func pan(columns: Int, rows: Int) {
        guard zoom != .fit, photo != nil else { return }
        let shown = shownFraction
        centre.x += Double(columns) / Double(max(1, size.columns)) * shown.width
        centre.y += Double(rows) / Double(max(1, size.rows)) * shown.height
        keepInside()
    }

    /// Moves the view by eighths of its size. Positive numbers move the view right and down.
    public mutating func step(columns: Int, rows: Int) {
        pan(columns: columns * max(1, size.columns / 8), rows: rows * max(1, size.rows / 8))
    }

    /// Whether the whole photo is visible. Before the photo's size is known, only a fitted photo counts as visible.
    public var isWhole: Bool {
        let shown = shownFraction
        return zoom == .fit || photo != nil && shown.width >= 1 && shown.height >= 1
    }

    /// The current scale in percent; nil until the photo's size is known.
    public var percent: Int? {
        photo == nil ? nil : Int((scale * 100).rounded())
    }

    /// Returns the order to draw the visible part.
    public func order(_ subject: Wish.Subject, edition: Int) -> PictureOrder {
        // The order must be the same before and after the photo's size is known. Otherwise, a photo drawn in advance
        // would be drawn again when the user reaches it.
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
            subject, edition: edition, size: drawnSize, style: style, region: region ?? .whole, turns: turns,
            fills: fills, enlarges: zoom != .fit)
    }

    // MARK: -

    /// The size of the rotated photo.
    private var seen: PixelSize? { turns.isMultiple(of: 2) ? photo : photo?.turned }

    /// The number of screen pixels per photo pixel, vertically.
    private var scale: Double {
        switch zoom {
        case .scale(let scale): scale
        case .fit: fittingScale
        case .fill: fillingScale
        }
    }

    /// The scale at which the whole photo fits; at most 1.
    private var fittingScale: Double {
        let ratios = ratios
        return min(1, ratios.width, ratios.height)
    }

    /// The scale at which the photo covers all cells.
    private var fillingScale: Double {
        let ratios = ratios
        return max(ratios.width, ratios.height)
    }

    /// The scale up to which the user can zoom in.
    private var largestScale: Double { max(Self.largest, fillingScale) }

    /// The width and height of the view, divided by those of the photo.
    private var ratios: (width: Double, height: Double) {
        guard let seen else { return (1, 1) }
        let screen = screenSize
        return (screen.width / Double(seen.width), screen.height / Double(seen.height))
    }

    /// The size of the view in screen pixels, with the width converted to square pixels.
    private var screenSize: (width: Double, height: Double) {
        let pixels = style.pixelsPerCell
        return (
            Double(size.columns * pixels.columns) * style.pixelAspect, Double(size.rows * pixels.rows)
        )
    }

    /// The largest size of the drawing. An enlarged photo that is smaller than the view covers only a part of the view.
    private var drawnSize: Size {
        guard case .scale(let scale) = zoom, let seen, isWhole else { return size }
        let pixels = style.pixelsPerCell
        let columns = Double(seen.width) * scale / style.pixelAspect / Double(pixels.columns)
        let rows = Double(seen.height) * scale / Double(pixels.rows)
        return Size(
            columns: Int(min(Double(size.columns), columns.rounded(.up))),
            rows: Int(min(Double(size.rows), rows.rounded(.up))))
    }

    /// The visible fractions of the photo's sides.
    private var shownFraction: (width: Double, height: Double) {
        let (ratios, scale) = (ratios, scale)
        return (min(1, ratios.width / scale), min(1, ratios.height / scale))
    }

    /// Keeps the visible size if the number of pixels per cell changes. A terminal may report late that it supports
    /// pixels.
    private mutating func keepSize(_ before: DrawingStyle) {
        let (old, new) = (before.pixelsPerCell.rows, style.pixelsPerCell.rows)
        if case .scale(let scale) = zoom, old != new {
            zoom = .scale(min(largestScale, scale * Double(new) / Double(old)))
        }
        keepInside()
    }

    private mutating func setScale(_ wanted: Double, around cell: Point?) {
        guard photo != nil else { return }
        guard wanted > fittingScale * 1.001 else { return zoomToFit() }
        // The distance of the cell from the middle, as a fraction of the view.
        let distance = cell.map { cell in
            (
                x: (Double(cell.column) + 0.5) / Double(max(1, size.columns)) - 0.5,
                y: (Double(cell.row) + 0.5) / Double(max(1, size.rows)) - 0.5
            )
        }
        let (before, ratios) = (scale, ratios)
        // A smaller window may have left the scale above the limit. Zooming in must not shrink the photo.
        zoom = .scale(min(max(largestScale, before), wanted))
        if let distance {
            // For a cell beside the photo, the photo's edge stays in place.
            let x = max(0, min(1, centre.x + distance.x * ratios.width / before))
            let y = max(0, min(1, centre.y + distance.y * ratios.height / before))
            centre = (x - distance.x * ratios.width / scale, y - distance.y * ratios.height / scale)
        }
        keepInside()
    }

    /// Keeps the view inside the photo. Shows the whole photo if the scale is too small.
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

    /// Compares all values that affect the visible part.
    public static func == (left: Viewport, right: Viewport) -> Bool {
        left.size == right.size && left.style == right.style && left.zoom == right.zoom && left.turns == right.turns
            && left.photo == right.photo && left.centre == right.centre
    }

    /// Hashes some of the values that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(size)
        hasher.combine(style)
        hasher.combine(zoom)
    }
}
