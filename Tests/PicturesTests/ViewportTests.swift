import Cells
import Model
import Pixels
import Testing

@testable import Pictures

@Suite("BEHAVIOURS 3.5: fit, zoom, pan") struct ViewportTests {
    private let subject: Wish.Subject
    /// Cells are twice as high as wide, so half blocks are square.
    private let style = DrawingStyle(symbols: .half, colours: .full, cellAspect: 0.5)

    init() throws { subject = .list(GalleryID(try Address("http://example.org/"))) }

    private func view(_ width: Int, _ height: Int, columns: Int = 80, rows: Int = 40) -> Viewport {
        var view = Viewport(size: Size(columns: columns, rows: rows), style: style)
        view.setPhotoSize(width: width, height: height)
        return view
    }

    private func region(_ view: Viewport) -> UnitRect { view.order(subject, edition: 1).region }

    @Test func fitsInitially() {
        var view = view(1600, 1200)
        #expect(view.zoom == .fit && region(view) == .whole && view.percent == 5)
        view.pan(columns: 10, rows: 10)
        #expect(region(view) == .whole)
        // A small photo is not enlarged.
        #expect(self.view(7, 5).percent == 100)
    }

    @Test func zoomsToActualSizeAndBeyond() {
        var view = view(1600, 1200)
        view.zoomToActualSize()
        #expect(view.percent == 100)
        // 80 of 1600 pixels, and 80 (two per cell) of 1200.
        #expect(abs(region(view).width - 0.05) < 1e-9 && abs(region(view).height - 80.0 / 1200) < 1e-9)
        #expect(abs(region(view).x - 0.475) < 1e-9)
        for _ in 0..<50 { view.zoomIn() }
        #expect(view.percent == 1600)
        for _ in 0..<50 { view.zoomOut() }
        #expect(view.zoom == .fit)
    }

    @Test func pansAndStaysInside() {
        var view = view(1600, 1200)
        view.zoomToActualSize()
        view.pan(columns: 8, rows: 0)
        #expect(abs(region(view).x - (0.475 + 0.005)) < 1e-9)
        for _ in 0..<1_000 { view.pan(columns: 80, rows: 40) }
        #expect(abs(region(view).x + region(view).width - 1) < 1e-9)
        #expect(abs(region(view).y + region(view).height - 1) < 1e-9)
        for _ in 0..<1_000 { view.pan(columns: -80, rows: -40) }
        #expect(region(view).x == 0 && region(view).y == 0)
    }

    @Test("BEHAVIOURS 3.5: a photo that covers the screen exceeds it on one side, and can be moved there")
    func fills() throws {
        var view = view(1600, 800)
        view.zoomToFill()
        // 80 high, so 160 wide, of which 80 are visible. Until it is moved, its order does not depend on the photo's
        // size.
        #expect(view.percent == 10 && view.zoom == .fill)
        let order = view.order(subject, edition: 1)
        #expect(order.fills && order.region == .whole)
        #expect(Viewport(size: view.size, style: style, zoom: .fill).order(subject, edition: 1) == order)
        view.pan(columns: 8, rows: 5)
        let moved = view.order(subject, edition: 1)
        #expect(!moved.fills && abs(moved.region.x - 0.3) < 1e-9 && abs(moved.region.width - 0.5) < 1e-9)
        #expect(moved.region.y == 0 && moved.region.height == 1)
        let layout = PictureLayout(of: PixelSize(width: 1600, height: 800), for: moved.request)
        #expect(layout.output == PixelSize(width: 80, height: 80))
        view.zoomToFit()
        #expect(region(view) == .whole && view.percent == 5)
        // A small photo is enlarged on request.
        var small = self.view(8, 4)
        small.zoomToFill()
        #expect(small.percent == 2000)
    }

    @Test("BEHAVIOURS 3.5: an enlarged photo can be wholly visible")
    func showsWholePhotos() {
        var view = view(40, 30)
        #expect(view.isWhole)
        view.zoomIn()
        #expect(view.zoom != .fit && view.isWhole)
        // The drawing has the size that the scale demands, not that of the view.
        func drawn(_ view: Viewport) -> PixelSize {
            PictureLayout(of: PixelSize(width: 40, height: 30), for: view.order(subject, edition: 1).request).output
        }
        #expect(view.percent == 150 && drawn(view) == PixelSize(width: 60, height: 45))
        view.turn(by: 1)
        #expect(drawn(view) == PixelSize(width: 45, height: 60))
        view.turn(by: -1)
        // 90 of 80 pixels.
        view.zoomIn()
        #expect(!view.isWhole)
        view.zoomToFill()
        #expect(!view.isWhole)
        var square = self.view(4, 4)
        square.zoomToFill()
        #expect(square.zoom == .fill && square.isWhole)
        // The size of the photo is unknown.
        #expect(Viewport(size: view.size, style: style).isWhole)
        #expect(!Viewport(size: view.size, style: style, zoom: .fill).isWhole)
    }

    @Test("Zooming in never shrinks a small photo that fills a large window")
    func zoomsInFromFilling() {
        var view = view(4, 4)
        view.zoomToFill()
        #expect(view.percent == 2000)
        view.zoomIn()
        #expect(view.percent == 2000)
        view.zoomOut()
        #expect(view.percent == 1333)
        for _ in 0..<3 { view.zoomIn() }
        #expect(view.percent == 2000)
        // A smaller window keeps the scale.
        view.size = Size(columns: 40, rows: 20)
        view.zoomIn(around: Point(column: 3, row: 3))
        #expect(view.percent == 2000)
        // With eight times as many pixels per cell, the same part stays visible.
        view = self.view(4, 4)
        view.zoomToFill()
        view.zoomIn()
        var pixelStyle = style
        pixelStyle.pixels = PixelCapabilities(.kitty, cellWidth: 8, cellHeight: 16)
        view.style = pixelStyle
        #expect(view.percent == 16_000 && region(view) == .whole)
    }

    @Test("BEHAVIOURS 3.5: zooming keeps the point under the mouse in place")
    func zoomsAroundAPoint() {
        /// The point of the photo at a cell.
        func photoPoint(_ view: Viewport, _ point: Point) -> (x: Double, y: Double) {
            let region = region(view)
            return (
                region.x + region.width * (Double(point.column) + 0.5) / Double(view.size.columns),
                region.y + region.height * (Double(point.row) + 0.5) / Double(view.size.rows)
            )
        }
        var view = view(1600, 1600)
        for point in [Point(column: 10, row: 5), Point(column: 70, row: 33), Point(column: 40, row: 20)] {
            view.zoomToFit()
            for _ in 0..<6 {
                let before = photoPoint(view, point)
                view.zoomIn(around: point)
                let after = photoPoint(view, point)
                #expect(abs(before.x - after.x) < 1e-9 && abs(before.y - after.y) < 1e-9)
            }
            for _ in 0..<3 {
                let before = photoPoint(view, point)
                view.zoomOut(around: point)
                let after = photoPoint(view, point)
                #expect(abs(before.x - after.x) < 1e-9 && abs(before.y - after.y) < 1e-9)
            }
        }
        // Beside a narrow photo there is nothing; its edge is the nearest.
        var narrow = self.view(100, 1600)
        for _ in 0..<20 { narrow.zoomIn(around: Point(column: 0, row: 0)) }
        #expect(region(narrow).x < 0.02 && region(narrow).y < 0.02 && region(narrow).width < 0.1)
    }

    @Test("BEHAVIOURS 3.5: rotation keeps the visible part")
    func turns() throws {
        var view = view(1600, 800)
        view.turn(by: 1)
        let order = view.order(subject, edition: 1)
        #expect(order.turns == 1 && order.request.turns == 1 && order.region == .whole)
        #expect(PictureLayout(of: PixelSize(width: 1600, height: 800), for: order.request).output.height == 80)
        #expect(view.percent == 5)
        view.turn(by: -1)
        #expect(view == self.view(1600, 800))
        view.zoomToActualSize()
        view.pan(columns: 20, rows: -1_000)
        let (x, y) = (region(view).x + region(view).width / 2, region(view).y + region(view).height / 2)
        view.turn(by: 1)
        // The upper edge is now the right one.
        #expect(abs(region(view).x + region(view).width - 1) < 1e-9 && y < 0.5)
        #expect(abs(region(view).y + region(view).height / 2 - x) < 1e-9)
        view.turn(by: 3)
        #expect(abs(region(view).x + region(view).width / 2 - x) < 1e-9)
    }

    @Test func followsTheWindowsSize() {
        var view = view(160, 120)
        view.zoomToActualSize()
        #expect(view.zoom != .fit)
        view.size = Size(columns: 400, rows: 200)
        #expect(view.zoom == .fit && region(view) == .whole)
        view.size = Size(columns: 1, rows: 1)
        view.zoomIn()
        #expect(region(view).width > 0)
    }

    @Test func everyViewIsInsideThePhotoAndHasTheSizeOfItsScale() {
        var state: UInt64 = 9
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<300 {
            let photo = PixelSize(width: 1 + random(5_000), height: 1 + random(5_000))
            var view = view(photo.width, photo.height, columns: 1 + random(200), rows: 1 + random(60))
            for _ in 0..<30 {
                switch random(9) {
                case 0: view.zoomIn()
                case 1: view.zoomOut()
                case 2: view.zoomToActualSize()
                case 6: view.zoomToFill()
                case 7: view.turn(by: random(4))
                case 8: view.zoomIn(around: Point(column: random(200), row: random(60)))
                case 3: view.size = Size(columns: 1 + random(200), rows: 1 + random(60))
                default: view.pan(columns: random(80) - 40, rows: random(40) - 20)
                }
                let rect = region(view)
                #expect(
                    rect.x >= 0 && rect.y >= 0 && rect.x + rect.width <= 1.000001 && rect.y + rect.height <= 1.000001)
                let order = view.order(subject, edition: 1)
                guard case .scale(let scale) = view.zoom, view.isWhole else {
                    #expect(order.size == view.size)
                    continue
                }
                // The drawing has the size that the scale demands, rounded up to cells of one column and two rows.
                let seen = view.turns.isMultiple(of: 2) ? photo : photo.turned
                let output = PictureLayout(of: photo, for: order.request).output
                #expect(abs(Double(output.width) - Double(seen.width) * scale) <= 1)
                #expect(abs(Double(output.height) - Double(seen.height) * scale) <= 2)
            }
        }
    }

    @Test func worksBeforeTheSizeIsKnown() {
        var view = Viewport(size: Size(columns: 80, rows: 24), style: style)
        #expect(view.percent == nil)
        view.zoomIn()
        view.zoomToActualSize()
        #expect(view.zoom == .fit)
    }

    /// With pixels, the scale is exact. The visible part stays when a terminal reports late that it supports pixels.
    @Test func actualSizeShowsOneScreenPixelPerPhotoPixel() {
        var pixelStyle = style
        pixelStyle.pixels = PixelCapabilities(.kitty, cellWidth: 8, cellHeight: 16)
        var view = Viewport(size: Size(columns: 80, rows: 40), style: pixelStyle)
        view.setPhotoSize(width: 1600, height: 1200)
        #expect(view.percent == 40)
        view.zoomToActualSize()
        #expect(abs(region(view).width - 0.4) < 1e-9 && abs(region(view).height - 640.0 / 1200) < 1e-9)
        #expect(view.order(subject, edition: 1).request.box == PixelSize(width: 640, height: 640))
        var late = self.view(1600, 1200)
        late.zoomIn()
        let before = region(late)
        late.style = pixelStyle
        #expect(abs(region(late).width - before.width) < 1e-9 && abs(region(late).x - before.x) < 1e-9)
    }
}
