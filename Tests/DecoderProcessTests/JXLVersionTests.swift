import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// Versions of libjxl, whose interface changed a little. The decoder loads the newest one that it knows.
@Suite(.ownThread, .disabled(if: Sanitizer.isOn, "the decoder limits its address space"))
struct JXLVersionTests {
    private let folder = TestFolder()
    private let request = DecodeRequest(box: PixelSize(width: 8192, height: 8192))

    /// A library with the interface and the number of version 0.11. It passes the work on to the installed library.
    private static let newer = #"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stddef.h>
        #include <stdint.h>

        uint32_t JxlDecoderVersion(void) { return 11000; }

        int JxlDecoderGetColorAsEncodedProfile(const void *decoder, int target, void *encoding) {
            int (*next)(const void *, const void *, int, void *) = dlsym(RTLD_NEXT, "JxlDecoderGetColorAsEncodedProfile");
            return next(decoder, NULL, target, encoding);
        }

        int JxlDecoderGetICCProfileSize(const void *decoder, int target, size_t *size) {
            int (*next)(const void *, const void *, int, size_t *) = dlsym(RTLD_NEXT, "JxlDecoderGetICCProfileSize");
            return next(decoder, NULL, target, size);
        }

        int JxlDecoderGetColorAsICCProfile(const void *decoder, int target, uint8_t *profile, size_t size) {
            int (*next)(const void *, const void *, int, uint8_t *, size_t) =
                dlsym(RTLD_NEXT, "JxlDecoderGetColorAsICCProfile");
            return next(decoder, NULL, target, profile, size);
        }
        """#

    /// Runs the decoder with further libraries in the test's folder.
    private func decoder(_ bytes: [UInt8], _ arguments: [String]) throws -> DecoderProcess {
        let process = try DecoderProcess(
            bytes, arguments: arguments, through: ["/usr/bin/env", "LD_LIBRARY_PATH=\(folder.path)"])
        try #require(process.status == 0)
        return process
    }

    private func pixels(_ bytes: [UInt8]) throws -> PixelBuffer? {
        let process = try decoder(bytes, [request.argument])
        guard case .picture(let reply) = try DecodeOutcome(reading: process.output, for: request) else { return nil }
        return reply.pixels
    }

    private func version() throws -> String? {
        let libraries = try DecoderReport(reading: decoder([], [DecoderReport.argument]).output).libraries
        return libraries.first { $0.hasPrefix("libjxl ") }
    }

    private static let pictures = ["jxl-lossy.jxl", "jxl-lossless.jxl", "hdr-pq.jxl", "hdr-hlg-lossless.jxl"]

    @Test(
        "Both interfaces of libjxl give the same pictures",
        .enabled(if: InstalledJXL.isOld, "the installed version is newer"))
    func interfaces() throws {
        let corpus = try PictureCorpus()
        let before = try Self.pictures.map { try pixels(try corpus.bytes("pictures", $0)) }
        #expect(!before.contains(nil))
        let source = folder.write("newer.c", Array(Self.newer.utf8))
        // With a version of their own, these functions do not replace those that the installed library calls itself.
        let versions = folder.write("versions", Array("NEWER { global: *; };".utf8))
        let built = try Command(
            "/usr/bin/gcc",
            [
                "-shared", "-fPIC", "-o", folder.path("libjxl.so.0.11"), source, "-Wl,--version-script=\(versions)",
                "-Wl,--no-as-needed", "-ljxl", "-ldl",
            ])
        try #require(built.status == 0, "\(built.errors)")
        let installed = try #require(try version())
        #expect(installed == "libjxl 0.11.0")
        for (name, expected) in zip(Self.pictures, before) {
            #expect(try pixels(try corpus.bytes("pictures", name)) == expected, "\(name)")
        }
    }

    @Test("A newer version that cannot be loaded does not hide an older one")
    func unusable() throws {
        let before = try version()
        _ = folder.write("libjxl.so.0.12", [UInt8]())
        #expect(try version() == before && before?.hasPrefix("libjxl 0.") == true)
    }
}

/// The version of libjxl on this system.
private enum InstalledJXL {
    /// Whether it has the old interface, as that of Debian 12.
    static let isOld =
        (try? libraries())?.contains { $0.hasPrefix("libjxl 0.7.") || $0.hasPrefix("libjxl 0.8.") } == true

    private static func libraries() throws -> [String] {
        let process = try DecoderProcess([], arguments: [DecoderReport.argument])
        return try DecoderReport(reading: process.output).libraries
    }
}
