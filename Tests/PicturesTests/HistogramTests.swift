import PictureTestSupport
import Pixels
import Testing

@testable import Pictures

@Suite struct HistogramTests {
    @Test func everyPixelCountsOnceInEachChannel() {
        let picture = PixelBuffer(width: 10, height: 10) { x, y in
            x < 3 ? PixelColor(red: 255, green: 0, blue: 10) : PixelColor(red: 9, green: 9, blue: 9)
        }
        let histogram = Histogram(picture)
        #expect(histogram.count(.red, 255) == 30 && histogram.count(.red, 9) == 70)
        #expect(histogram.count(.green, 0) == 30 && histogram.count(.blue, 10) == 30)
        // 0.3 of the red and 0.11 of the blue; a grey has its own level.
        #expect(histogram.count(.luminance, (77 * 255 + 290) >> 8) == 30 && histogram.count(.luminance, 9) == 70)
        for channel in Histogram.Channel.allCases {
            #expect((0..<Histogram.levels).reduce(0) { $0 + histogram.count(channel, $1) } == 100)
        }
    }

    @Test(arguments: [1, 7, 30, 256, 400]) func anyNumberOfBars(count: Int) {
        let histogram = Histogram(.scene(width: 64, height: 48))
        let bars = histogram.bars(.luminance, count)
        #expect(bars.count == count && bars.max() == 1 && bars.allSatisfy { (0...1).contains($0) })
    }

    @Test func barsMatchTheTones() {
        let bars = Histogram(
            PixelBuffer(width: 4, height: 4) { x, _ in
                let level: UInt8 = x == 0 ? 0 : 255
                return PixelColor(red: level, green: level, blue: level)
            }
        ).bars(.green, 8)
        // The square root of a third.
        #expect(abs(bars[0] - 0.577) < 0.001 && bars[7] == 1 && bars[1..<7].allSatisfy { $0 == 0 })
        #expect(Histogram(PixelBuffer(width: 1, height: 1) { _, _ in .black }).bars(.red, 0).isEmpty)
    }
}
