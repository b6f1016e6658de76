import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Pictures

@Suite(.ownThread) struct DecoderClientTests {
    private let folder = TestFolder()
    private let request = DecodeRequest(box: PixelSize(width: 16, height: 12))
    private let picture = PNGFile(.scene(width: 16, height: 12)).bytes

    /// A broken program. The programs lie in the repository: a file that a test writes might still be open for
    /// writing in a child that another test has just forked, and could not be executed.
    private func broken(_ name: String, budget: Int32 = 10_000) -> DecoderClient {
        DecoderClient(path: BrokenDecoders.path(name), budget: budget)
    }

    private static let origins: [DecoderClient.Origin] = [.program, .server]

    @Test(arguments: origins) func decodesBytesAndFiles(origin: DecoderClient.Origin) throws {
        let decoder = DecoderClient(path: try DecoderProcess.path, from: origin)
        #expect(try decoder.decode(.bytes(picture), request).pixels == .scene(width: 16, height: 12))
        let file = folder.write("picture", picture)
        #expect(try decoder.decode(.file(file), request).pixels == .scene(width: 16, height: 12))
    }

    @Test(
        "A raw file without a preview is developed, however the decoder is started",
        .disabled(if: Sanitizer.isOn, "the decoder limits its address space"), arguments: origins)
    func developsRawFiles(origin: DecoderClient.Origin) throws {
        let decoder = DecoderClient(path: try DecoderProcess.path, from: origin)
        let reply = try decoder.decode(.bytes(try PictureCorpus().bytes("sensor", "plain.dng")), request)
        #expect(reply.sourceSize == PixelSize(width: 608, height: 446) && reply.pixels?.size.width == 16)
    }

    @Test(arguments: origins) func reportsTheReason(origin: DecoderClient.Origin) throws {
        let decoder = DecoderClient(path: try DecoderProcess.path, from: origin)
        #expect(throws: PictureError.undecodable(.notAPicture)) {
            try decoder.decode(.bytes(Array("<html>".utf8)), request)
        }
        #expect(throws: PictureError.file("No such file or directory")) {
            try decoder.decode(.file(folder.path("missing")), request)
        }
        #expect(throws: PictureError.self) { try decoder.decode(.file(folder.path), request) }
    }

    @Test(.disabled(if: Sanitizer.isOn, "the decoder limits its address space")) func reportsRestrictionsAndLibraries()
        throws
    {
        let report = try DecoderClient(path: try DecoderProcess.path).report()
        #expect(report.restrictions.count == 2 && report.libraries.contains { $0.hasPrefix("libpng 1.") })
        for library in [
            "libjpeg-turbo 2.", "libwebp 1.", "libtiff 4.", "libheif 1.", "libjxl 0.", "libavcodec ", "LibRaw 0.",
        ] {
            #expect(report.libraries.contains { $0.hasPrefix(library) }, "\(report.libraries)")
        }
        for name in ["fails", "crashes", "says-nothing", "lies"] {
            #expect(throws: PictureError.decoderDied, "\(name)") { try broken(name).report() }
        }
    }

    @Test(
        "A decoder without a report stops only the picture that needed the report",
        .disabled(if: Sanitizer.isOn, "the decoder limits its address space"))
    func retriesTheReport() throws {
        let (notes, failed) = (folder.path("notes"), folder.path("failed"))
        let path = try folder.writeProgram(
            "decoder",
            """
            #!/bin/sh
            [ "$1" = --report ] && echo x >> '\(notes)'
            [ "$1" = --report ] && [ ! -e '\(failed)' ] && : > '\(failed)' && exit 1
            exec '\(try DecoderProcess.path)' "$@"

            """)
        let decoder = DecoderClient(path: path, requiresAllRestrictions: { true })
        #expect(throws: PictureError.decoderDied) { try decoder.decode(.bytes(picture), request) }
        for _ in 0..<3 {
            #expect(try decoder.decode(.bytes(picture), request).pixels == .scene(width: 16, height: 12))
        }
        // The second report is kept.
        #expect(try String(contentsOfFile: notes, encoding: .utf8) == "x\nx\n")
    }

    /// The scripts are no servers, so each is finally tried as a program, unless it hangs.
    @Test(arguments: origins) func survivesDecodersThatDieLieOrHang(origin: DecoderClient.Origin) throws {
        #expect(throws: PictureError.self) {
            try DecoderClient(path: folder.path("missing"), from: origin).decode(.bytes(picture), request)
        }
        for (name, error) in BrokenDecoders.scripts {
            let budget: Int32 = error == .tookTooLong ? 100 : 10_000
            let client = DecoderClient(path: BrokenDecoders.path(name), budget: budget, from: origin)
            #expect(throws: error, "\(name)") { try client.decode(.bytes(picture), request) }
        }
    }

    @Test func survivesDecodersWithAlmostValidAnswers() throws {
        for (name, error) in BrokenDecoders.links {
            let path = try BrokenDecoders.link(name, in: folder)
            let client = DecoderClient(path: path, budget: error == .tookTooLong ? 300 : 10_000)
            #expect(throws: error, "\(name)") { try client.decode(.bytes(picture), request) }
        }
    }

    /// It closes its standard error and continues to run.
    @Test func endsDecodersThatOnlyClosedTheirDescriptors() throws {
        #expect(throws: PictureError.decoderDied) {
            try broken("lets-go-and-hangs", budget: 1_000_000).decode(.bytes(picture), request)
        }
    }

    /// A decoder that writes faster than the client reads is still ended on time.
    @Test func timeLimitAppliesToFloodingDecoders() throws {
        let zeros = try #require(FileHandle(forReadingAtPath: "/dev/zero"))
        #expect(
            !DecoderProgram(path: "/", budget: 50, requirement: DecoderRequirement { false })
                .waitForEnd(zeros.fileDescriptor))
    }

    /// Before the start, during it and while it runs, the decoder ends long before its time limit.
    @Test func cancellationEndsTheDecoder() throws {
        for _ in 0..<20 {
            let cancellation = DecodeCancellation()
            let isOver = Gate()
            nonisolated(unsafe) var thrown: PictureError?
            Thread.detachNewThread { [picture, request, decoder = broken("hangs", budget: 1_000_000)] in
                do throws(PictureError) {
                    _ = try decoder.decode(.bytes(picture), request, cancellation: cancellation)
                } catch {
                    thrown = error
                }
                isOver.open()
            }
            cancellation.cancel()
            #expect(isOver.wait())
            #expect(thrown == .cancelled)
        }
    }
}
