import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Decoding

/// Videos. `CorpusTests` compares their pictures with ffmpeg's.
struct VideoTests {
    private let folder = TestFolder()

    private static func file(_ name: String) throws -> [UInt8] {
        try PictureCorpus().bytes("pictures", "video-\(name)")
    }

    private func facts(_ bytes: [UInt8]) throws -> DecodeReply {
        var request = DecodeRequest.within(80)
        request.product = .facts
        return try decode(bytes, request)
    }

    @Test("A video’s length, codec and frame rate are read with its size")
    func facts() throws {
        for (name, format, codec, length) in [
            ("h264.mp4", "MP4", "H.264", 5_000), ("hevc.mov", "QuickTime", "HEVC", 5_000),
            ("vp8.webm", "WebM", "VP8", 5_000), ("vp9.webm", "WebM", "VP9", 5_000),
            ("av1.mkv", "Matroska", "AV1", 5_000),
            ("mjpeg.avi", "AVI", "Motion JPEG", 5_000), ("mpeg4.avi", "AVI", "MPEG-4", 5_000),
            ("h264.ts", "MPEG-TS", "H.264", 5_000), ("h264.mts", "MPEG-TS", "H.264", 5_000),
        ] {
            let reply = try facts(try Self.file(name))
            let video = try #require(reply.metadata.video)
            #expect(reply.format == format && reply.sourceSize == PixelSize(width: 200, height: 144), "\(name)")
            #expect(video.codec == codec && video.framesPerSecond == 10, "\(name): \(video)")
            #expect(video.durationMilliseconds.map { abs($0 - length) <= 100 } == true, "\(name): \(video)")
            #expect(reply.frameCount == 1 && reply.pixels == nil)
        }
    }

    @Test("A telephone’s place, time and model are the metadata of its video")
    func metadata() throws {
        let metadata = try facts(try Self.file("described.mov")).metadata
        #expect(metadata.camera == "A maker A model" && metadata.takenAt == "2024-05-06T07:08:09")
        #expect(metadata.latitude == 52.5 && metadata.longitude == -13.25 && metadata.title == "A title")
    }

    @Test("A time in UTC is marked as such", arguments: ["a.mp4", "a.mkv"])
    func universalTime(name: String) throws {
        let path = try make(name, ["-metadata", "creation_time=2024-05-06T07:08:09Z"], seconds: 1)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(try facts(bytes).metadata.takenAt == "2024-05-06T07:08:09Z")
    }

    /// Cameras write the time as C's `asctime` does, or as digits.
    @Test(
        "The time of an AVI is that of the camera’s clock",
        arguments: ["Mon Mar 10 15:04:43 2003\n\0", "2003/03/10 15:04:43\0"])
    func camerasTime(text: String) throws {
        let path = try make("a.avi", [], seconds: 1)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let content = Array(text.utf8)
        let little = { (number: UInt32) -> [UInt8] in withUnsafeBytes(of: number.littleEndian) { Array($0) } }
        bytes.insert(contentsOf: Array("IDIT".utf8) + little(UInt32(content.count)) + content, at: 12)
        bytes.replaceSubrange(4..<8, with: little(UInt32(bytes.count - 8)))
        #expect(try facts(bytes).metadata.takenAt == "2003-03-10T15:04:43")
    }

    /// Makes a small video of ten frames a second.
    private func make(_ name: String, _ options: [String], rate: String = "10", seconds: Int) throws -> String {
        let path = folder.path(name)
        let source = ["-f", "lavfi", "-i", "testsrc=s=64x48:r=\(rate):d=\(seconds)", "-pix_fmt", "yuv420p"]
        let made = try Command("/usr/bin/ffmpeg", ["-v", "error"] + source + options + [path])
        try #require(made.status == 0, "\(made.errors)")
        return path
    }

    private func open(_ path: String) throws -> (file: FileHandle, length: Int) {
        let file = try #require(FileHandle(forReadingAtPath: path))
        return (file, try Data(contentsOf: URL(fileURLWithPath: path)).count)
    }

    /// Returns the time of a new player's first frame.
    private func firstTime(in path: String, at time: Double) throws -> Double? {
        let (file, length) = try open(path)
        return try withExtendedLifetime(file) {
            let source = try VideoFrameSource(on: file.fileDescriptor, length: length, .within(48))
            guard case .picture(_, let seconds) = try source.picture(at: time) else { return nil }
            return seconds
        }
    }

    @Test(
        "A late time is found at once in a file with and without an index",
        arguments: ["webm", "mkv", "mts", "mpg", "mp4"])
    func jumps(ending: String) throws {
        let path = try make(
            "a.\(ending)", ["-g", "10"], rate: ending == "mpg" ? "25" : "10", seconds: 12)
        let (file, length) = try open(path)
        try withExtendedLifetime(file) {
            var reader = try VideoReader(fileOn: file.fileDescriptor, length: length)
            _ = try reader.plan(.within(48))
            // Of twelve seconds, at most three may be decoded.
            let most = 64 * 48 * (ending == "mpg" ? 75 : 30)
            for (wanted, furthest) in [(8.0, 9.2), (0.0, 0.0), (10.0, 11.2)] {
                let work = reader.work
                reader.advance(to: wanted, atMost: 1 << 26)
                let (hasFrame, time, done) = (reader.hasFrame, reader.time, reader.work - work)
                #expect(hasFrame && done <= most, "\(wanted): \(done)")
                #expect(wanted - 0.2...furthest ~= time, "\(wanted): \(time)")
            }
            reader.advance(to: 100, atMost: 1 << 26)
            let last = reader.time
            #expect(last > 10)
        }
    }

    @Test("A video with one key frame goes on, however late it is", arguments: ["webm", "mts", "mp4", "avi"])
    func oneKey(ending: String) throws {
        let path = try make("a.\(ending)", ["-g", "1000", "-sc_threshold", "0"], seconds: 20)
        let (file, length) = try open(path)
        try withExtendedLifetime(file) {
            var reader = try VideoReader(fileOn: file.fileDescriptor, length: length)
            _ = try reader.plan(.within(48))
            reader.advance(to: 0, atMost: 1)
            var requests = 0
            while reader.time < 17.8, requests < 100 {
                reader.advance(to: 18, atMost: 64 * 48 * 5)
                requests += 1
            }
            #expect(requests < 60)
        }
    }

    @Test(
        "The time of each frame, sent in microseconds, means this frame", arguments: ["30000/1001", "24000/1001", "60"])
    func statedTimes(rate: String) throws {
        let path = try make("a.mp4", ["-video_track_timescale", "90000"], rate: rate, seconds: 1)
        let (file, length) = try open(path)
        try withExtendedLifetime(file) {
            let source = try VideoFrameSource(on: file.fileDescriptor, length: length, .within(48))
            var time = 0.0
            for _ in 0..<20 {
                guard case .picture(_, let seconds) = try source.picture(at: time) else {
                    Issue.record("no frame at \(time)")
                    return
                }
                let sent = (seconds * 1e6).rounded(.down) / 1e6
                #expect(try firstTime(in: path, at: sent) == seconds)
                source.prepareNext()
                time = try #require(source.nextTime)
                #expect(time > seconds)
            }
        }
    }

    @Test("A turned video has its upright size")
    func orientation() throws {
        let reply = try facts(try Self.file("turned-1.mp4"))
        #expect(reply.sourceSize == PixelSize(width: 144, height: 200) && reply.orientation != .upright)
    }

    @Test("A part of a video’s frame is the same part of the whole")
    func parts() throws {
        for name in ["h264.mp4", "turned-1.mp4", "hevc.mov"] {
            let bytes = try Self.file(name)
            let whole = try #require(try decodeWhole(bytes).pixels)
            var request = DecodeRequest.within(8192)
            request.region = try #require(UnitRect(x: 0.25, y: 0.5, width: 0.5, height: 0.25))
            let (width, height) = (whole.width, whole.height)
            let part = whole.cropped(width / 4..<width / 4 * 3, height / 2..<height / 4 * 3)
            #expect(try decode(bytes, request).psnr(part) > 40, "\(name)")
        }
    }

    @Test("A thumbnail of a video is a JPEG")
    func thumbnail() throws {
        var request = DecodeRequest.within(80)
        request.product = .thumbnail
        let reply = try decode(try Self.file("h264.mp4"), request)
        #expect(reply.thumbnail?.starts(with: [0xFF, 0xD8]) == true && reply.metadata.video != nil)
    }

    @Test("Music and videos of other codecs are refused by their names")
    func refusals() throws {
        for (arguments, name, words) in [
            (["-f", "lavfi", "-i", "sine=d=1", "-c:a", "aac"], "music.mp4", "MP4 (no video track)"),
            (["-f", "lavfi", "-i", "testsrc=d=0.2:s=32x32", "-c:v", "ffv1"], "other.mkv", "ffv1 video"),
        ] {
            let path = folder.path(name)
            #expect(try Command("/usr/bin/ffmpeg", ["-v", "error"] + arguments + [path]).status == 0)
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            #expect(throws: DecodeFailure.unsupportedFormat(words)) { try decode(bytes, .within(80)) }
        }
    }

    @Test("Pictures of the same family of files are no videos")
    func relatives() throws {
        let corpus = try PictureCorpus()
        for name in [
            "heic-lossy.heic", "avif-lossy.avif", "raw-cr3.cr3", "jxl-described.jxl", "webp-grainy-lossy.webp",
        ] {
            let isVideo = try corpus.bytes("pictures", name).withUnsafeBytes { VideoContainer(of: $0) != nil }
            #expect(!isVideo, "\(name)")
        }
    }

    @Test(
        "Each cut of a video gives a picture or a failure",
        arguments: ["h264.mp4", "in-fragments.mp4", "hevc.mov", "vp9.webm", "av1.mkv", "mpeg4.avi", "h264.mts"])
    func cuts(name: String) throws {
        let whole = try Self.file(name)
        var shown = 0
        for length in Array(8..<60) + Array(stride(from: 60, to: whole.count, by: whole.count / 40)) {
            do {
                shown += try decode(Array(whole[..<length]), .within(30)).pixels == nil ? 0 : 1
            } catch {
                #expect(error is DecodeFailure)
            }
        }
        // The index of the one is at its end.
        #expect(shown > (name == "h264.mp4" || name == "hevc.mov" ? -1 : 5), "\(shown)")
    }

    @Test("Grey, black and white keep their values, whatever their range")
    func levels() throws {
        for range in ["tv", "pc"] {
            for (colour, value) in [("black", 0), ("0x808080", 128), ("white", 255), ("0xC02040", -1)] {
                let path = folder.path("\(range)-\(colour).mp4")
                let command = try Command(
                    "/usr/bin/ffmpeg",
                    [
                        "-v", "error", "-f", "lavfi", "-i", "color=\(colour):s=64x48:d=0.3:r=10", "-vf",
                        "scale=out_range=\(range):out_color_matrix=bt601", "-c:v", "libx264", "-crf", "4", "-pix_fmt",
                        "yuv420p", "-color_range", range, "-colorspace", "smpte170m", path,
                    ])
                #expect(command.status == 0)
                let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
                let pixel = try #require(try decode(bytes, .within(8)).pixels).color(2, 2)
                let expected = value < 0 ? [0xC0, 0x20, 0x40] : [value, value, value]
                for (got, wanted) in zip([pixel.red, pixel.green, pixel.blue], expected) {
                    #expect(abs(Int(got) - wanted) <= 3, "\(range) \(colour): \(pixel)")
                }
            }
        }
    }
}
