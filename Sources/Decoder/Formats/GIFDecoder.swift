import Glibc
import Pixels

/// GIF: 87a and 89a, interlaced or not, transparent or not; of an animation any picture, over those before it.
enum GIFDecoder: PictureDecoder {
    static let name = "GIF"

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8)
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        // For the first picture it is enough that there is a second one. A file is as long as it likes, and to count all of
        // them is to walk all of it.
        let isCounted = request.frame > 0 || request.run > 1 || !request.wantsPixels
        guard let file = GIFFile(bytes, atMost: isCounted ? DecodeRequest.frames.count : 2) else {
            throw .damaged("its header is missing")
        }
        try PictureBounds.check(file.size, isHeldWhole: true)
        guard !file.frames.isEmpty else { throw .damaged("it has a header and no picture") }
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
                x: frame.place.x, y: frame.place.y, width: frame.size.width, height: frame.size.height, on: size),
            disposal: frame.disposal, isOpaque: frame.transparent == nil,
            pixelCount: frame.size.width * frame.size.height, duration: frame.duration)
    }

    /// Unpacks a picture and paints what is not transparent of it. Returns how much of it came; of one that was cut
    /// short, the rows are coarse if they are interlaced, and missing at the bottom if they are not.
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
            guard let row = order.place(of: y - frame.place.y, among: rowsThere) else { continue }
            let target = canvas.row(y)
            for x in area.columns {
                let index = pixels[row * size.width + x - frame.place.x]
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

/// What a GIF says before and between its pictures, walked without unpacking any.
struct GIFFile {
    /// One picture of the file, and where its parts are.
    struct Frame {
        var place = (x: 0, y: 0)
        var size = PixelSize(width: 0, height: 0)
        var isInterlaced = false
        /// Where the bytes of its colours are; empty where there are none.
        var palette = 0..<0
        /// The colour that is not painted.
        var transparent: UInt8?
        var disposal = Animation.Disposal.keep
        /// In milliseconds.
        var duration = 0
        /// Where the packed pixels begin, with the number of bits of the first.
        var data = 0
    }

    /// The canvas's sides, 0 where the file has none.
    let size: PixelSize
    /// The pictures, as far as the file goes and as many as are looked at.
    private(set) var frames: [Frame] = []

    private let bytes: UnsafeRawBufferPointer
    private static let headerLength = 13

    /// Walks a file whose signature was recognised, as far as there are so many pictures; nothing where it ends in its header.
    init?(_ bytes: UnsafeRawBufferPointer, atMost limit: Int) {
        guard bytes.count >= Self.headerLength else { return nil }
        self.bytes = bytes
        size = PixelSize(width: Self.number(bytes, at: 6), height: Self.number(bytes, at: 8))
        let common = Self.palette(flags: bytes[10], at: Self.headerLength)
        var position = common.upperBound
        // What the next picture is told by the extension before it.
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
                // 0x3B is the end, and everything else has no meaning.
                return
            }
        }
    }

    /// The bytes from a picture's packed pixels on.
    func data(of frame: Frame) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[min(frame.data, bytes.count)...])
    }

    /// A picture's colours: 256, those that the file does not have are black. Opaque, but for the one that is not painted.
    func colours(of frame: Frame) -> [(red: UInt8, green: UInt8, blue: UInt8)] {
        let there = frame.palette.clamped(to: 0..<bytes.count)
        return (0..<256).map { index in
            let start = there.lowerBound + 3 * index
            return start + 3 <= there.upperBound ? (bytes[start], bytes[start + 1], bytes[start + 2]) : (0, 0, 0)
        }
    }

    /// "Graphic Control Extension": how the next picture disappears, how long it is shown and what of it is not painted.
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
        frame.place = (Self.number(bytes, at: position + 1), Self.number(bytes, at: position + 3))
        frame.size = PixelSize(
            width: Self.number(bytes, at: position + 5), height: Self.number(bytes, at: position + 7))
        let flags = bytes[position + 9]
        frame.isInterlaced = flags & 0x40 != 0
        let own = Self.palette(flags: flags, at: position + 10)
        frame.palette = own.isEmpty ? common : own
        frame.data = own.upperBound
        return frame.data < bytes.count ? frame : nil
    }

    /// Where the colours are that a byte of flags speaks of: "the number of bytes is 3 × 2^(size + 1)".
    private static func palette(flags: UInt8, at start: Int) -> Range<Int> {
        flags & 0x80 == 0 ? start..<start : start..<start + 3 * (2 << Int(flags & 7))
    }

    /// The place behind a row of blocks, each of which begins with its length; the last has none.
    private func end(ofBlocksAt start: Int) -> Int {
        var position = start
        while position < bytes.count, bytes[position] > 0 { position += 1 + Int(bytes[position]) }
        return position + 1
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
    }
}

/// In which order the rows of a GIF's picture are stored: "every 8th row, starting with row 0; every 8th row, starting with
/// row 4; every 4th row, starting with row 2; every 2nd row, starting with row 1" (GIF89a, Appendix E) if it is interlaced.
struct GIFRowOrder {
    private static let passes = [(start: 0, step: 8), (start: 4, step: 8), (start: 2, step: 4), (start: 1, step: 2)]

    /// The picture's rows.
    let height: Int
    /// Whether they are stored in four passes.
    let isInterlaced: Bool

    /// Where a row is among the first `count` that are stored. Of an interlaced picture whose row is not among them, the
    /// nearest one above it that is.
    func place(of row: Int, among count: Int) -> Int? {
        guard isInterlaced else { return row < count ? row : nil }
        var nearest: (row: Int, place: Int)?
        var before = 0
        for pass in Self.passes where pass.start < height {
            if row >= pass.start {
                let index = (row - pass.start) / pass.step
                let found = pass.start + index * pass.step
                if before + index < count, found > nearest?.row ?? -1 { nearest = (found, before + index) }
            }
            before += (height - pass.start + pass.step - 1) / pass.step
        }
        return nearest?.place
    }
}

/// Unpacks the pixels of one GIF picture: LZW, in blocks that each begin with their length.
///
/// It writes no more than it is given room for, reads no more than there is, and its table has 4,096 entries whatever the
/// file says: a small file cannot keep it busy for longer than its pixels take.
struct LZWReader {
    private let bytes: UnsafeRawBufferPointer
    /// The next byte, and how many are left of the block it is in.
    private var position = 1
    private var left = 0
    /// Bits that were read and not used yet, the next one lowest.
    private var bits: UInt32 = 0
    private var bitCount = 0

    /// Each entry of the table is another one with a byte behind it.
    private var earlier = [UInt16](repeating: 0, count: tableSize)
    private var suffix = [UInt8](repeating: 0, count: tableSize)
    private var first = [UInt8](repeating: 0, count: tableSize)
    private var length = [Int32](repeating: 0, count: tableSize)

    private static let tableSize = 4096

    /// Reads from the byte that says how many bits a pixel has.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Unpacks as many pixels as there are, and returns their number.
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
            // The one entry that may be used before it is there: the one that this code makes.
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

    /// Writes an entry's bytes, which come last first; returns how many there was room for.
    private func unfold(_ code: Int, into pixels: UnsafeMutableBufferPointer<UInt8>, at start: Int) -> Int {
        let whole = Int(length[code])
        let count = min(whole, pixels.count - start)
        var entry = code
        for _ in count..<whole { entry = Int(earlier[entry]) }
        for place in stride(from: start + count - 1, through: start, by: -1) {
            pixels[place] = suffix[entry]
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
