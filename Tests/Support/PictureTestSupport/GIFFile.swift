import Pixels

/// Writes valid and invalid GIF files, nearly uncompressed: the table is cleared every few pixels.
public struct GIFFile {
    /// One frame: palette indices, row by row.
    public struct Frame {
        /// Its position on the canvas.
        public var origin = (x: 0, y: 0)
        /// Its size.
        public var size: PixelSize
        /// Its pixels.
        public var indices: [UInt8]
        /// The transparent colour.
        public var transparent: UInt8?
        /// Its disposal: 1 stays, 2 is cleared, 3 restores the previous contents.
        public var disposal: UInt8 = 0
        /// Hundredths of a second.
        public var delay: UInt16 = 0
        /// Its own palette.
        public var palette: [PixelColor] = []

        /// Creates a frame of one colour.
        public init(size: PixelSize, filled index: UInt8) {
            self.size = size
            indices = Array(repeating: index, count: size.width * size.height)
        }
    }

    /// The canvas's size.
    public var size: PixelSize
    /// The global palette of 4 colours.
    public var palette: [PixelColor]
    /// The frames.
    public var frames: [Frame] = []

    /// Creates an empty canvas with four colours.
    public init(size: PixelSize, palette: [PixelColor]) {
        self.size = size
        self.palette = palette
    }

    /// The file.
    public var bytes: [UInt8] {
        var file = Array("GIF89a".utf8) + Self.little(size.width) + Self.little(size.height) + [0x81, 0, 0]
        file += Self.colours(palette)
        for frame in frames {
            let flags = frame.disposal << 2 | (frame.transparent == nil ? 0 : 1)
            file += [0x21, 0xF9, 4, flags] + Self.little(Int(frame.delay)) + [frame.transparent ?? 0, 0]
            file += [0x2C] + [frame.origin.x, frame.origin.y, frame.size.width, frame.size.height].flatMap(Self.little)
            file += [frame.palette.isEmpty ? 0 : 0x81] + (frame.palette.isEmpty ? [] : Self.colours(frame.palette))
            file += [2] + Self.blocks(Self.codes(frame.indices))
        }
        return file + [0x3B]
    }

    private static func colours(_ palette: [PixelColor]) -> [UInt8] {
        (0..<4).flatMap { index in
            let color = index < palette.count ? palette[index] : .black
            return [color.red, color.green, color.blue]
        }
    }

    /// Codes of three bits: two pixels, then the clear code (4), so that codes never get longer; 5 ends it.
    private static func codes(_ indices: [UInt8]) -> [UInt8] {
        var codes: [UInt8] = [4]
        for (count, index) in indices.enumerated() {
            if count > 0, count % 2 == 0 { codes.append(4) }
            codes.append(index)
        }
        codes.append(5)
        var (bytes, bits, count): ([UInt8], Int, Int) = ([], 0, 0)
        for code in codes {
            bits |= Int(code) << count
            count += 3
            while count >= 8 {
                bytes.append(UInt8(bits & 255))
                bits >>= 8
                count -= 8
            }
        }
        return count > 0 ? bytes + [UInt8(bits)] : bytes
    }

    private static func blocks(_ bytes: [UInt8]) -> [UInt8] {
        stride(from: 0, to: bytes.count, by: 255).flatMap { start in
            let block = bytes[start..<min(start + 255, bytes.count)]
            return [UInt8(block.count)] + block
        } + [0]
    }

    private static func little(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8 & 255)] }
}
