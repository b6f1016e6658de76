/// The contents of a JPEG file before its scan.
struct Header: Sendable {
    let width: Int
    let height: Int
    /// One component for a grey picture; three for luma, blue-difference and red-difference chroma.
    let components: [Component]
    /// The number of coded units (MCUs) between restart markers; 0 without restart markers.
    let restartInterval: Int
    /// The position of the entropy-coded data in the file.
    let scanStart: Int

    /// The numbers of the first component's blocks in a coded unit (MCU), horizontally and vertically. Every other
    /// component has one block.
    var lumaBlocks: (across: Int, down: Int) { (components[0].across, components[0].down) }
    /// The number of coded units (MCUs) in a row.
    var columns: Int { (width + 8 * lumaBlocks.across - 1) / (8 * lumaBlocks.across) }
    /// The number of rows of coded units (MCUs).
    var rows: Int { (height + 8 * lumaBlocks.down - 1) / (8 * lumaBlocks.down) }
    /// The number of restart intervals.
    var intervals: Int { restartInterval == 0 ? 1 : (columns * rows + restartInterval - 1) / restartInterval }
    /// The number of blocks in the whole scan.
    var blocks: Int { columns * rows * (lumaBlocks.across * lumaBlocks.down + components.count - 1) }
}

/// Reads a file's marker segments up to the start of the scan (T.81, B.2). Declines unusual files.
struct HeaderReader {
    /// The longest side that this decoder accepts, in pixels.
    private static let sideLimit = 4096
    /// The maximum number of pixels that this decoder accepts.
    private static let areaLimit = 4 << 20

    private let bytes: [UInt8]
    private var position = 0
    /// The quantisation tables by their number in the file. A table is empty until the file defines it.
    private var quantisation = [[UInt16]](repeating: [], count: 4)
    private var first = [HuffmanCode?](repeating: nil, count: 4)
    private var other = [HuffmanCode?](repeating: nil, count: 4)
    private var restartInterval = 0
    private var frame: Frame?
    /// The colour transform that an Adobe segment declares.
    private var transform: UInt8?

    /// The contents of a frame header (T.81, B.2.2).
    private struct Frame {
        let width: Int
        let height: Int
        let components: [FrameComponent]
    }

    private struct FrameComponent {
        let identifier: UInt8
        let across: Int
        let down: Int
        let quantisation: Int
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads the header. Returns nil if the file is damaged or unusual.
    mutating func header() -> Header? {
        guard byte() == 0xFF, byte() == 0xD8 else { return nil }
        while let marker = marker() {
            guard let length = word(), length >= 2, length - 2 <= bytes.count - position else { return nil }
            let end = position + length - 2
            if marker == 0xDA { return header(ofScanEndingAt: end) }
            guard read(marker, end) else { return nil }
            position = end
        }
        return nil
    }

    /// Reads one segment. Returns false if this decoder does not support the file.
    private mutating func read(_ marker: UInt8, _ end: Int) -> Bool {
        switch marker {
        case 0xC0, 0xC1: readFrame(end)
        case 0xC4: readHuffmanCodes(end)
        case 0xDB: readQuantisation(end)
        case 0xDD: readRestartInterval(end)
        case 0xEE: readAdobe(end)
        // Exif may contain an orientation, and a profile changes the colours: this decoder handles neither.
        case 0xE1, 0xE2: false
        // JFIF, other applications' segments and comments do not affect the pixels.
        case 0xE0...0xEF, 0xFE: true
        // This decoder does not support other codings, a height after the scan, images without frames, or undefined
        // markers.
        default: false
        }
    }

    /// Reads the frame header (T.81, B.2.2): the size and the components.
    private mutating func readFrame(_ end: Int) -> Bool {
        guard frame == nil, end - position >= 6, byte() == 8, let height = word(), let width = word(),
            let count = byte(), end - position == 3 * Int(count), count == 1 || count == 3
        else { return false }
        // If the height is 0, the real height follows the first scan, in a DNL segment.
        guard width > 0, height > 0, width <= Self.sideLimit, height <= Self.sideLimit,
            width * height <= Self.areaLimit
        else { return false }
        var components: [FrameComponent] = []
        for index in 0..<Int(count) {
            guard let identifier = byte(), let factors = byte(), let table = byte(), table < 4 else { return false }
            let (across, down) = (Int(factors >> 4), Int(factors & 15))
            guard (1...4).contains(across), (1...4).contains(down) else { return false }
            if count == 1 {
                // A.2.2: in a scan of one component, an MCU is one block, regardless of the factors.
                components.append(
                    FrameComponent(identifier: identifier, across: 1, down: 1, quantisation: Int(table)))
            } else {
                guard across <= (index == 0 ? 2 : 1), down <= (index == 0 ? 2 : 1) else { return false }
                components.append(
                    FrameComponent(identifier: identifier, across: across, down: down, quantisation: Int(table)))
            }
        }
        let identifiers = components.map(\.identifier)
        guard Set(identifiers).count == identifiers.count, identifiers != Array("RGB".utf8) else { return false }
        frame = Frame(width: width, height: height, components: components)
        return true
    }

    /// Reads quantisation tables (T.81, B.2.4.1).
    private mutating func readQuantisation(_ end: Int) -> Bool {
        while position < end {
            guard let kind = byte(), kind & 15 < 4, kind >> 4 < 2 else { return false }
            let isWide = kind >> 4 == 1
            guard end - position >= (isWide ? 128 : 64) else { return false }
            var table: [UInt16] = []
            for _ in 0..<64 {
                guard let value = isWide ? word() : byte().map(Int.init), value > 0 else { return false }
                table.append(UInt16(truncatingIfNeeded: value))
            }
            quantisation[Int(kind & 3)] = table
        }
        return position == end
    }

    /// Reads Huffman codes (T.81, B.2.4.2).
    private mutating func readHuffmanCodes(_ end: Int) -> Bool {
        while position < end {
            guard let kind = byte(), kind & 15 < 4, kind >> 4 < 2, end - position >= 16 else { return false }
            let counts = bytes[position..<position + 16].map(Int.init)
            position += 16
            let total = counts.reduce(0, +)
            guard total <= 256, end - position >= total,
                let code = HuffmanCode(counts: counts, symbols: Array(bytes[position..<position + total]))
            else { return false }
            position += total
            if kind >> 4 == 0 {
                first[Int(kind & 3)] = code
            } else {
                other[Int(kind & 3)] = code
            }
        }
        return position == end
    }

    /// Reads the number of coded units between restart markers (T.81, B.2.4.4).
    private mutating func readRestartInterval(_ end: Int) -> Bool {
        guard end - position == 2, let interval = word() else { return false }
        restartInterval = interval
        return true
    }

    /// Reads the colour transform of an Adobe segment. The values are 0 for none, 1 for YCbCr, 2 for YCCK.
    private mutating func readAdobe(_ end: Int) -> Bool {
        guard end - position >= 12, bytes[position..<position + 5].elementsEqual("Adobe".utf8) else { return true }
        transform = bytes[position + 11]
        return true
    }

    /// Reads the scan header (T.81, B.2.3). The scan must contain all components in order, and all coefficients.
    private mutating func header(ofScanEndingAt end: Int) -> Header? {
        guard let frame, let count = byte(), Int(count) == frame.components.count,
            end - position == 2 * Int(count) + 3
        else { return nil }
        if count == 3, let transform, transform != 1 { return nil }
        var components: [Component] = []
        for part in frame.components {
            guard byte() == part.identifier, let tables = byte(), tables >> 4 < 4, tables & 15 < 4,
                let first = first[Int(tables >> 4)], let other = other[Int(tables & 15)],
                quantisation[part.quantisation].count == 64
            else { return nil }
            components.append(
                Component(
                    across: part.across, down: part.down, quantisation: quantisation[part.quantisation], first: first,
                    other: other))
        }
        guard byte() == 0, byte() == 63, byte() == 0 else { return nil }
        return Header(
            width: frame.width, height: frame.height, components: components, restartInterval: restartInterval,
            scanStart: end)
    }

    /// Reads the next marker and skips fill bytes before it. "Any marker may optionally be preceded by any number of
    /// fill bytes, which are bytes assigned code X’FF’" (T.81, B.1.1.2).
    private mutating func marker() -> UInt8? {
        guard byte() == 0xFF else { return nil }
        while let code = byte() {
            if code != 0xFF { return code }
        }
        return nil
    }

    private mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        position += 1
        return bytes[position - 1]
    }

    private mutating func word() -> Int? {
        guard let high = byte(), let low = byte() else { return nil }
        return Int(high) << 8 | Int(low)
    }
}

/// A colour component of a picture, with its tables.
struct Component: Sendable {
    /// The number of the component's blocks in a coded unit (MCU), horizontally: 1 or 2.
    let across: Int
    /// The number of the component's blocks in a coded unit (MCU), vertically: 1 or 2.
    let down: Int
    /// The 64 quantisation steps, in zigzag order.
    let quantisation: [UInt16]
    /// The Huffman code of the first coefficients.
    let first: HuffmanCode
    /// The Huffman code of all other coefficients.
    let other: HuffmanCode
}

/// A Huffman code as a file defines it (T.81, C.2).
struct HuffmanCode: Sendable {
    /// The number of codes of each length, from 1 to 16 bits.
    let counts: [Int]
    /// The symbols, sorted by the length of their codes.
    let symbols: [UInt8]

    /// Creates a code. Returns nil if there are more codes of one length than that length allows.
    ///
    /// The file may leave codes unused. C.2 forbids codes that consist only of ones, but this type accepts such codes,
    /// because they do no harm.
    init?(counts: [Int], symbols: [UInt8]) {
        guard counts.count == 16, counts.reduce(0, +) == symbols.count else { return nil }
        var next = 0
        for (index, count) in counts.enumerated() {
            next = next * 2 + count
            guard next <= 2 << index else { return nil }
        }
        self.counts = counts
        self.symbols = symbols
    }
}
