import Cells
import Model
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Cache
@testable import Pictures

/// Animations are drawn frame by frame, but decoded in runs.
extension PicturePipelineTests {
    private static let colours = [
        PixelColor(red: 255, green: 0, blue: 0), PixelColor(red: 0, green: 255, blue: 0),
        PixelColor(red: 0, green: 0, blue: 255),
    ]

    /// An animation in which each frame adds a corner of its own.
    private func animation(_ count: Int) -> [UInt8] {
        var file = GIFFile(size: PixelSize(width: 16, height: 12), palette: Self.colours)
        file.frames = (0..<count).map { number in
            var frame = GIFFile.Frame(
                size: number == 0 ? file.size : PixelSize(width: 8, height: 6), filled: UInt8(number % 3))
            frame.delay = UInt16(number)
            return frame
        }
        return file.bytes
    }

    @Test func framesAreDecodedInRuns() async throws {
        try await sync(["a"])
        try await store(photo: animation(40), of: "a")
        let counting = try countingPipeline()
        let changes = counting.changes()
        let client = counting.makeClient()
        func draw(_ frame: Int) async throws -> DrawnPicture {
            let order = try full("a").showing(frame: frame)
            counting.want([order], by: client)
            while counting.picture(order) == nil, counting.failure(order) == nil { _ = await changes.next() }
            return try #require(counting.picture(order), "\(String(describing: counting.failure(order)))")
        }
        #expect(try await draw(0).frameCount > 1 && decoded == 1)
        for frame in 1...16 {
            let picture = try await draw(frame)
            let colour = Self.colours[frame % 3]
            #expect(picture.frameCount == 40 && picture.duration == 10 * frame)
            #expect(picture.cells.cells.first?.style.background == .rgb(colour.red, colour.green, colour.blue))
            #expect(picture.cells.cells.last?.style.background == .rgb(255, 0, 0))
        }
        #expect(decoded == 2)
        _ = try await draw(17)
        _ = try await draw(32)
        #expect(decoded == 3)
        // Earlier frames are cached, and frames beyond the end mean the last.
        _ = try await draw(3)
        #expect(decoded == 3)
        #expect(try await draw(99).duration == 390)
    }

    @Test("In a large window of pixels, too, the frames of a small animation are decoded in runs")
    func runsInLargeWindows() async throws {
        try await sync(["a"])
        try await store(photo: animation(20), of: "a")
        let counting = try countingPipeline()
        let changes = counting.changes()
        let client = counting.makeClient()
        var pixels = style
        pixels.pixels = PixelCapabilities(.kitty, cellWidth: 10, cellHeight: 20)
        let view = Viewport(size: Size(columns: 160, rows: 50), style: pixels)
        let order = view.order(.picture(cache.id, try photo("a").key, .original), edition: 1)
        for frame in 0...16 {
            let next = order.showing(frame: frame)
            counting.want([next], by: client)
            while counting.picture(next) == nil, counting.failure(next) == nil { _ = await changes.next() }
            #expect(counting.picture(next)?.duration == 10 * frame)
        }
        #expect(decoded == 2)
    }

    @Test func anotherSizeIsAnotherRun() async throws {
        try await sync(["a"])
        try await store(photo: animation(5), of: "a")
        let small = try full("a").showing(frame: 1)
        await finish(small)
        let photo = try photo("a")
        let large = Viewport(size: Size(columns: 16, rows: 6), style: style)
            .order(.picture(cache.id, photo.key, .original), edition: 1).showing(frame: 2)
        await finish(large)
        let sizes = [small, large].compactMap { pipeline.picture($0)?.cells.size }
        #expect(sizes == [Size(columns: 8, rows: 3), Size(columns: 16, rows: 6)])
    }
}
