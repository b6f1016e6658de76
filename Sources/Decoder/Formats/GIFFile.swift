import Pixels

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
