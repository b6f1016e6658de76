import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

struct AreaFilterTests {
    @Test(arguments: [
        PixelSize(width: 1, height: 1), PixelSize(width: 7, height: 5), PixelSize(width: 40, height: 30),
        PixelSize(width: 50, height: 41), PixelSize(width: 96, height: 60), PixelSize(width: 97, height: 61),
        PixelSize(width: 98, height: 61), PixelSize(width: 150, height: 7), PixelSize(width: 13, height: 140),
        PixelSize(width: 291, height: 183), PixelSize(width: 400, height: 1),
    ])
    func matchesTheFloatingPointReference(output: PixelSize) {
        for picture in [PixelBuffer.noise(width: 97, height: 61), .scene(width: 97, height: 61)] {
            let region = PixelRect(whole: picture.size)
            #expect(decibels(picture, region, output) > 50)
        }
    }

    @Test(arguments: [
        PixelRect(x: 0.5, y: 0.25, width: 96, height: 60), PixelRect(x: 13.37, y: 7.77, width: 31.4, height: 27.18),
        PixelRect(x: 96.2, y: 60.1, width: 0.5, height: 0.6), PixelRect(x: 40, y: 20, width: 8, height: 8),
        PixelRect(x: 10.999999, y: 3.0000001, width: 20.000002, height: 5.5),
    ])
    func regionsMayCutThroughPixels(region: PixelRect) {
        let picture = PixelBuffer.noise(width: 97, height: 61)
        for output in [
            PixelSize(width: 8, height: 8), PixelSize(width: 33, height: 3), PixelSize(width: 100, height: 90),
        ] {
            #expect(decibels(picture, region, output) > 50, "\(output)")
        }
    }

    @Test func equalSizesAreCopiedExactly() {
        let picture = PixelBuffer.noise(width: 33, height: 21)
        #expect(scaled(picture, PixelRect(whole: picture.size), picture.size) == picture)
    }

    @Test func croppingWholePixelsIsExact() {
        let picture = PixelBuffer.noise(width: 33, height: 21)
        let region = PixelRect(x: 5, y: 3, width: 10, height: 8)
        #expect(scaled(picture, region, PixelSize(width: 10, height: 8)) == picture.cropped(5..<15, 3..<11))
    }

    @Test func enlargedPixelsAreSharpSquares() {
        let picture = PixelBuffer.noise(width: 5, height: 4)
        let squares = PixelBuffer(width: 15, height: 12) { picture.color($0 / 3, $1 / 3) }
        #expect(scaled(picture, PixelRect(whole: picture.size), squares.size) == squares)
    }

    @Test func flatPicturesStayFlat() {
        for value: UInt8 in [0, 1, 127, 128, 254, 255] {
            let color = PixelColor(red: value, green: 255 - value, blue: value)
            for width in [1, 2, 3, 10, 61, 100, 333] {
                let picture = PixelBuffer(width: width, height: 37) { _, _ in color }
                for output in [PixelSize(width: 7, height: 11), PixelSize(width: 45, height: 100)] {
                    let region = PixelRect(x: 0.1, y: 0.7, width: Double(width) - 0.3, height: 35.9)
                    let expected = PixelBuffer(width: output.width, height: output.height) { _, _ in color }
                    #expect(scaled(picture, region, output) == expected)
                }
            }
        }
    }

    @Test func reducesTheWidestRow() {
        let picture = PixelBuffer(width: 65_500, height: 1) { x, _ in
            PixelColor(red: x < 32_750 ? 255 : 0, green: 255, blue: x == 0 ? 255 : 0)
        }
        let pixel = scaled(picture, PixelRect(whole: picture.size), PixelSize(width: 1, height: 1)).color(0, 0)
        #expect(127...129 ~= pixel.red && pixel.green == 255 && pixel.blue <= 1)
    }

    @Test func reducesTheHighestPicture() {
        let picture = PixelBuffer(width: 1, height: 65_500) { _, y in
            PixelColor(red: y < 32_750 ? 255 : 0, green: 255, blue: 0)
        }
        let pixel = scaled(picture, PixelRect(whole: picture.size), PixelSize(width: 1, height: 1)).color(0, 0)
        #expect(127...128 ~= pixel.red && pixel.green == 255 && pixel.blue == 0)
    }

    @Test func needsOnlyRowsInTheRegion() {
        let source = PixelSize(width: 10, height: 100)
        let output = PixelSize(width: 5, height: 5)
        func rows(_ y: Double, _ height: Double) -> Range<Int> {
            AreaFilter(source: source, region: PixelRect(x: 0, y: y, width: 10, height: height), output: output)
                .sourceRows
        }
        #expect(rows(0, 100) == 0..<100)
        #expect(rows(10, 20) == 10..<30)
        #expect(rows(10.5, 20) == 10..<31)
        #expect(rows(99.9, 5) == 99..<100)
        #expect(rows(50, 0) == 50..<51)
    }

    @Test func producesEveryOutputRowForAnyRegion() {
        var random = SeededNumbers(seed: 5)
        for _ in 0..<400 {
            let source = PixelSize(
                width: .random(in: 1...20, using: &random), height: .random(in: 1...40, using: &random))
            let output = PixelSize(
                width: .random(in: 1...20, using: &random), height: .random(in: 1...40, using: &random))
            let region = PixelRect(
                x: .random(in: -1...21, using: &random), y: .random(in: -1...41, using: &random),
                width: .random(in: 0...22, using: &random), height: .random(in: 0...42, using: &random))
            let white = PixelBuffer(width: source.width, height: source.height) { _, _ in
                PixelColor(red: 255, green: 255, blue: 255)
            }
            #expect(scaled(white, region, output).bytes.allSatisfy { $0 == 255 })
        }
    }

    /// The signal-to-noise ratio to the reference, which is not rounded to bytes.
    private func decibels(_ picture: PixelBuffer, _ region: PixelRect, _ output: PixelSize) -> Double {
        let filtered = scaled(picture, region, output)
        let exact = FloatAreaFilter(picture, region, output).samples
        let squares = zip(filtered.bytes, exact).reduce(0.0) { sum, pair in
            sum + (Double(pair.0) - pair.1) * (Double(pair.0) - pair.1)
        }
        return -10 * log10(squares / Double(exact.count) / (255 * 255))
    }
}

/// Scales a whole picture with the filter.
func scaled(_ picture: PixelBuffer, _ region: PixelRect, _ output: PixelSize) -> PixelBuffer {
    var filter = AreaFilter(source: picture.size, region: region, output: output)
    var bytes: [UInt8] = []
    picture.bytes.withUnsafeBufferPointer { source in
        for row in filter.sourceRows {
            let start = row * picture.width * 3
            filter.add(
                row: UnsafeBufferPointer(rebasing: source[start..<start + picture.width * 3]),
                appendingOutputTo: &bytes)
        }
    }
    guard let scaled = PixelBuffer(size: output, bytes: bytes) else {
        Issue.record("\(bytes.count) bytes instead of \(output)")
        return PixelBuffer(size: output, rows: [], background: .black)
    }
    return scaled
}
