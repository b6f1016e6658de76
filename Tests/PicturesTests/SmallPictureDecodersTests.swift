import Foundation
import PictureTestSupport
import Pixels
import Synchronization
import TestSupport
import Testing

@testable import Pictures

/// Decoders shared by small pictures: which pictures use them, how they break, and how they end.
@Suite(.ownThread, .disabled(if: Sanitizer.isOn, "the decoder limits its address space"))
struct SmallPictureDecodersTests {
    private let folder = TestFolder()
    private let request = DecodeRequest(box: PixelSize(width: 16, height: 12))
    private let scene = PixelBuffer.scene(width: 64, height: 48)

    private let noted: NotedDecoder

    init() throws { noted = try NotedDecoder(in: folder) }

    private func roles() throws -> [Substring] { try noted.starts.map(\.role) }

    private func isThere(_ process: pid_t) -> Bool { kill(process, 0) == 0 }

    private func jpeg(_ options: String...) throws -> [UInt8] {
        try Tool.run("/usr/bin/cjpeg", options + ["-quality", "90"], input: scene.ppm)
    }

    private func webp(_ options: String...) throws -> [UInt8] {
        try Tool.run("/usr/bin/cwebp", ["-quiet"] + options + ["-o", "-", "--", "-"], input: scene.ppm)
    }

    @Test func oneProcessDecodesManyPictures() throws {
        let client = DecoderClient(path: noted.path, from: .server)
        let exact = try DecoderClient(path: DecoderProcess.path).decode(.bytes(jpeg()), request)
        let file = folder.write("small.jpg", try jpeg())
        for source in [PictureSource.bytes(try jpeg()), .file(file)] {
            for _ in 0..<20 {
                let reply = try client.decode(source, request)
                #expect(reply.format == "JPEG" && reply.isComplete && reply.sourceSize == scene.size)
                #expect(try #require(reply.pixels).psnr(#require(exact.pixels)) > 35)
            }
        }
        #expect(try roles() == ["--small"])
    }

    @Test func theProcessDecodesLossyWebPsToo() throws {
        let client = DecoderClient(path: noted.path, from: .server)
        let picture = try webp("-q", "80")
        let exact = try DecoderClient(path: DecoderProcess.path).decode(.bytes(picture), request)
        for source in [PictureSource.bytes(picture), .file(folder.write("small.webp", picture))] {
            let reply = try client.decode(source, request)
            #expect(reply.format == "WebP" && reply.isComplete && reply.sourceSize == scene.size)
            #expect(try #require(reply.pixels).psnr(#require(exact.pixels)) > 35)
        }
        _ = try client.decode(.bytes(jpeg()), request)
        #expect(try roles() == ["--small"])
        // A lossless one is recognised without asking the process.
        _ = try client.decode(.bytes(webp("-lossless")), request)
        #expect(try roles() == ["--small", "--serve"])
    }

    @Test func otherPicturesGetProcessesOfTheirOwn() throws {
        let client = DecoderClient(path: noted.path, from: .server)
        var thumbnail = request
        thumbnail.product = .thumbnail
        let large = PixelBuffer.noise(width: 400, height: 300)
        let long = try Tool.cjpeg(large.ppm, "-quality", "95")
        #expect(long.count > SmallPictureService.longestPicture)
        _ = try client.decode(.bytes(PNGFile(scene).bytes), request)
        _ = try client.decode(.bytes(long), request)
        _ = try client.decode(.bytes(jpeg()), thumbnail)
        _ = try client.decode(.bytes(jpeg()), DecodeRequest(box: PixelSize(width: 1_000, height: 1_000)))
        #expect(try roles() == ["--serve"])
        // Only the decoder itself notices that these are unsuitable.
        let progressive = try client.decode(.bytes(jpeg("-progressive")), request)
        #expect(progressive.pixels?.size == request.box)
        let broken = try client.decode(.bytes(jpeg().dropLast(40)), request)
        #expect(!broken.isComplete && broken.pixels?.size == request.box)
        #expect(try roles() == ["--serve", "--small"])
        // It still works afterwards.
        _ = try client.decode(.bytes(jpeg()), request)
        #expect(try roles() == ["--serve", "--small"])
    }

    @Test func processesAreReplaced() throws {
        let client = DecoderClient(path: noted.path, from: .server)
        let picture = try jpeg()
        for _ in 0...SmallPictureDecoders.lifetime { _ = try client.decode(.bytes(picture), request) }
        let starts = try noted.starts
        #expect(starts.map(\.role) == ["--small", "--small"])
        #expect(!isThere(starts[0].number) && isThere(starts[1].number))
    }

    @Test func restartsALostProcess() throws {
        let client = DecoderClient(path: noted.path, from: .server)
        for count in 1...3 {
            #expect(try client.decode(.bytes(jpeg()), request).pixels?.size == request.box)
            let small = try noted.starts.filter { $0.role == "--small" }
            #expect(small.count == count)
            kill(small[count - 1].number, SIGKILL)
            // The picture that finds its process gone is still decoded.
            #expect(try client.decode(.bytes(jpeg()), request).pixels?.size == request.box)
        }
    }

    @Test func processesEndWithTheirClients() throws {
        var clients = [DecoderClient(path: noted.path, from: .server)]
        _ = try clients[0].decode(.bytes(jpeg()), request)
        let number = try #require(try noted.starts.first).number
        #expect(isThere(number))
        clients.removeAll()
        #expect(!isThere(number))
    }

    /// Many at once, each with its own size: no client gets another's answer, and few processes stay idle.
    @Test func concurrentAnswersAreNotConfused() throws {
        let client = DecoderClient(path: noted.path, from: .server)
        let wrong = Mutex(0)
        let pictures = try (0..<8).map { index in
            let grey = PixelColor(red: UInt8(30 * index), green: UInt8(30 * index), blue: UInt8(30 * index))
            let size = PixelSize(width: 24 + 8 * index, height: 24)
            return (size, grey, try Tool.cjpeg(PixelBuffer(size: size, rows: [], background: grey).ppm))
        }
        DispatchQueue.concurrentPerform(iterations: 80) { index in
            let (size, grey, bytes) = pictures[index % 8]
            let reply = try? client.decode(.bytes(bytes), DecodeRequest(box: size))
            let expected = PixelBuffer(size: size, rows: [], background: grey)
            guard let pixels = reply?.pixels, pixels.size == size, pixels.largestDifference(expected) < 4 else {
                return wrong.withLock { $0 += 1 }
            }
        }
        #expect(wrong.withLock { $0 } == 0)
        #expect(try roles().allSatisfy { $0 == "--small" })
        #expect(try noted.starts.filter { isThere($0.number) }.count <= ProcessInfo.processInfo.activeProcessorCount)
    }

    @Test func survivesBrokenProcesses() throws {
        for (name, error) in BrokenDecoders.smalls {
            let client = DecoderClient(
                path: try BrokenDecoders.link(name, in: folder), budget: error == .tookTooLong ? 300 : 10_000,
                from: .server)
            for round in 0...SmallPictureDecoders.mostLosses {
                // Processes that never answer are not used again and again.
                if let error, round < SmallPictureDecoders.mostLosses {
                    #expect(throws: error, "\(name)") { try client.decode(.bytes(jpeg()), request) }
                } else {
                    #expect(try client.decode(.bytes(jpeg()), request).pixels?.size == request.box, "\(name)")
                }
            }
        }
    }

    /// A repeated answer is not taken for the next picture's.
    @Test func answersMatchTheirRequests() throws {
        let client = DecoderClient(path: try BrokenDecoders.link("small-answers-twice", in: folder), from: .server)
        let greys = try (0..<4).map { _ in try client.decode(.bytes(jpeg()), request).pixels?.color(0, 0).red }
        #expect(greys == [1, 128, 1, 128])
    }

    @Test func cancellationEndsTheProcess() throws {
        let client = DecoderClient(
            path: try BrokenDecoders.link("small-hangs", in: folder), budget: 1_000_000, from: .server)
        let picture = try jpeg()
        for _ in 0..<10 {
            let cancellation = DecodeCancellation()
            let isOver = Gate()
            let thrown = Mutex<PictureError?>(nil)
            Thread.detachNewThread { [request] in
                do throws(PictureError) {
                    _ = try client.decode(.bytes(picture), request, cancellation: cancellation)
                } catch {
                    thrown.withLock { $0 = error }
                }
                isOver.open()
            }
            cancellation.cancel()
            #expect(isOver.wait())
            #expect(thrown.withLock { $0 } == .cancelled)
        }
    }
}
