import PictureTestSupport
import Pixels
import TestSupport
import Testing

struct GIFTests {
    private static let red = PixelColor(red: 255, green: 0, blue: 0)
    private static let green = PixelColor(red: 0, green: 255, blue: 0)
    private static let blue = PixelColor(red: 0, green: 0, blue: 255)
    private static let size = PixelSize(width: 6, height: 4)

    private static func file(_ frames: GIFFile.Frame...) -> GIFFile {
        var file = GIFFile(size: size, palette: [red, green, blue, .black])
        file.frames = frames
        return file
    }

    /// A square of 2 × 2 at 1, 1.
    private static func square(_ index: UInt8, disposal: UInt8) -> GIFFile.Frame {
        var frame = GIFFile.Frame(size: PixelSize(width: 2, height: 2), filled: index)
        frame.origin = (1, 1)
        frame.disposal = disposal
        return frame
    }

    private static func decoded(_ file: GIFFile, frame: Int) throws -> DecodeReply {
        var request = DecodeRequest.within(100)
        request.frame = frame
        request.background = PixelColor(red: 9, green: 9, blue: 9)
        return try decode(file.bytes, request)
    }

    @Test func reportsFrameCountAndDuration() throws {
        var frames = [GIFFile.Frame(size: Self.size, filled: 0), Self.square(1, disposal: 1)]
        frames[0].delay = 7
        frames[1].delay = 65_535
        let animated = Self.file(frames[0], frames[1])
        for (frame, duration) in [(0, 70), (1, 655_350), (2, 655_350), (99_999, 655_350)] {
            let reply = try Self.decoded(animated, frame: frame)
            #expect(reply.frameCount == 2 && reply.duration == duration && reply.isComplete)
        }
        // A file with one picture is never an animation.
        let still = try Self.decoded(Self.file(frames[0]), frame: 5)
        #expect(still.frameCount == 1 && still.duration == 0)
        var facts = DecodeRequest.within(100)
        facts.product = .facts
        facts.frame = 1
        #expect(try decode(animated.bytes, facts).duration == 655_350)
    }

    /// A run has the same frames as single requests, and ends with the animation.
    @Test func runsHaveTheSameFramesAsSingleRequests() throws {
        var frames = [GIFFile.Frame(size: Self.size, filled: 0)]
        for number in 0..<6 {
            var frame = Self.square(UInt8(number % 3), disposal: UInt8(1 + number % 3))
            frame.origin = (number % 4, number % 2)
            frame.delay = UInt16(number + 1)
            frames.append(frame)
        }
        var file = Self.file()
        file.frames = frames
        for start in 0..<7 {
            var request = DecodeRequest.within(100)
            request.background = PixelColor(red: 9, green: 9, blue: 9)
            request.frame = start
            request.run = 4
            let run = try decode(file.bytes, request)
            #expect(run.following.count == min(3, 6 - start) && run.frameCount == 7)
            for (place, picture) in run.following.enumerated() {
                let alone = try Self.decoded(file, frame: start + 1 + place)
                #expect(picture.pixels == alone.pixels && picture.duration == alone.duration)
            }
        }
    }

    /// A truncated frame is not part of a run. A request of its own reports it.
    @Test func runsEndBeforeATruncatedFrame() throws {
        var file = Self.file()
        file.frames = (0..<3).map { GIFFile.Frame(size: Self.size, filled: $0) }
        let bytes = Array(file.bytes.dropLast(12))
        var request = DecodeRequest.within(100)
        request.run = 4
        let run = try decode(bytes, request)
        #expect(run.frameCount == 3 && run.following.count == 1)
        request.frame = 2
        #expect(try decode(bytes, request).isComplete == false)
    }

    /// Only requests for later frames read the whole file.
    @Test func countsFramesOnlyOnRequest() throws {
        let frames = Array(repeating: GIFFile.Frame(size: Self.size, filled: 0), count: 5)
        var file = GIFFile(size: Self.size, palette: [Self.red])
        file.frames = frames
        #expect(try Self.decoded(file, frame: 0).frameCount == 2)
        #expect(try Self.decoded(file, frame: 1).frameCount == 5)
        var facts = DecodeRequest.within(100)
        facts.product = .facts
        #expect(try decode(file.bytes, facts).frameCount == 5)
    }

    @Test(arguments: [(1, blue), (2, PixelColor(red: 9, green: 9, blue: 9)), (3, red)] as [(UInt8, PixelColor)])
    func disposesOfFrames(disposal: UInt8, left: PixelColor) throws {
        var last = GIFFile.Frame(size: PixelSize(width: 1, height: 1), filled: 1)
        last.origin = (5, 3)
        let file = Self.file(GIFFile.Frame(size: Self.size, filled: 0), Self.square(2, disposal: disposal), last)
        let second = try #require(try Self.decoded(file, frame: 1).pixels)
        #expect(second.color(1, 1) == Self.blue && second.color(0, 0) == Self.red)
        let third = try #require(try Self.decoded(file, frame: 2).pixels)
        #expect(third.color(1, 1) == left && third.color(2, 2) == left)
        #expect(third.color(3, 3) == Self.red && third.color(5, 3) == Self.green)
    }

    @Test func transparentPixelsAreNotPainted() throws {
        var hole = Self.square(2, disposal: 1)
        hole.indices[3] = 3
        hole.transparent = 3
        let pixels = try #require(
            try Self.decoded(Self.file(GIFFile.Frame(size: Self.size, filled: 0), hole), frame: 1).pixels)
        #expect(pixels.color(1, 1) == Self.blue && pixels.color(2, 2) == Self.red)
        let alone = try #require(try Self.decoded(Self.file(hole), frame: 0).pixels)
        #expect(alone.color(2, 2) == PixelColor(red: 9, green: 9, blue: 9))
    }

    @Test func usesAFramesOwnPalette() throws {
        var frame = GIFFile.Frame(size: Self.size, filled: 1)
        frame.palette = [.black, PixelColor(red: 1, green: 2, blue: 3)]
        let pixels = try #require(try Self.decoded(Self.file(frame), frame: 0).pixels)
        #expect(pixels.color(5, 3) == PixelColor(red: 1, green: 2, blue: 3))
    }

    @Test func clipsFramesToTheCanvas() throws {
        var frame = GIFFile.Frame(size: PixelSize(width: 8, height: 8), filled: 1)
        frame.origin = (4, 2)
        var outside = frame
        outside.origin = (60_000, 60_000)
        let pixels = try #require(
            try Self.decoded(Self.file(GIFFile.Frame(size: Self.size, filled: 0), frame, outside), frame: 2).pixels)
        #expect(pixels.color(3, 3) == Self.red && pixels.color(4, 2) == Self.green && pixels.color(4, 1) == Self.red)
    }

    /// A thousand frames claim 400 × 400 pixels. The last one is composed from as many as the budget allows, without
    /// the first.
    @Test func staysWithinItsBudget() throws {
        let size = PixelSize(width: 400, height: 400)
        var file = GIFFile(size: size, palette: [Self.red, Self.green, Self.blue, .black])
        var frame = GIFFile.Frame(size: size, filled: 1)
        file.frames = [frame]
        frame.indices = Array(repeating: 3, count: 400)
        frame.transparent = 3
        file.frames += Array(repeating: frame, count: 999)
        #expect(try Self.decoded(file, frame: 10).pixels?.color(0, 0) == Self.green)
        let late = try Self.decoded(file, frame: 999)
        #expect(late.frameCount == 1000 && !late.isComplete)
        #expect(late.pixels?.color(0, 0) == PixelColor(red: 9, green: 9, blue: 9))
    }

    @Test func survivesEveryCutAndDamage() throws {
        var hole = Self.square(2, disposal: 3)
        hole.transparent = 2
        let bytes = Self.file(GIFFile.Frame(size: Self.size, filled: 0), hole, Self.square(1, disposal: 2)).bytes
        var request = DecodeRequest.within(5)
        for length in 6..<bytes.count {
            request.frame = length % 3
            _ = try? decode(Array(bytes[..<length]), request)
        }
        let scene = try Tool.convert(
            PixelBuffer.scene(width: 40, height: 30).ppm, "ppm:-", "-interlace", "GIF", "gif:-")
        var random = SeededNumbers(seed: 51)
        for round in 0..<3000 {
            var damaged = round % 2 == 0 ? bytes : scene
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[.random(in: 6..<damaged.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            request.frame = round % 4
            _ = try? decode(damaged, request)
        }
    }
}
