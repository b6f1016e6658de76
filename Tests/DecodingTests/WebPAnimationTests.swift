import PictureTestSupport
import Pixels
import Testing

struct WebPAnimationTests {
    private static let colours = [
        PixelColor(red: 255, green: 0, blue: 0), PixelColor(red: 0, green: 255, blue: 0),
        PixelColor(red: 0, green: 0, blue: 255),
    ]

    /// A run has the same frames as single requests.
    @Test func runsHaveTheSameFramesAsSingleRequests() throws {
        var file = GIFFile(size: PixelSize(width: 24, height: 16), palette: Self.colours)
        file.frames = (0..<5).map { number in
            var frame = GIFFile.Frame(
                size: number == 0 ? file.size : PixelSize(width: 6, height: 6), filled: UInt8(number % 3))
            frame.origin = (number * 3, number)
            frame.delay = UInt16(number + 3)
            return frame
        }
        let bytes = try Tool.convert(
            file.bytes, "gif:-", "-coalesce", "-loop", "0", "-define", "webp:lossless=true", "webp:-")
        for start in 0..<5 {
            var request = DecodeRequest.within(100)
            request.frame = start
            request.run = 3
            let run = try decode(bytes, request)
            #expect(run.format == "WebP" && run.frameCount == 5 && run.following.count == min(2, 4 - start))
            request.run = 1
            #expect(try decode(bytes, request).pixels == run.pixels)
            for (place, picture) in run.following.enumerated() {
                request.frame = start + 1 + place
                let alone = try decode(bytes, request)
                #expect(picture.pixels == alone.pixels && picture.duration == alone.duration)
            }
        }
    }
}
