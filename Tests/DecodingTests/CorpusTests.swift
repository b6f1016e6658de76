import Foundation
import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// Pictures of every kind, written by other programs and compared with their decoding.
///
/// `VITRINE_CORPUS=FOLDER` uses an existing corpus from `Tools/Scripts/make-picture-corpus`.
struct CorpusTests {
    private static let background = PixelColor(red: 0x20, green: 0x40, blue: 0x60)

    @Test func matchesOtherDecoders() throws {
        let corpus = try PictureCorpus()
        let expected = corpus.names(in: "expected").filter { corpus.has("pictures", PictureCorpus.picture($0)) }
        #expect(expected.count > 100)
        for name in expected {
            let (file, frame) = (PictureCorpus.picture(name), PictureCorpus.frame(name))
            let likeness = try corpus.expected(name)
            let bytes = try corpus.bytes("pictures", file)
            var request = DecodeRequest.within(8192)
            request.background = Self.background
            request.frame = frame
            guard let whole = Self.decoded(bytes, request, name) else { continue }
            #expect(whole.isComplete && !whole.isCoarse && whole.sourceSize == likeness.size, "\(name)")
            #expect(whole.psnr(likeness) >= 30, "\(name): \(whole.psnr(likeness))")
            request.box = PixelSize(width: 80, height: 80)
            guard let small = Self.decoded(bytes, request, name) else { continue }
            let size = try #require(small.pixels?.size, "\(name), small")
            // Chroma reduced on one side only is not enlarged within the inverse DCT: its detail is halved.
            let least: Double = ["jpeg-411.jpg", "jpeg-440.jpg"].contains(name) ? 26 : 30
            #expect(small.psnr(likeness.scaled(to: size)) >= least, "\(name), small")
        }
    }

    @Test func allOrientationsGiveTheSamePicture() throws {
        let corpus = try PictureCorpus()
        for kind in ["png-orientation-N.png", "tiff-orientation-N.tif", "webp-orientation-N.webp"] {
            let first = try decodeWhole(try corpus.bytes("pictures", kind.replacingOccurrences(of: "N", with: "1")))
            for number in 2...8 {
                let name = kind.replacingOccurrences(of: "N", with: "\(number)")
                let reply = try decodeWhole(try corpus.bytes("pictures", name))
                #expect(reply.pixels == first.pixels, "\(name)")
                #expect(Int(reply.orientation.rawValue) == number)
            }
        }
    }

    @Test func showsTruncatedPicturesPartially() throws {
        let corpus = try PictureCorpus()
        var compared: Set<String> = []
        for name in corpus.names(in: "cut") {
            guard let reply = Self.decoded(try corpus.bytes("cut", name), .within(8192), name),
                let other = Self.decoded(try corpus.bytes("pictures", name), .within(8192), name)
            else { continue }
            let pixels = try #require(reply.pixels, "\(name)")
            let whole = try #require(other.pixels, "\(name)")
            compared.insert(String(name.prefix { $0 != "-" }))
            #expect(!reply.isComplete, "\(name)")
            let top = 0..<whole.height * 2 / 5
            let isCoarse = name.contains("interlaced") || name.contains("progressive")
            let likeness = pixels.cropped(0..<whole.width, top).psnr(whole.cropped(0..<whole.width, top))
            #expect(likeness >= (isCoarse ? 18 : 30), "\(name): \(likeness)")
        }
        #expect(compared == ["bmp", "gif", "jpeg", "netpbm", "png", "qoi", "raw", "tiff", "webp"])
    }

    @Test func refusesHugeClaims() throws {
        let corpus = try PictureCorpus()
        #expect(corpus.names(in: "refused").count > 15)
        for name in corpus.names(in: "refused") {
            let bytes = try corpus.bytes("refused", name)
            #expect("\(name)") {
                try decode(bytes, .within(80))
            } throws: { error in
                switch error as? DecodeFailure {
                case .tooLarge: !name.contains("nothing")
                case .damaged: true
                default: false
                }
            }
        }
    }

    @Test func survivesBombs() throws {
        let corpus = try PictureCorpus()
        #expect(corpus.names(in: "harmless").count > 5)
        for name in corpus.names(in: "harmless") {
            let reply = try decode(try corpus.bytes("harmless", name), .within(8192))
            #expect(reply.psnr(try corpus.expected(name + ".ppm")) >= 20, "\(name)")
        }
    }

    private static func decoded(_ bytes: [UInt8], _ request: DecodeRequest, _ name: String) -> DecodeReply? {
        do {
            return try decode(bytes, request)
        } catch {
            Issue.record("\(name): \(error)")
            return nil
        }
    }
}
