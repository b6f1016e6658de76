import Glibc
import Pixels

/// What the pictures of an animation paint on, one after the other: red, green, blue and opacity, transparent at first.
///
/// Its memory is calloc's, because an array that does not fit into memory ends the process without an answer.
final class AnimationCanvas {
    /// A part of the canvas in whole pixels.
    struct Area {
        let columns: Range<Int>
        let rows: Range<Int>

        /// The part of a rectangle that lies on a canvas.
        init(x: Int, y: Int, width: Int, height: Int, on size: PixelSize) {
            columns = min(x, size.width)..<min(x + width, size.width)
            rows = min(y, size.height)..<min(y + height, size.height)
        }

        /// Whether it is all of the canvas.
        func covers(_ size: PixelSize) -> Bool {
            columns == 0..<size.width && rows == 0..<size.height
        }

        /// How many pixels it has.
        var pixelCount: Int { columns.count * rows.count }
    }

    static let bytesPerPixel = 4

    let size: PixelSize
    private let pixels: UnsafeMutablePointer<UInt8>

    /// Makes an empty canvas, whose size was found good.
    init(size: PixelSize) throws(DecodeFailure) {
        guard let memory = calloc(max(1, size.width * size.height), Self.bytesPerPixel) else { throw .outOfMemory }
        self.size = size
        pixels = memory.assumingMemoryBound(to: UInt8.self)
    }

    deinit {
        free(pixels)
    }

    /// One row's bytes, as long as the canvas lives.
    func row(_ y: Int) -> UnsafeMutableBufferPointer<UInt8> {
        let length = size.width * Self.bytesPerPixel
        return UnsafeMutableBufferPointer(start: pixels + y * length, count: length)
    }

    /// Makes a part transparent.
    func clear(_ area: Area) {
        forEachRow(of: area) { _, bytes in bytes.update(repeating: 0) }
    }

    /// A copy of a part, to be put back later.
    func copy(of area: Area) throws(DecodeFailure) -> AnimationCanvas {
        let copy = try AnimationCanvas(size: PixelSize(width: area.columns.count, height: area.rows.count))
        forEachRow(of: area) { row, bytes in _ = copy.row(row - area.rows.lowerBound).update(fromContentsOf: bytes) }
        return copy
    }

    /// Puts a copy back where it was made.
    func restore(_ copy: AnimationCanvas, in area: Area) {
        forEachRow(of: area) { row, bytes in _ = bytes.update(fromContentsOf: copy.row(row - area.rows.lowerBound)) }
    }

    private func forEachRow(of area: Area, _ body: (Int, UnsafeMutableBufferPointer<UInt8>) -> Void) {
        let bytes = area.columns.lowerBound * Self.bytesPerPixel..<area.columns.upperBound * Self.bytesPerPixel
        for y in area.rows { body(y, UnsafeMutableBufferPointer(rebasing: row(y)[bytes])) }
    }
}
