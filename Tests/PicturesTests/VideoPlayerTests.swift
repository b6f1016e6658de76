import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Pictures

/// Playing videos in a process of their own. The videos move on every 0.4 seconds, in ten frames a second.
@Suite(.ownThread, .disabled(if: Sanitizer.isOn, "the decoder limits its address space"))
struct VideoPlayerTests {
    private let folder = TestFolder()
    private let request = DecodeRequest(box: PixelSize(width: 200, height: 144))

    private func player(
        _ name: String, _ request: DecodeRequest? = nil, decoder: String? = nil, budget: Int32 = 15_000
    ) throws -> VideoPlayer {
        let path = folder.write("video", try PictureCorpus().bytes("pictures", name))
        let file = try #require(FileHandle(forReadingAtPath: path))
        let client = DecoderClient(path: try decoder ?? DecoderProcess.path, budget: budget)
        // The player has a descriptor of its own, so this one closes here.
        return try VideoPlayer(decoder: client, file: file.fileDescriptor, request: request ?? self.request)
    }

    /// Returns the frame that ffmpeg shows at a time.
    private func expected(_ name: String, at time: Double) throws -> PixelBuffer {
        let path = folder.write(name, try PictureCorpus().bytes("pictures", name))
        let bytes = try Tool.run(
            "/usr/bin/ffmpeg",
            [
                "-v", "error", "-i", path, "-ss", "\(time)", "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo",
                "-",
            ], input: [])
        return try #require(PixelBuffer(size: PixelSize(width: 200, height: 144), bytes: bytes))
    }

    @Test(
        "Frames are the ones that are due, forwards and backwards",
        arguments: ["video-h264.mp4", "video-vp9.webm", "video-av1.mkv", "video-mjpeg.avi", "video-hevc.mov"])
    func due(name: String) async throws {
        let player = try player(name)
        for (wanted, time) in [(0, 0), (0.05, 0), (0.93, 0.9), (4.61, 4.6), (1.29, 1.2), (1.31, 1.3), (0, 0)] {
            let frame = try #require(try await player.frame(at: .seconds(wanted)))
            #expect(abs(frame.time / .seconds(1) - time) < 0.002, "\(wanted): \(frame.time)")
            let pixels = try #require(frame.reply.pixels)
            let likeness = pixels.psnr(try expected(name, at: time))
            #expect(likeness >= 30, "\(wanted): \(likeness)")
        }
    }

    @Test("Every frame comes in order, and then the end")
    func order() async throws {
        let player = try player("video-h264.mp4")
        var times: [Duration] = []
        for number in 0..<50 {
            let frame = try #require(try await player.frame(at: .milliseconds(100 * number + 5)))
            times.append(frame.time)
        }
        #expect(times == (0..<50).map { .milliseconds(100 * $0) }, "\(times)")
        let last = try #require(try await player.frame(at: .milliseconds(4_950)))
        #expect(last.isLast && last.time == .milliseconds(4_900))
        #expect(try await player.frame(at: .seconds(5.2)) == nil)
        // It starts again.
        #expect(try await player.frame(at: .zero)?.time == .zero)
    }

    @Test("Frames that are late are skipped, and the last one is shown before the end")
    func skips() async throws {
        let player = try player("video-h264.mp4")
        _ = try await player.frame(at: .zero)
        let late = try #require(try await player.frame(at: .seconds(60)))
        #expect(late.time >= .milliseconds(4_600) && late.isLast)
        #expect(try await player.frame(at: .seconds(60)) == nil)
    }

    @Test("A frame that stays due states the time of the next one")
    func next() async throws {
        let player = try player("video-h264.mp4")
        _ = try await player.frame(at: .seconds(1))
        let same = try #require(try await player.frame(at: .milliseconds(1_010)))
        #expect(same.time == .seconds(1) && same.next == .milliseconds(1_100) && !same.isLast)
    }

    @Test("A player shows the part, turn and form that its request says")
    func requests() async throws {
        var request = DecodeRequest(box: PixelSize(width: 72, height: 100))
        request.turns = 1
        let turned = try await player("video-h264.mp4", request).frame(at: .zero)
        #expect(turned?.reply.pixels?.size == PixelSize(width: 72, height: 100))
        request.product = .thumbnail
        let file = try await player("video-h264.mp4", request).frame(at: .zero)
        #expect(file?.reply.thumbnail?.starts(with: [0xFF, 0xD8]) == true)
    }

    @Test("The process is confined, and ends with the player")
    func confinement() async throws {
        let noted = try NotedDecoder(in: folder)
        let player = try player("video-h264.mp4", decoder: noted.path)
        _ = try await player.frame(at: .zero)
        let (number, role) = try #require(try noted.starts.first)
        #expect(role == "--play")
        let status = try String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8)
        for line in ["Seccomp:\t2", "NoNewPrivs:\t1", "Threads:\t1"] { #expect(status.contains(line), "\(line)") }
        player.end()
        await #expect(throws: PictureError.cancelled) { try await player.frame(at: .zero) }
        #expect(kill(number, 0) != 0)
    }

    @Test("Ending a player wakes the one who waits")
    func waking() async throws {
        let player = try player("video-h264.mp4", decoder: try BrokenDecoders.link("play-hangs", in: folder))
        let waiting = Task { try await player.frame(at: .zero) }
        await Task.yield()
        player.end()
        await #expect(throws: PictureError.cancelled) { _ = try await waiting.value }
    }

    @Test("Files that are no videos are refused with the reason")
    func refusals() async throws {
        let picture = try player("bmp-24-bit.bmp")
        await #expect(throws: PictureError.undecodable(.notAPicture)) { try await picture.frame(at: .zero) }
        let empty = try player("video-h264.mp4", decoder: "/nowhere")
        await #expect(throws: PictureError.self) { try await empty.frame(at: .zero) }
    }

    @Test("No player can break Vitrine")
    func brokenPlayers() async throws {
        for (name, error) in BrokenDecoders.players {
            let path = try BrokenDecoders.link(name, in: folder)
            let player = try player("video-h264.mp4", decoder: path, budget: error == .tookTooLong ? 100 : 15_000)
            var outcome: PictureError?
            do throws(PictureError) {
                for number in 0..<2 { _ = try await player.frame(at: .milliseconds(100 * number)) }
            } catch {
                outcome = error
            }
            #expect(outcome == error, "\(name)")
        }
    }
}
