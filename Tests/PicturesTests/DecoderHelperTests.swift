import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Pictures

@Suite struct DecoderHelperTests {
    private let folder = TestFolder()
    private let request = DecodeRequest(box: PixelSize(width: 16, height: 12))
    private let picture = PNGFile(.scene(width: 16, height: 12)).bytes

    private func helper(_ script: String, budget: Int32 = 10_000) throws -> DecoderHelper {
        let path = folder.write("helper", "#!/bin/sh\n" + script)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return DecoderHelper(path: path, budget: budget)
    }

    @Test func decodesBytesAndFiles() throws {
        let helper = DecoderHelper(path: try DecoderProcess.path)
        #expect(try helper.decode(.bytes(picture), request).pixels == .scene(width: 16, height: 12))
        let file = folder.write("picture", picture)
        #expect(try helper.decode(.file(file), request).pixels == .scene(width: 16, height: 12))
    }

    @Test func saysWhyNot() throws {
        let helper = DecoderHelper(path: try DecoderProcess.path)
        #expect(throws: PictureError.undecodable(.notAPicture)) {
            try helper.decode(.bytes(Array("<html>".utf8)), request)
        }
        #expect(throws: PictureError.file("No such file or directory")) {
            try helper.decode(.file(folder.path("missing")), request)
        }
        #expect(throws: PictureError.self) { try helper.decode(.file(folder.path), request) }
    }

    @Test func decoderMayDieLieOrHang() throws {
        #expect(throws: PictureError.self) {
            try DecoderHelper(path: folder.path("missing")).decode(.bytes(picture), request)
        }
        for script in [
            "exit 1", "kill -SEGV $$", "exit 0", "echo garbage >&1", "yes | head -c 100000 >&1", "echo x >&2",
        ] {
            #expect(throws: PictureError.decoderDied, "\(script)") {
                try helper(script).decode(.bytes(picture), request)
            }
        }
        #expect(throws: PictureError.tookTooLong) {
            try helper("exec sleep 1000", budget: 100).decode(.bytes(picture), request)
        }
        // Closing everything does not make it wait forever.
        #expect(throws: PictureError.decoderDied) {
            try helper("exec 0<&- 1>&- 2>&-; exit 0").decode(.bytes(picture), request)
        }
    }

    @Test func cancellationEndsTheDecoder() throws {
        let started = folder.path("started")
        try #require(mkfifo(started, 0o600) == 0)
        let helper = try helper("echo go >\(started); exec sleep 1000")
        let cancellation = DecodeCancellation()
        let isOver = Gate()
        nonisolated(unsafe) var thrown: PictureError?
        Thread.detachNewThread { [picture, request] in
            do throws(PictureError) {
                _ = try helper.decode(.bytes(picture), request, cancellation: cancellation)
            } catch {
                thrown = error
            }
            isOver.open()
        }
        // Opening the other end waits for the decoder to run.
        close(open(started, O_RDONLY))
        cancellation.cancel()
        #expect(isOver.wait())
        #expect(thrown == .cancelled)
        #expect(throws: PictureError.cancelled) {
            try helper.decode(.bytes(picture), request, cancellation: cancellation)
        }
    }

    @Test func nothingIsInheritedButThreeDescriptors() throws {
        let descriptor = open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        // The real one closes whatever it got; here it is only seen that none of ours is among it.
        let list = folder.path("list")
        let helper = try helper("ls -l /proc/self/fd >\(list)")
        _ = try? helper.decode(.bytes(picture), request)
        let text = try String(contentsOfFile: list, encoding: .utf8)
        #expect(text.contains("0 -> /memfd:vitrine"))
    }
}
