import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Decoding

/// Videos of high dynamic range, with ten bits and BT.2020's colours. `CorpusTests` has more of them.
struct HighRangeVideoTests {
    /// A transfer function, and a codec with its container.
    struct Kind: Sendable, CustomTestStringConvertible {
        let transfer: String
        let codec: [String]
        let file: String

        var testDescription: String { "\(transfer) in \(file)" }
    }

    private static let transfers = ["smpte2084", "arib-std-b67"]
    private static let codecs = [
        ("a.mp4", ["libx265", "-x265-params", "log-level=error:pools=1", "-tag:v", "hvc1", "-crf", "10"]),
        ("a.webm", ["libvpx-vp9", "-crf", "10", "-b:v", "0", "-cpu-used", "5"]),
        ("a.mkv", ["libaom-av1", "-crf", "10", "-b:v", "0", "-cpu-used", "8"]),
    ]
    static let kinds = transfers.flatMap { transfer in
        codecs.map { Kind(transfer: transfer, codec: ["-c:v"] + $0.1, file: $0.0) }
    }

    private static let size = PixelSize(width: 200, height: 144)
    /// The reference white in candela per square metre, by ITU-R BT.2408.
    private static let white = 203.0

    private let folder = TestFolder()

    /// A photo, of which a video shows another part in each frame.
    private static let photo = [
        "-loop", "1", "-framerate", "10", "-t", "1", "-i",
        URL(fileURLWithPath: #filePath).appendingPathComponent("../../../TestGallery/images/three-pears.jpg")
            .standardized
            .path,
    ]
    private static let parts = "scale=406:298,crop=200:144:20*n:15*n"

    /// Makes a video of this kind from ffmpeg's source, whose white gets `peak` candela per square metre.
    private func make(_ kind: Kind, peak: Int, source: [String], _ parts: String = "null") throws -> String {
        let path = folder.path(kind.file)
        // The filter's steps are limited, and its unit is a factor of two.
        let step = "exposure=\(log2(Double(peak) / 1_000) / 2)"
        let steps = [
            parts, "format=gbrp", "zscale=transferin=iec61966-2-1:transfer=linear", "format=gbrpf32le", step, step,
            "zscale=transferin=linear:transfer=\(kind.transfer):primariesin=bt709:primaries=bt2020:matrix=bt2020nc"
                + ":range=tv:npl=1000:agamma=0", "format=yuv420p10le",
        ]
        let made = try Command(
            "/usr/bin/ffmpeg",
            ["-v", "error", "-y"] + source + ["-vf", steps.joined(separator: ",")] + kind.codec + [
                "-threads", "1", "-color_range", "tv", "-color_primaries", "bt2020", "-color_trc", kind.transfer,
                "-colorspace", "bt2020nc", path,
            ])
        try #require(made.status == 0, "\(made.errors)")
        return path
    }

    /// Returns a frame as ffmpeg's filters change it, as bytes of a kind of pixels.
    private func frame(_ number: Int, of path: String, _ steps: String, as pixels: String) throws -> [UInt8] {
        let target = folder.path("frame")
        let command = try Command(
            "/usr/bin/ffmpeg",
            [
                "-v", "error", "-y", "-i", path, "-vf", "select=eq(n\\,\(number))," + steps + ",format=\(pixels)",
                "-frames:v", "1", "-f", "rawvideo", target,
            ])
        try #require(command.status == 0, "\(command.errors)")
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: target)))
    }

    /// Returns a frame in sRGB: ffmpeg's linear light, bent by BT.2390's curve.
    private func bentFrame(_ number: Int, of path: String) throws -> PixelBuffer {
        let bytes = try frame(number, of: path, "zscale=transfer=linear:npl=1000:agamma=0", as: "gbrpf32le")
        let count = Self.size.width * Self.size.height
        try #require(bytes.count == 12 * count)
        let light = bytes.withUnsafeBytes { bytes in
            (0..<3 * count).map { Double(bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self)) * 1_000 }
        }
        var rows: [UInt8] = []
        for pixel in 0..<count {
            // The planes are green, blue and red.
            rows += Self.shown([light[2 * count + pixel], light[pixel], light[count + pixel]])
        }
        return try #require(PixelBuffer(size: Self.size, bytes: rows))
    }

    /// Returns the sRGB values of light in candela per square metre and BT.2020's primaries.
    private static func shown(_ light: [Double]) -> [UInt8] {
        let brightest = max(light[0], light[1], light[2])
        let factor = brightest > 0 ? bent(brightest) / brightest : 1
        let matrix = [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]]
        return matrix.map { row in
            let sum = row[0] * light[0] + row[1] * light[1] + row[2] * light[2]
            let linear = max(0, min(sum * factor / white, 1))
            let value = linear <= 0.003_130_8 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055
            return UInt8((value * 255).rounded())
        }
    }

    /// The curve of ITU-R BT.2390 from a screen of 1,000 candela per square metre to the reference white.
    private static func bent(_ light: Double) -> Double {
        let (whole, most) = (pq(1_000), pq(white) / pq(1_000))
        let (knee, value) = (1.5 * most - 0.5, min(1, pq(light) / whole))
        guard value > knee else { return light }
        let t = (value - knee) / (1 - knee)
        let below = (2 * t * t * t - 3 * t * t + 1) * knee
        let between = (t * t * t - 2 * t * t + t) * (1 - knee)
        let power = pow((below + between + (3 * t * t - 2 * t * t * t) * most) * whole, 1 / 78.84375)
        return 10_000 * pow(max(0, power - 0.8359375) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125)
    }

    private static func pq(_ light: Double) -> Double {
        let power = pow(light / 10_000, 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 78.84375)
    }

    /// Plays a video. Returns the frames at these times.
    private func frames(of path: String, at times: [Double], _ request: DecodeRequest) throws -> [PixelBuffer] {
        let file = try #require(FileHandle(forReadingAtPath: path))
        let length = try Data(contentsOf: URL(fileURLWithPath: path)).count
        return try withExtendedLifetime(file) {
            let source = try VideoFrameSource(on: file.fileDescriptor, length: length, request)
            return try times.map { time in
                guard case .picture(let reply, _) = try source.picture(at: time) else {
                    throw ToolError(path: path, status: -1)
                }
                return try #require(reply.pixels)
            }
        }
    }

    @Test(
        "The poster and the playing frames are ffmpeg’s light below the white of an ordinary screen", arguments: kinds)
    func likeness(kind: Kind) throws {
        let path = try make(kind, peak: 600, source: Self.photo, Self.parts)
        // The poster is the frame at a tenth of the length.
        let poster = try decodeWhole([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
        let expected = try [1, 4, 8].map { try bentFrame($0, of: path) }
        #expect(poster.psnr(expected[0]) >= 30, "\(poster.psnr(expected[0]))")
        let played = try frames(of: path, at: [0.101, 0.401, 0.801], .within(8192))
        for (frame, expected) in zip(played, expected) {
            #expect(frame.psnr(expected) >= 30, "\(frame.psnr(expected))")
        }
        let small = try frames(of: path, at: [0.401], .within(60))[0]
        #expect(small.psnr(expected[1].scaled(to: small.size)) >= 30)
        // Without a reduction, the bright frames would be far from this.
        let plain = try frame(4, of: path, "scale=in_color_matrix=bt2020:flags=accurate_rnd", as: "rgb24")
        let unchanged = try #require(PixelBuffer(size: Self.size, bytes: plain))
        #expect(played[1].psnr(unchanged) < 25)
    }

    @Test("A video that is nowhere bright is ffmpeg’s own ordinary picture", arguments: kinds)
    func dark(kind: Kind) throws {
        let path = try make(kind, peak: 90, source: Self.photo, Self.parts)
        // The light is scaled to units of white. ffmpeg's own reduction cuts off all above it.
        let steps =
            "zscale=transfer=linear:npl=1000:agamma=0,format=gbrpf32le,exposure=\(log2(1_000 / Self.white)),tonemap=clip:desat=0,"
            + "zscale=transferin=linear:primaries=bt709:transfer=iec61966-2-1:matrix=gbr:range=pc"
        let bytes = try frame(2, of: path, steps, as: "rgb24")
        let expected = try #require(PixelBuffer(size: Self.size, bytes: bytes))
        let played = try frames(of: path, at: [0.201], .within(8192))[0]
        #expect(played.psnr(expected) >= 30, "\(played.psnr(expected))")
    }

    @Test("Patches of grey have the stated light", arguments: transfers)
    func patches(transfer: String) throws {
        let kind = Kind(transfer: transfer, codec: ["-c:v"] + Self.codecs[0].1, file: "a.mp4")
        // The curve begins just below 100 candela per square metre.
        for (peak, expected) in [(20, 88), (60, 148), (100, 186), (203, 229), (600, 254), (1_000, 255)] {
            let path = try make(kind, peak: peak, source: ["-f", "lavfi", "-i", "color=white:s=200x144:r=10:d=0.2"])
            let grey = try frames(of: path, at: [0], .within(8))[0].color(2, 2)
            for value in [grey.red, grey.green, grey.blue] {
                #expect(abs(Int(value) - expected) <= 3, "\(peak): \(grey)")
            }
        }
    }
}
