import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@Suite(.ownThread, .disabled(if: Sanitizer.isOn, "the decoder limits its address space"))
struct DecoderProcessTests {
    private let folder = TestFolder()
    private let request = DecodeRequest(box: PixelSize(width: 16, height: 12))

    @Test(arguments: DecoderProcess.Origin.allCases) func decodesASealedBlock(origin: DecoderProcess.Origin) throws {
        let scene = PixelBuffer.scene(width: 160, height: 120)
        let reply = try picture(of: outcome(try Tool.cjpeg(scene.ppm, "-quality", "95"), origin))
        #expect(reply.sourceSize == scene.size && reply.isComplete && reply.format == "JPEG")
        #expect(reply.pixels?.size == request.box)
        let png = try picture(of: outcome(PNGFile(scene).bytes, origin))
        #expect(try #require(png.pixels).psnr(try #require(reply.pixels)) > 30)
    }

    @Test(arguments: DecoderProcess.Origin.allCases) func decodesAFileOnDisk(origin: DecoderProcess.Origin) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("picture")
        try Data(PNGFile(.scene(width: 16, height: 12)).bytes).write(to: file)
        let handle = try FileHandle(forReadingFrom: file)
        let process = try DecoderProcess(input: handle.fileDescriptor, arguments: [request.argument], from: origin)
        #expect(process.status == 0)
        let reply = try picture(of: try DecodeOutcome(reading: process.output, for: request))
        #expect(reply.pixels == .scene(width: 16, height: 12))
    }

    /// Formats that need no library, and those whose library is loaded for them. The sandbox forbids threads.
    @Test("The sandbox permits what each format needs")
    func everyFormat() throws {
        let corpus = try PictureCorpus()
        let plain = [
            "raw-whole.cr2", "bmp-24-bit.bmp", "netpbm.ppm", "qoi-plain.qoi", "jpeg-gain-map.jpg",
            "webp-grainy-lossy.webp", "gif-grainy.gif",
        ]
        // These raw files have tiny previews and no real data of a sensor, so they are shown by the previews.
        let loaded = [
            "raw-arw.arw", "raw-cr3.cr3", "raw-dng.dng", "raw-nef.nef", "raw-orf.orf", "raw-pef.pef",
            "raw-raf.raf", "raw-rw2.rw2", "raw-srw.srw",
            "jxl-lossy.jxl", "jxl-lossless.jxl", "jxl-large.jxl", "jxl-described.jxl", "hdr-pq.avif", "hdr-pq.jxl",
            "heic-lossy.heic", "avif-lossy.avif", "tiff-grainy.tif", "video-h264.mp4", "video-hevc.mov",
            "video-vp8.webm", "video-vp9.webm", "video-av1.mkv", "video-mjpeg.avi", "video-mpeg4.avi", "video-h263.3gp",
            "video-mpeg2.mpg", "video-h264.mts", "video-hdr-pq.mov", "video-hdr-hlg.webm",
        ]
        for (names, origin) in [(plain, DecoderProcess.Origin.server), (plain, .program), (loaded, .program)] {
            for name in names {
                let bytes = try corpus.bytes("pictures", name)
                var request = DecodeRequest(box: PixelSize(width: 80, height: 80))
                request.background = PixelColor(red: 0x20, green: 0x40, blue: 0x60)
                let process = try DecoderProcess(bytes, arguments: [request.argument], from: origin)
                #expect(process.status == 0, "\(name)")
                guard process.status == 0 else { continue }
                let reply = try picture(of: try DecodeOutcome(reading: process.output, for: request))
                let pixels = try #require(reply.pixels, "\(name)")
                let expected = try corpus.expected(name + ".ppm")
                #expect(
                    pixels.psnr(expected.scaled(PixelRect(whole: expected.size), to: pixels.size)) >= 30, "\(name)")
            }
        }
    }

    @Test(arguments: DecoderProcess.Origin.allCases) func answersWithoutPixels(origin: DecoderProcess.Origin) throws {
        var request = request
        request.product = .facts
        let process = try DecoderProcess(
            PNGFile(.scene(width: 16, height: 12)).bytes, arguments: [request.argument], from: origin)
        let reply = try picture(of: try DecodeOutcome(reading: process.output, for: request))
        #expect(reply.pixels == nil && reply.sourceSize == PixelSize(width: 16, height: 12))
    }

    @Test(arguments: DecoderProcess.Origin.allCases) func answersWithFailures(origin: DecoderProcess.Origin) throws {
        #expect(try outcome([], origin) == .failure(.notAPicture))
        #expect(try outcome(Array("<html>".utf8), origin) == .failure(.notAPicture))
        #expect(try outcome(Array("GIF89a".utf8), origin) == .failure(.damaged("its header is missing")))
        let enormous = PixelSize(width: 65_500, height: 65_500)
        let header = PNGFile.chunk("IHDR", PNGFile.header(enormous, 8, 2, isInterlaced: false))
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        #expect(try outcome(signature + header, origin) == .failure(.tooLarge(width: 65_500, height: 65_500)))
    }

    /// Old kernels and some containers have no call that closes all descriptors at once.
    @Test func closesDescriptorsOneByOneWhereNecessary() throws {
        let log = folder.path("calls")
        let process = try DecoderProcess(
            PNGFile(.scene(width: 16, height: 12)).bytes, arguments: [request.argument],
            through: [
                "/bin/sh", "-c", "exec \"$@\" 7</dev/null 8</dev/null", "sh", "/usr/bin/strace", "-o", log, "-e",
                "trace=close,close_range", "-e", "inject=close_range:error=ENOSYS",
            ])
        #expect(process.status == 0)
        let reply = try picture(of: try DecodeOutcome(reading: process.output, for: request))
        #expect(reply.pixels == .scene(width: 16, height: 12))
        let calls = try String(contentsOfFile: log, encoding: .utf8)
        #expect(calls.contains("ENOSYS") && calls.contains(/close\(7\) += 0/) && calls.contains(/close\(8\) += 0/))
    }

    /// A server's processes cannot list open descriptors. Without that call there is no server, and clients start
    /// programs.
    @Test func doesNotServeWhereDescriptorsCannotBeClosedAtOnce() {
        let strace = ["/usr/bin/strace", "-f", "-o", folder.path("calls"), "-e", "inject=close_range:error=ENOSYS"]
        #expect(throws: ToolError.self) {
            try DecoderProcess(
                PNGFile(.scene(width: 16, height: 12)).bytes, arguments: [request.argument], through: strace,
                from: .server)
        }
    }

    @Test(arguments: DecoderProcess.Origin.allCases) func refusesOtherArguments(origin: DecoderProcess.Origin) throws {
        for arguments in [
            [], ["--help"], [request.argument, "more"], [request.argument + "0"], [request.argument.uppercased()],
        ] {
            let process = try DecoderProcess(
                PNGFile(.scene(width: 2, height: 2)).bytes, arguments: arguments, from: origin)
            #expect(process.status == 0)
            guard case .failure(.badRequest) = try DecodeOutcome(reading: process.output, for: request) else {
                Issue.record("\(arguments) were accepted")
                continue
            }
        }
    }

    @Test(arguments: DecoderProcess.Origin.allCases) func refusesDevices(origin: DecoderProcess.Origin) throws {
        let null = try #require(FileHandle(forReadingAtPath: "/dev/null"))
        let process = try DecoderProcess(input: null.fileDescriptor, arguments: [request.argument], from: origin)
        #expect(
            try DecodeOutcome(reading: process.output, for: request)
                == .failure(.badRequest("no regular file")))
    }

    @Test(arguments: DecoderProcess.Origin.allCases) func exitStatusIsOneWithoutAnAnswer(origin: DecoderProcess.Origin)
        throws
    {
        let null = try #require(FileHandle(forUpdatingAtPath: "/dev/null"))
        let bytes = PNGFile(.scene(width: 2, height: 2)).bytes
        let input = try SealedMemory(sealing: bytes)
        let status =
            switch origin {
            case .program:
                try DecoderProcess.run(
                    [DecoderProcess.path, request.argument], input: input.descriptor, output: null.fileDescriptor)
            case .server:
                try DecoderProcess.serve(
                    [DecoderProcess.path], [request.argument], input: input.descriptor, output: null.fileDescriptor)
            }
        #expect(status == 1)
    }

    /// A small file that claims a large progressive picture, in a process with only 200 MB. The picture is not at
    /// fault.
    @Test(arguments: DecoderProcess.Origin.allCases) func answersWhenMemoryIsShort(
        origin: DecoderProcess.Origin
    ) throws {
        let process = try DecoderProcess(
            try large("2x2"), arguments: [request.argument], through: ["/usr/bin/prlimit", "--as=200000000"],
            from: origin)
        #expect(process.status == 0)
        #expect(try DecodeOutcome(reading: process.output, for: request) == .failure(.shortOfMemory))
    }

    /// A picture that exceeds the decoder's memory on any machine: 600 MB of coefficients besides a file of 500 MB.
    @Test(arguments: DecoderProcess.Origin.allCases) func answersWhenAPictureNeedsTooMuchMemory(
        origin: DecoderProcess.Origin
    ) throws {
        let file = folder.write("picture", try large("1x1"))
        truncate(file, 500 << 20)
        let handle = try #require(FileHandle(forReadingAtPath: file))
        let process = try DecoderProcess(input: handle.fileDescriptor, arguments: [request.argument], from: origin)
        #expect(process.status == 0)
        #expect(try DecodeOutcome(reading: process.output, for: request) == .failure(.outOfMemory))
    }

    /// A tiny progressive file that claims 9,984 × 9,984 pixels.
    private func large(_ sampling: String) throws -> [UInt8] {
        var bytes = try Tool.cjpeg(
            PixelBuffer.scene(width: 16, height: 16).ppm, "-progressive", "-sample", sampling)
        let frame = try #require(bytes.firstRange(of: [0xFF, 0xC2, 0x00, 0x11])).upperBound
        bytes.replaceSubrange(frame + 1..<frame + 5, with: [0x27, 0x00, 0x27, 0x00])
        return bytes
    }

    private func outcome(_ bytes: [UInt8], _ origin: DecoderProcess.Origin) throws -> DecodeOutcome {
        let process = try DecoderProcess(bytes, arguments: [request.argument], from: origin)
        #expect(process.status == 0)
        return try DecodeOutcome(reading: process.output, for: request)
    }

    private func picture(of outcome: DecodeOutcome) throws -> DecodeReply {
        switch outcome {
        case .picture(let reply): reply
        case .failure(let failure): throw failure
        }
    }
}
