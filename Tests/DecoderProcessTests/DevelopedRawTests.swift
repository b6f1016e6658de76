import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// Raw files whose sensor's data the decoder develops, because they have no preview or a tiny one.
@Suite(.ownThread, .disabled(if: Sanitizer.isOn, "the decoder limits its address space"))
struct DevelopedRawTests {
    private let folder = TestFolder()

    private func outcome(
        _ bytes: [UInt8], _ request: DecodeRequest, through command: [String] = []
    ) throws -> DecodeOutcome {
        let process = try DecoderProcess(bytes, arguments: [request.argument], through: command)
        #expect(process.status == 0)
        return try DecodeOutcome(reading: process.output, for: request)
    }

    private func reply(
        _ bytes: [UInt8], _ request: DecodeRequest, through command: [String] = []
    ) throws -> DecodeReply {
        switch try outcome(bytes, request, through: command) {
        case .picture(let reply): reply
        case .failure(let failure): throw failure
        }
    }

    private static func within(_ side: Int) -> DecodeRequest {
        DecodeRequest(box: PixelSize(width: side, height: side))
    }

    @Test(
        "The sensor’s data are developed like LibRaw’s own program does it",
        arguments: ["plain.dng", "tiny-preview.dng", "turned-3.dng", "turned-6.dng", "turned-8.dng"])
    func likeness(name: String) throws {
        let corpus = try PictureCorpus()
        let (bytes, expected) = (try corpus.bytes("sensor", name), try corpus.expected(name + ".ppm"))
        // The whole, half of it, and less.
        for side in [8192, 304, 100] {
            let reply = try reply(bytes, Self.within(side))
            let pixels = try #require(reply.pixels)
            #expect(reply.isComplete && !reply.isCoarse && reply.sourceSize == expected.size && reply.format == "DNG")
            #expect(side < 8192 || pixels.size == expected.size)
            let likeness = pixels.psnr(expected.scaled(PixelRect(whole: expected.size), to: pixels.size))
            #expect(likeness >= 30, "\(side): \(likeness)")
            #expect(reply.metadata.camera == "A maker A model" && reply.metadata.iso == 400)
        }
        var request = Self.within(200)
        request.region = try #require(UnitRect(x: 0.5, y: 0.25, width: 0.25, height: 0.5))
        let (width, height) = (Double(expected.width), Double(expected.height))
        let part = PixelRect(x: width / 2, y: height / 4, width: width / 4, height: height / 2)
        let pixels = try #require(try reply(bytes, request).pixels)
        #expect(pixels.psnr(expected.scaled(part, to: pixels.size)) >= 30)
    }

    /// A Raspberry Pi writes the directory last. So the file's first bytes do not tell that it is a raw file.
    @Test("A file whose first directory follows the data is developed like any other")
    func lateDirectory() throws {
        let corpus = try PictureCorpus()
        var bytes = try corpus.bytes("sensor", "tiny-preview.dng")
        let expected = try corpus.expected("tiny-preview.dng.ppm")
        try #require(bytes.starts(with: [0x49, 0x49, 42, 0]))
        func number(at place: Int, _ length: Int) -> Int {
            bytes[place..<place + length].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let start = number(at: 4, 4)
        let directory = Array(bytes[start..<start + 2 + 12 * number(at: start, 2) + 4])
        if !bytes.count.isMultiple(of: 2) { bytes.append(0) }
        let place = bytes.count
        try #require(place > 4_096)
        bytes.replaceSubrange(4..<8, with: (0..<4).map { UInt8(truncatingIfNeeded: place >> (8 * $0)) })
        bytes.replaceSubrange(start..<start + directory.count, with: [UInt8](repeating: 0, count: directory.count))
        let reply = try reply(bytes + directory, Self.within(8192))
        let pixels = try #require(reply.pixels)
        #expect(reply.isComplete && reply.sourceSize == expected.size && reply.format == "DNG")
        #expect(pixels.psnr(expected.scaled(PixelRect(whole: expected.size), to: pixels.size)) >= 30)
    }

    @Test("The size is that of the sensor, also without pixels")
    func facts() throws {
        var request = Self.within(80)
        request.product = .facts
        for name in ["plain.dng", "tiny-preview.dng"] {
            let reply = try reply(try PictureCorpus().bytes("sensor", name), request)
            #expect(reply.sourceSize == PixelSize(width: 608, height: 446) && reply.pixels == nil)
        }
    }

    @Test("A server leaves these files to a program, and decodes others itself")
    func servers() throws {
        let corpus = try PictureCorpus()
        let arguments = [Self.within(80).argument]
        for (folder, name, status) in [
            ("sensor", "plain.dng", DecoderService.elsewhere), ("sensor", "tiny-preview.dng", DecoderService.elsewhere),
            ("pictures", "raw-whole.cr2", 0),
        ] {
            let bytes = try corpus.bytes(folder, name)
            #expect(try DecoderProcess(bytes, arguments: arguments, from: .server).status == status, "\(name)")
        }
    }

    @Test("Without the library, a tiny preview is shown, and a file without one refused")
    func withoutLibrary() throws {
        // The system's loader takes these files, which are no libraries.
        for version in [20, 23] { _ = folder.write("libraw_r.so.\(version)", [UInt8]()) }
        let command = ["/usr/bin/env", "LD_LIBRARY_PATH=\(folder.path)"]
        let corpus = try PictureCorpus()
        let tiny = try reply(try corpus.bytes("sensor", "tiny-preview.dng"), Self.within(8192), through: command)
        #expect(tiny.sourceSize == PixelSize(width: 160, height: 120) && tiny.pixels?.size == tiny.sourceSize)
        #expect(
            try outcome(try corpus.bytes("sensor", "plain.dng"), Self.within(80), through: command)
                == .failure(.noPreview(format: "DNG")))
    }

    @Test("A cut file, or one that claims a large sensor, gets an answer")
    func damage() throws {
        let corpus = try PictureCorpus()
        let whole = try corpus.bytes("sensor", "plain.dng")
        for length in stride(from: 8, to: whole.count, by: whole.count / 12) {
            _ = try outcome(Array(whole[..<length]), Self.within(80))
        }
        // The width and the height of 608 by 446 pixels are the entries 0x0100 and 0x0101.
        for (width, height) in [(65_000, 65_000), (60_000, 4_000), (12_000, 9_000)] {
            var bytes = whole
            for (tag, side) in [(UInt8(0), width), (UInt8(1), height)] {
                let place = try #require(bytes.firstRange(of: [tag, 1, 4, 0, 1, 0, 0, 0])).upperBound
                for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: side >> (8 * byte)) }
            }
            guard case .failure = try outcome(bytes, Self.within(80)) else {
                Issue.record("\(width) × \(height) pixels were shown")
                continue
            }
        }
    }

    @Test("Changed numbers in the header end at most the picture’s own process")
    func numbers() throws {
        let whole = try PictureCorpus().bytes("sensor", "tiny-preview.dng")
        var numbers = BoundaryNumbers(seed: 1)
        var answers = 0
        for _ in 0..<60 {
            var bytes = whole
            numbers.overwrite(&bytes, at: Int.random(in: 0..<900, using: &numbers))
            let request = Self.within(80)
            let process = try DecoderProcess(bytes, arguments: [request.argument])
            guard process.status == 0 else { continue }
            _ = try DecodeOutcome(reading: process.output, for: request)
            answers += 1
        }
        #expect(answers > 50, "\(answers)")
    }
}
