import Pixels
import Testing

struct PictureLayoutTests {
    struct Example: Sendable, CustomTestStringConvertible {
        var source: PixelSize
        var box: PixelSize
        var aspect = 1.0
        var fitting = DecodeRequest.Fitting.inside
        var enlarges = false
        var output: PixelSize
        var region = [0.0, 0, 1, 1]

        var testDescription: String { "\(source) in \(box)" }

        var request: DecodeRequest {
            var request = DecodeRequest(box: box)
            request.pixelAspect = aspect
            request.fitting = fitting
            request.enlarges = enlarges
            return request
        }
    }

    private static func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }

    static let examples: [Example] = [
        Example(source: size(4000, 3000), box: size(80, 80), output: size(80, 60)),
        Example(source: size(3000, 4000), box: size(80, 80), output: size(60, 80)),
        // Half and third cells are not square: the picture keeps its proportions on the screen.
        Example(source: size(4000, 3000), box: size(80, 80), aspect: 2, output: size(53, 80)),
        Example(source: size(4000, 3000), box: size(80, 80), aspect: 0.5, output: size(80, 30)),
        // A box that is far too large.
        Example(source: size(40, 30), box: size(800, 800), output: size(40, 30)),
        Example(source: size(40, 30), box: size(800, 800), enlarges: true, output: size(800, 600)),
        Example(source: size(40, 30), box: size(800, 800), aspect: 0.5, output: size(80, 30)),
        Example(source: size(40, 30), box: size(800, 800), aspect: 2, output: size(40, 60)),
        // Extreme proportions keep at least one pixel.
        Example(source: size(65_500, 1), box: size(80, 80), output: size(80, 1)),
        Example(source: size(1, 65_500), box: size(80, 80), output: size(1, 80)),
        Example(source: size(1, 1), box: size(1, 1), output: size(1, 1)),
        // Covering cuts off both sides equally.
        Example(
            source: size(400, 300), box: size(60, 60), fitting: .cover, output: size(60, 60),
            region: [0.125, 0, 0.75, 1]),
        Example(
            source: size(300, 400), box: size(60, 60), fitting: .cover, output: size(60, 60),
            region: [0, 0.125, 1, 0.75]),
        Example(
            source: size(400, 300), box: size(60, 60), aspect: 0.5, fitting: .cover, output: size(60, 60),
            region: [0.3125, 0, 0.375, 1]),
        // A picture too small to cover the box covers as much as it can.
        Example(
            source: size(100, 50), box: size(80, 80), fitting: .cover, output: size(80, 50), region: [0.1, 0, 0.8, 1]),
        Example(
            source: size(100, 50), box: size(80, 80), fitting: .cover, enlarges: true, output: size(80, 80),
            region: [0.25, 0, 0.5, 1]),
    ]

    @Test(arguments: examples)
    func computesSizeAndRegion(example: Example) {
        let layout = PictureLayout(of: example.source, for: example.request)
        #expect(layout.output == example.output)
        let region = [layout.region.x, layout.region.y, layout.region.width, layout.region.height]
        for (got, expected) in zip(region, example.region) { #expect(abs(got - expected) < 1e-12) }
    }

    @Test func laysOutARegion() throws {
        var request = DecodeRequest(box: PixelSize(width: 100, height: 100))
        request.region = try #require(UnitRect(x: 0.5, y: 0.5, width: 0.25, height: 0.5))
        let layout = PictureLayout(of: PixelSize(width: 4000, height: 1000), for: request)
        #expect(layout.output == PixelSize(width: 100, height: 50))
        #expect(layout.region == request.region)
    }

    @Test func clampsTheBox() {
        var request = DecodeRequest(box: PixelSize(width: 0, height: .max))
        #expect(request.box == PixelSize(width: 1, height: DecodeRequest.largestSide))
        request.box.width = -5
        #expect(request.box.width == 1)
        request.pixelAspect = .nan
        #expect(request.pixelAspect == 1)
    }
}
