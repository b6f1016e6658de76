import Testing

@testable import Painting

@Suite struct RasterTests {
    /// Two rows of three different pixels.
    private static let small: Raster = {
        var raster = Raster(width: 3, height: 2)
        for index in raster.bytes.indices { raster.bytes[index] = UInt8(index * 10) }
        return raster
    }()

    /// Returns the picture as a viewer shows it, from EXIF's positions of row 0 and column 0.
    private func shown(_ stored: Raster, _ orientation: Orientation) -> Raster {
        let swaps = orientation.rawValue >= 5
        var seen = Raster(
            width: swaps ? stored.height : stored.width, height: swaps ? stored.width : stored.height)
        let rowZeroAtEnd = [3, 4, 6, 7].contains(orientation.rawValue)
        let columnZeroAtEnd = [2, 3, 7, 8].contains(orientation.rawValue)
        for row in 0..<stored.height {
            for column in 0..<stored.width {
                let r = rowZeroAtEnd ? stored.height - 1 - row : row
                let c = columnZeroAtEnd ? stored.width - 1 - column : column
                let (x, y) = swaps ? (r, c) : (c, r)
                for channel in 0..<3 {
                    seen.bytes[(y * seen.width + x) * 3 + channel] =
                        stored.bytes[(row * stored.width + column) * 3 + channel]
                }
            }
        }
        return seen
    }

    @Test(arguments: Orientation.allCases)
    func storedPicturesAreSeenUpright(orientation: Orientation) {
        let stored = orientation.stored(Self.small)
        #expect((stored.width == 2) == orientation.swapsSides)
        #expect(shown(stored, orientation) == Self.small)
    }

    @Test func reductionAveragesLightNotNumbers() {
        var board = Raster(width: 64, height: 64)
        for index in board.bytes.indices where (index / 3 % 64 + index / 192).isMultiple(of: 2) {
            board.bytes[index] = 255
        }
        let small = board.reduced(longerSide: 32)
        #expect(small.width == 32 && small.height == 32)
        // Half of the light is 188 in sRGB, far more than half of 255.
        #expect(small.bytes.allSatisfy { $0 == 188 })
    }

    @Test func reductionKeepsProportions() {
        let wide = Raster(width: 4000, height: 120).reduced(longerSide: 320)
        #expect(wide.width == 320 && wide.height == 10)
        #expect(Raster(width: 7, height: 5).reduced(longerSide: 320).width == 7)
    }
}
