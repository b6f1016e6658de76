import PictureTestSupport
import Pixels
import Testing

struct OrientationTests {
    /// Where a stored picture's row 0 and column 0 are seen, by EXIF 2.32.
    private static let seen: [(row0: String, column0: String)] = [
        ("top", "left"), ("top", "right"), ("bottom", "right"), ("bottom", "left"),
        ("left", "top"), ("right", "top"), ("right", "bottom"), ("left", "bottom"),
    ]

    @Test(arguments: Orientation.allCases)
    func turnsAsSpecified(orientation: Orientation) {
        let stored = PixelBuffer.noise(width: 5, height: 3)
        let upright = orientation.turned(stored)
        #expect(upright.size == orientation.turned(stored.size))
        let (row0, column0) = Self.seen[Int(orientation.rawValue) - 1]
        for x in 0..<stored.width {
            for y in 0..<stored.height {
                var point = (x: 0, y: 0)
                for (side, distance) in [(row0, y), (column0, x)] {
                    switch side {
                    case "top": point.y = distance
                    case "bottom": point.y = upright.height - 1 - distance
                    case "left": point.x = distance
                    default: point.x = upright.width - 1 - distance
                    }
                }
                #expect(upright.color(point.x, point.y) == stored.color(x, y))
            }
        }
    }

    @Test(arguments: Orientation.allCases)
    func mapsRegionsToTheStoredPicture(orientation: Orientation) throws {
        let stored = PixelBuffer.noise(width: 16, height: 8)
        let upright = orientation.turned(stored)
        let part = try #require(UnitRect(x: 0.25, y: 0.5, width: 0.5, height: 0.375))
        let seen = part.scaled(to: upright.size)
        let held = orientation.stored(part).scaled(to: stored.size)
        func crop(_ picture: PixelBuffer, _ rect: PixelRect) -> PixelBuffer {
            picture.cropped(
                Int(rect.x)..<Int(rect.x + rect.width), Int(rect.y)..<Int(rect.y + rect.height))
        }
        #expect(orientation.turned(crop(stored, held)) == crop(upright, seen))
    }

    @Test(arguments: [-1, 0, 1, 9, 10, 256, 65536, .max])
    func undefinedNumbersMeanUpright(number: Int) {
        #expect(Orientation(exif: number) == .upright)
    }

    @Test(arguments: Orientation.allCases, 0..<4)
    func addsQuarterTurns(orientation: Orientation, quarters: Int) {
        let stored = PixelBuffer.noise(width: 5, height: 3)
        var seen = orientation.turned(stored)
        for _ in 0..<quarters { seen = Orientation.turnedRight.turned(seen) }
        #expect(orientation.turned(by: quarters).turned(stored) == seen)
        #expect(orientation.turned(by: quarters - 4) == orientation.turned(by: quarters))
    }

    @Test func readsDefinedNumbers() {
        #expect((1...8).map { Int(Orientation(exif: $0).rawValue) } == Array(1...8))
    }
}
