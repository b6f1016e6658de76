import PictureTestSupport
import Pixels
import TestSupport
import Testing

/// The background behind transparent pictures.
struct TransparencyTests {
    private static let size = PixelSize(width: 64, height: 48)
    private static let light = PixelColor(red: 153, green: 153, blue: 153)
    private static let dark = PixelColor(red: 102, green: 102, blue: 102)

    /// Opaque red on the left, half transparent green in the middle, fully transparent on the right.
    private static var file: PNGFile {
        PNGFile(.rgbAlpha, depth: 8, size: size) { x, _ in
            x < 16 ? [255, 0, 0, 255] : x < 32 ? [0, 255, 0, 128] : [9, 9, 9, 0]
        }
    }

    private static func chequered(_ side: Int) -> DecodeRequest {
        var request = DecodeRequest.within(side)
        request.isChequered = true
        request.background = PixelColor(red: 0, green: 0, blue: 200)
        return request
    }

    @Test func showsTheChequerboard() throws {
        let pixels = try #require(try decode(Self.file.bytes, Self.chequered(64)).pixels)
        #expect(pixels.color(32, 0) == Self.light && pixels.color(40, 0) == Self.dark)
        #expect(pixels.color(32, 8) == Self.dark && pixels.color(39, 7) == Self.light)
        #expect(pixels.color(3, 3) == PixelColor(red: 255, green: 0, blue: 0))
        #expect(abs(Int(pixels.color(16, 0).green) - (255 + 153) / 2) <= 1)
        #expect(abs(Int(pixels.color(24, 0).green) - (255 + 102) / 2) <= 1)
    }

    /// The squares have a fixed size in the output, for any picture.
    @Test func squaresDoNotScale() throws {
        let pixels = try #require(try decode(Self.file.bytes, Self.chequered(32)).pixels)
        #expect(pixels.size == PixelSize(width: 32, height: 24))
        #expect(pixels.color(16, 0) == Self.light && pixels.color(24, 0) == Self.dark)
        #expect(pixels.color(16, 8) == Self.dark)
        var wide = Self.chequered(64)
        wide.pixelAspect = 0.5
        let cells = try #require(try decode(Self.file.bytes, wide).pixels)
        #expect(cells.color(32, 0) == Self.light && cells.color(47, 0) == Self.light && cells.color(48, 0) == Self.dark)
    }

    @Test(arguments: ["png32:-", "webp:-", "gif:-", "tiff:-"])
    func everyFormatShowsTheChequerboard(format: String) throws {
        let bytes = try Tool.convert(Self.file.bytes, "png:-", "-define", "webp:lossless=true", format)
        let pixels = try #require(try decode(bytes, Self.chequered(64)).pixels)
        #expect(pixels.color(32, 0) == Self.light && pixels.color(40, 0) == Self.dark, "\(format)")
        #expect(pixels.color(3, 3) == PixelColor(red: 255, green: 0, blue: 0))
        var plain = Self.chequered(64)
        plain.isChequered = false
        #expect(try decode(bytes, plain).pixels?.color(50, 3) == plain.background)
    }

    /// libtiff passes grey values on as they are stored: multiplied by associated opacity, or not.
    @Test("A grey TIFF with opacity looks like the same PNG", arguments: ["unassociated", "associated"])
    func greyTIFF(opacity: String) throws {
        let grey = PNGFile(.greyAlpha, depth: 8, size: Self.size) { x, _ in
            x < 16 ? [250, 255] : x < 32 ? [200, 128] : [90, 0]
        }
        let tiff = try Tool.convert(grey.bytes, "png:-", "-define", "tiff:alpha=\(opacity)", "tiff:-")
        let pixels = try #require(try decode(tiff, Self.chequered(64)).pixels)
        let expected = try #require(try decode(grey.bytes, Self.chequered(64)).pixels)
        for x in [3, 20, 28, 40, 60] {
            let (got, wanted) = (pixels.color(x, 3), expected.color(x, 3))
            #expect(abs(Int(got.red) - Int(wanted.red)) <= 1 && got.red == got.green && got.red == got.blue, "\(x)")
        }
    }

    /// Editors store selections in unspecified channels. libtiff does not multiply the colours by such a channel.
    @Test("A TIFF's fourth channel is no opacity unless the file says so")
    func unspecifiedChannel() throws {
        let tiff = try Tool.convert(Self.file.bytes, "png:-", "-define", "tiff:alpha=unspecified", "tiff:-")
        let opaque = PNGFile(.rgb, depth: 8, size: Self.size) { x, y in Array(Self.file.samples(x, y).prefix(3)) }
        var request = DecodeRequest.within(64)
        request.background = PixelColor(red: 255, green: 255, blue: 255)
        #expect(try decode(tiff, request).pixels == decode(opaque.bytes, request).pixels)
    }

    @Test func squaresDoNotTurnWithThePicture() throws {
        var file = Self.file
        file.chunks = [("eXIf", ExifFile(orientation: 6).tiff)]
        let pixels = try #require(try decode(file.bytes, Self.chequered(64)).pixels)
        #expect(pixels.size == PixelSize(width: 48, height: 64))
        #expect(pixels.color(0, 40) == Self.dark && pixels.color(0, 48) == Self.light)
        #expect(pixels.color(8, 48) == Self.dark)
    }

    /// An opaque truncated picture is followed by the background.
    @Test func missingRowsShowNoChequerboard() throws {
        let bytes = PNGFile(.noise(width: 60, height: 60)).bytes
        let reply = try decode(Array(bytes[..<(bytes.count / 2)]), Self.chequered(60))
        #expect(reply.pixels?.color(30, 59) == PixelColor(red: 0, green: 0, blue: 200))
    }
}
