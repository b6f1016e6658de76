import Cells
import Decoding
import Foundation
import PictureTestSupport
import Pictures
import Pixels

/// A way to draw pictures with characters.
struct Contestant {
    let name: String
    /// Draws a photo, given all pixels of the screen.
    let draw: (Photo) throws -> [[ShownCell]]

    /// Vitrine's drawing.
    static func vitrine(_ symbols: DrawingStyle.Symbols, _ depth: ColourDepth) -> Contestant {
        Contestant(name: "vitrine \(symbols)") { photo in
            let style = DrawingStyle(symbols: symbols, colours: depth, cellAspect: 0.5)
            let parts = symbols.pixelsPerCell
            let cells = SymbolDrawing.draw(
                try photo.pixels(photo.columns * parts.columns, photo.rows * parts.rows), style)
            return (0..<cells.size.rows).map { row in
                (0..<cells.size.columns).map { ShownCell(cells[$0, row], TerminalPalette()) }
            }
        }
    }

    /// chafa's drawing of the same pixels for the same cells.
    static func chafa(_ symbols: String, _ colours: String, _ more: String...) -> Contestant {
        Contestant(name: "chafa \(symbols) \(more.joined(separator: " "))") { photo in
            let text = try Tool.run(
                "/usr/bin/chafa",
                [
                    "-f", "symbols", "--symbols", symbols, "-c", colours, "-w", "5", "--stretch", "--size",
                    "\(photo.columns)x\(photo.rows)", "--animate", "off",
                ] + more + [photo.file], input: [])
            return try CellText(text, TerminalPalette()).rows
        }
    }
}

/// A photo of the TestGallery, and the cells to draw it in.
struct Photo {
    let columns: Int
    let rows: Int
    /// The photo at the screen's resolution.
    let original: PixelBuffer
    /// A file with exactly these pixels, for other programs.
    let file: String

    /// - Parameters:
    ///   - folder: the folder for the file.
    ///   - widest: the most columns.
    ///   - highest: the most rows.
    init(_ path: String, in folder: String, columns widest: Int = 80, rows highest: Int = 40) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var request = DecodeRequest(
            box: PixelSize(width: widest * GlyphMasks.width, height: highest * GlyphMasks.height))
        request.enlarges = true
        let whole = try Self.decode(bytes, request)
        columns = max(1, whole.width / GlyphMasks.width)
        rows = max(1, whole.height / GlyphMasks.height)
        original = try Self.pixels(
            bytes, columns * GlyphMasks.width, rows * GlyphMasks.height, aspect: 1)
        file = folder + "/" + (path as NSString).lastPathComponent + ".png"
        try Data(PNGFile(original).bytes).write(to: URL(fileURLWithPath: file))
    }

    /// Returns the photo at another size.
    func pixels(_ width: Int, _ height: Int) throws -> PixelBuffer {
        try Self.pixels(
            PNGFile(original).bytes, width, height,
            aspect: Double(original.width) / Double(width) / (Double(original.height) / Double(height)))
    }

    private static func pixels(_ bytes: [UInt8], _ width: Int, _ height: Int, aspect: Double) throws -> PixelBuffer {
        var request = DecodeRequest(box: PixelSize(width: width, height: height))
        request.pixelAspect = aspect
        request.fitting = .cover
        request.enlarges = true
        return try decode(bytes, request)
    }

    private static func decode(_ bytes: [UInt8], _ request: DecodeRequest) throws -> PixelBuffer {
        let reply = try bytes.withUnsafeBytes { try Decoder.decode($0, request) }
        guard let pixels = reply.pixels else { throw QualityError.noPixels }
        return pixels
    }
}
