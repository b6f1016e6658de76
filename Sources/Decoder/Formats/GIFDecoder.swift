import Glibc
import Pixels

/// Decodes any frame of GIF 87a and 89a files, including interlaced, transparent and animated ones.
enum GIFDecoder: PictureDecoder {
    static let name = "GIF"

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8)
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        // For the first frame, it is enough to know whether there is a second one. To count all frames, this decoder
        // would have to read the whole file.
        let isCounted = request.frame > 0 || request.run > 1 || !request.wantsPixels
        guard let file = GIFFile(bytes, atMost: isCounted ? DecodeRequest.frames.count : 2) else {
            throw .damaged("its header is missing")
        }
        try PictureBounds.check(file.size, isHeldWhole: true)
        guard !file.frames.isEmpty else { throw .damaged("it contains no picture") }
        let index = min(request.frame, file.frames.count - 1)
        var facts = PictureFacts(format: name, frameCount: file.frames.count)
        if facts.frameCount > 1 { facts.duration = file.frames[index].duration }
        let plan = DecodePlan(stored: file.size, orientation: .upright, request: request)
        guard request.wantsPixels else { return plan.reply(facts) }

        let animation = Animation(size: file.size, frames: file.frames.map { placed($0, on: file.size) })
        return try animation.reply(at: index, by: plan, facts, nil) { current, canvas throws(DecodeFailure) in
            try paint(file.frames[current], of: file, in: animation.frames[current].area, on: canvas)
        }
    }

    private static func placed(_ frame: GIFFile.Frame, on size: PixelSize) -> Animation.Frame {
        Animation.Frame(
            area: AnimationCanvas.Area(
                x: frame.origin.x, y: frame.origin.y, width: frame.size.width, height: frame.size.height, on: size),
            disposal: frame.disposal, isOpaque: frame.transparent == nil,
            pixelCount: frame.size.width * frame.size.height, duration: frame.duration)
    }

    /// Decodes a frame and paints its opaque pixels. Returns how much of the frame the file contains. A truncated frame
    /// is coarse if it is interlaced; otherwise its bottom is missing.
    private static func paint(
        _ frame: GIFFile.Frame, of file: GIFFile, in area: AnimationCanvas.Area, on canvas: AnimationCanvas
    ) throws(DecodeFailure) -> Animation.Extent {
        let size = frame.size
        guard size.width > 0, size.height > 0 else { return .all }
        try PictureBounds.check(size, isHeldWhole: true)
        guard let memory = malloc(size.width * size.height) else { throw .outOfMemory }
        defer { free(memory) }
        let pixels = UnsafeMutableBufferPointer(
            start: memory.assumingMemoryBound(to: UInt8.self), count: size.width * size.height)
        var reader = LZWReader(file.data(of: frame))
        let rowsThere = reader.read(into: pixels) / size.width
        let colours = file.colours(of: frame)
        let order = GIFRowOrder(height: size.height, isInterlaced: frame.isInterlaced)
        for y in area.rows {
            guard let row = order.index(of: y - frame.origin.y, among: rowsThere) else { continue }
            let target = canvas.row(y)
            for x in area.columns {
                let index = pixels[row * size.width + x - frame.origin.x]
                guard index != frame.transparent else { continue }
                let colour = colours[Int(index)]
                target[4 * x] = colour.red
                target[4 * x + 1] = colour.green
                target[4 * x + 2] = colour.blue
                target[4 * x + 3] = 255
            }
        }
        return rowsThere == size.height ? .all : rowsThere > 0 ? .part : .nothing
    }
}

/// The structure of a GIF file, read without decoding pixels.
struct GIFFile {
    /// One frame: its properties and the offsets of its parts.
    struct Frame {
        var origin = (x: 0, y: 0)
        var size = PixelSize(width: 0, height: 0)
        var isInterlaced = false
        /// The offsets of the frame's palette; empty if it has none.
        var palette = 0..<0
        /// The index of the transparent colour; nil if there is none.
        var transparent: UInt8?
        var disposal = Animation.Disposal.keep
        /// The number of milliseconds for which to show the frame.
        var duration = 0
        /// The offset of the compressed pixels. The first of these bytes is the initial code size.
        var data = 0
    }

    /// The canvas's size; 0 if the file has none.
    let size: PixelSize
    /// The frames up to the file's end, or up to the limit of `init`.
    private(set) var frames: [Frame] = []

    private let bytes: UnsafeRawBufferPointer
    private static let headerLength = 13

    /// Reads a file with a valid signature, up to a number of frames. Returns nil if the header is incomplete.
    init?(_ bytes: UnsafeRawBufferPointer, atMost limit: Int) {
        guard bytes.count >= Self.headerLength else { return nil }
        self.bytes = bytes
        size = PixelSize(width: Self.number(bytes, at: 6), height: Self.number(bytes, at: 8))
        let common = Self.palette(flags: bytes[10], at: Self.headerLength)
        var position = common.upperBound
        // Properties of the next frame, from the extension before it.
        var next = Frame()
        while frames.count < limit, position < bytes.count {
            switch bytes[position] {
            case 0x21:
                readExtension(at: position, for: &next)
                position = end(ofBlocksAt: position + 2)
            case 0x2C:
                guard let frame = frame(at: position, next, common) else { return }
                frames.append(frame)
                next = Frame()
                position = end(ofBlocksAt: frame.data + 1)
            default:
                // 0x3B is the end; no other value is defined.
                return
            }
        }
    }

    /// Returns the file's bytes from a frame's compressed pixels to the end.
    func data(of frame: Frame) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[min(frame.data, bytes.count)...])
    }

    /// Returns a frame's 256 colours. Colours that the file lacks are black.
    func colours(of frame: Frame) -> [(red: UInt8, green: UInt8, blue: UInt8)] {
        let there = frame.palette.clamped(to: 0..<bytes.count)
        return (0..<256).map { index in
            let start = there.lowerBound + 3 * index
            return start + 3 <= there.upperBound ? (bytes[start], bytes[start + 1], bytes[start + 2]) : (0, 0, 0)
        }
    }

    /// Reads the next frame's disposal, duration and transparent colour from a "Graphic Control Extension".
    private func readExtension(at position: Int, for next: inout Frame) {
        guard position + 7 < bytes.count, bytes[position + 1] == 0xF9, bytes[position + 2] >= 4 else { return }
        let flags = bytes[position + 3]
        next.disposal =
            switch flags >> 2 & 7 {
            case 2: .clear
            case 3: .restore
            default: .keep
            }
        next.duration = 10 * Self.number(bytes, at: position + 4)
        next.transparent = flags & 1 != 0 ? bytes[position + 6] : nil
    }

    private func frame(at position: Int, _ next: Frame, _ common: Range<Int>) -> Frame? {
        guard position + 10 < bytes.count else { return nil }
        var frame = next
        frame.origin = (Self.number(bytes, at: position + 1), Self.number(bytes, at: position + 3))
        frame.size = PixelSize(
            width: Self.number(bytes, at: position + 5), height: Self.number(bytes, at: position + 7))
        let flags = bytes[position + 9]
        frame.isInterlaced = flags & 0x40 != 0
        let own = Self.palette(flags: flags, at: position + 10)
        frame.palette = own.isEmpty ? common : own
        frame.data = own.upperBound
        return frame.data < bytes.count ? frame : nil
    }

    /// Returns the offsets of the palette that a byte of flags declares. "The number of bytes is 3 × 2^(size + 1)".
    private static func palette(flags: UInt8, at start: Int) -> Range<Int> {
        flags & 0x80 == 0 ? start..<start : start..<start + 3 * (2 << Int(flags & 7))
    }

    /// Returns the offset after a sequence of blocks. Each block begins with its length; an empty block ends the
    /// sequence.
    private func end(ofBlocksAt start: Int) -> Int {
        var position = start
        while position < bytes.count, bytes[position] > 0 { position += 1 + Int(bytes[position]) }
        return position + 1
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
    }
}

/// The order of a frame's rows. An interlaced frame stores "every 8th row, starting with row 0; every 8th row, starting
/// with row 4; every 4th row, starting with row 2; every 2nd row, starting with row 1" (GIF89a, Appendix E).
struct GIFRowOrder {
    private static let passes = [(start: 0, step: 8), (start: 4, step: 8), (start: 2, step: 4), (start: 1, step: 2)]

    /// The number of rows.
    let height: Int
    /// Whether the frame stores its rows in four passes.
    let isInterlaced: Bool

    /// Returns the index of a row among the first `count` stored rows. If an interlaced frame lacks the row, returns
    /// the index of the nearest stored row above.
    func index(of row: Int, among count: Int) -> Int? {
        guard isInterlaced else { return row < count ? row : nil }
        var nearest: (row: Int, index: Int)?
        var before = 0
        for pass in Self.passes where pass.start < height {
            if row >= pass.start {
                let index = (row - pass.start) / pass.step
                let found = pass.start + index * pass.step
                if before + index < count, found > nearest?.row ?? -1 { nearest = (found, before + index) }
            }
            before += (height - pass.start + pass.step - 1) / pass.step
        }
        return nearest?.index
    }
}

/// Decompresses a frame's LZW-coded pixels from blocks that begin with their length.
///
/// The reader writes no more pixels than fit and reads no bytes beyond the end, and its table always has 4,096 entries.
/// So a small hostile file cannot keep the reader busy for longer than the frame's pixels take.
struct LZWReader {
    private let bytes: UnsafeRawBufferPointer
    /// The offset of the next byte, and the number of bytes left in its block.
    private var position = 1
    private var left = 0
    /// Bits that have been read but not yet used. The next bit is the lowest.
    private var bits: UInt32 = 0
    private var bitCount = 0

    /// For each code, the earlier code that it extends by one byte.
    private var earlier = [UInt16](repeating: 0, count: tableSize)
    private var suffix = [UInt8](repeating: 0, count: tableSize)
    private var first = [UInt8](repeating: 0, count: tableSize)
    private var length = [Int32](repeating: 0, count: tableSize)

    private static let tableSize = 4096

    /// Creates a reader. The first byte contains the initial code size.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Decompresses as many pixels as fit. Returns the number of pixels.
    mutating func read(into pixels: UnsafeMutableBufferPointer<UInt8>) -> Int {
        guard let depth = bytes.first, 1...8 ~= depth else { return 0 }
        let clear = 1 << Int(depth)
        for entry in 0..<clear {
            suffix[entry] = UInt8(truncatingIfNeeded: entry)
            first[entry] = suffix[entry]
            length[entry] = 1
        }
        var (next, width, previous) = (clear + 2, Int(depth) + 1, -1)
        var count = 0
        while count < pixels.count, let code = code(ofWidth: width), code != clear + 1 {
            if code == clear {
                (next, width, previous) = (clear + 2, Int(depth) + 1, -1)
                continue
            }
            // Only one entry may be used before it exists: the one that this code creates.
            guard code < clear || previous >= 0 && (code < next || code == next && next < Self.tableSize) else { break }
            if previous >= 0, next < Self.tableSize {
                earlier[next] = UInt16(previous)
                suffix[next] = code == next ? first[previous] : first[code]
                first[next] = first[previous]
                length[next] = length[previous] + 1
                next += 1
                if next == 1 << width, width < 12 { width += 1 }
            }
            count += unfold(code, into: pixels, at: count)
            previous = code
        }
        return count
    }

    /// Writes the bytes of a code, from the last to the first. Returns the number of bytes that fit.
    private func unfold(_ code: Int, into pixels: UnsafeMutableBufferPointer<UInt8>, at start: Int) -> Int {
        let whole = Int(length[code])
        let count = min(whole, pixels.count - start)
        var entry = code
        for _ in count..<whole { entry = Int(earlier[entry]) }
        for index in stride(from: start + count - 1, through: start, by: -1) {
            pixels[index] = suffix[entry]
            entry = Int(earlier[entry])
        }
        return count
    }

    private mutating func code(ofWidth width: Int) -> Int? {
        while bitCount < width {
            if left == 0 {
                guard position < bytes.count, bytes[position] > 0 else { return nil }
                left = Int(bytes[position])
                position += 1
            }
            guard position < bytes.count else { return nil }
            bits |= UInt32(bytes[position]) << UInt32(bitCount)
            bitCount += 8
            position += 1
            left -= 1
        }
        defer {
            bits >>= UInt32(width)
            bitCount -= width
        }
        return Int(bits & (1 << UInt32(width) - 1))
    }
}
