import Pixels

/// Writes PNG files of every kind, uncompressed, without another encoder.
public struct PNGFile {
    /// Colour types, numbered as in the PNG specification.
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// Grey.
        case grey = 0
        /// Red, green, blue.
        case rgb = 2
        /// Palette indices.
        case palette = 3
        /// Grey and opacity.
        case greyAlpha = 4
        /// Red, green, blue and opacity.
        case rgbAlpha = 6

        /// Samples per pixel.
        public var channels: Int {
            switch self {
            case .grey, .palette: 1
            case .greyAlpha: 2
            case .rgb: 3
            case .rgbAlpha: 4
            }
        }
    }

    /// The size.
    public var size: PixelSize
    /// The colour type.
    public var kind: Kind
    /// Bits per sample.
    public var depth: Int
    /// Whether it is stored in seven passes.
    public var isInterlaced = false
    /// Chunks between the header and the picture.
    public var chunks: [(type: String, content: [UInt8])] = []
    /// Chunks after the picture.
    public var chunksBehind: [(type: String, content: [UInt8])] = []
    /// The samples of a pixel.
    public var samples: (Int, Int) -> [Int]

    /// Creates a file whose pixels come from a function.
    public init(_ kind: Kind, depth: Int, size: PixelSize, samples: @escaping (Int, Int) -> [Int]) {
        self.kind = kind
        self.depth = depth
        self.size = size
        self.samples = samples
    }

    /// Creates a plain RGB file.
    public init(_ picture: PixelBuffer) {
        self.init(.rgb, depth: 8, size: picture.size) { x, y in
            let color = picture.color(x, y)
            return [Int(color.red), Int(color.green), Int(color.blue)]
        }
    }

    /// The file.
    public var bytes: [UInt8] {
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        file += Self.chunk("IHDR", Self.header(size, depth, kind.rawValue, isInterlaced: isInterlaced))
        for chunk in chunks { file += Self.chunk(chunk.type, chunk.content) }
        file += Self.chunk("IDAT", Self.zlib(rows))
        for chunk in chunksBehind { file += Self.chunk(chunk.type, chunk.content) }
        return file + Self.chunk("IEND", [])
    }

    /// Returns the contents of IHDR.
    public static func header(_ size: PixelSize, _ depth: Int, _ kind: UInt8, isInterlaced: Bool) -> [UInt8] {
        bigEndian(UInt32(size.width)) + bigEndian(UInt32(size.height)) + [
            UInt8(depth), kind, 0, 0, isInterlaced ? 1 : 0,
        ]
    }

    /// Returns a chunk with its length and checksum.
    public static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + content
        return bigEndian(UInt32(content.count)) + checked + bigEndian(crc(checked))
    }

    /// Returns four bytes, the highest first.
    public static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private typealias Pass = (x: Int, y: Int, dx: Int, dy: Int)

    private static let passes: [Pass] = [
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
    ]

    private var rows: [UInt8] {
        var rows: [UInt8] = []
        for pass in isInterlaced ? Self.passes : [(0, 0, 1, 1)] where pass.x < size.width {
            for y in stride(from: pass.y, to: size.height, by: pass.dy) {
                rows.append(0)
                rows += row(stride(from: pass.x, to: size.width, by: pass.dx).flatMap { samples($0, y) })
            }
        }
        return rows
    }

    /// Packs samples, the first in the highest bits.
    private func row(_ samples: [Int]) -> [UInt8] {
        if depth == 16 { return samples.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } }
        if depth == 8 { return samples.map { UInt8($0) } }
        let each = 8 / depth
        return stride(from: 0, to: samples.count, by: each).map { start in
            (0..<each).reduce(0) { byte, index in
                let sample = start + index < samples.count ? samples[start + index] : 0
                return byte | UInt8(sample << (8 - depth * (index + 1)))
            }
        }
    }

    /// Returns a zlib stream of stored blocks.
    public static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: bytes.count, by: 65535) {
            let block = bytes[start..<min(start + 65535, bytes.count)]
            let length = UInt16(block.count)
            stream.append(start + 65535 >= bytes.count ? 1 : 0)
            for number in [length, ~length] { stream += [UInt8(number & 255), UInt8(number >> 8)] }
            stream += block
        }
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a &+ UInt32(byte)) % 65521
            b = (b &+ a) % 65521
        }
        return stream + bigEndian(b << 16 | a)
    }

    private static let crcTable: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
    }

    /// Returns the checksum of a chunk's type and contents.
    public static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { crcTable[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ ($0 >> 8) }
    }
}
