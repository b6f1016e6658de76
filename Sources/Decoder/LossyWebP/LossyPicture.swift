/// A simple lossy WebP file and a memory-safe decoder for it.
///
/// The code checks every index and uses no pointer, so a damaged file cannot reach the memory of another picture.
///
///     guard let picture = LossyPicture(bytes), let small = picture.decoded(eighths: 2) else {
///         return // Unusual or damaged: decode this picture in a process of its own.
///     }
///
/// The decoder supports opaque still pictures in one VP8 frame (RFC 6386). It declines all other files: lossless,
/// transparent and animated files, files with an orientation or a profile, and damaged files.
public struct LossyPicture: Sendable {
    /// The picture's width in pixels, before scaling.
    public let width: Int
    /// The picture's height in pixels, before scaling.
    public let height: Int

    private let header: FrameHeader

    /// Reads the file's header. Returns nil if this decoder does not support the file.
    ///
    /// This initialiser does not read the pixels, so `decoded` may still decline the picture.
    public init?(_ bytes: [UInt8]) {
        guard let file = LossyFile(bytes), let header = FrameHeader(bytes, file.frame) else { return nil }
        if let canvas = file.canvas { guard canvas == (header.width, header.height) else { return nil } }
        self.header = header
        width = header.width
        height = header.height
    }

    /// Decodes the picture at `eighths`/8 of its size, rounded up. `eighths` must be 1, 2, 4 or 8. Returns nil if the
    /// file is damaged.
    ///
    /// Each pixel of a smaller picture is the mean of the pixels that it covers. The decoder applies the loop filter,
    /// which smooths the edges of blocks, only at full size. libwebp also omits this filter when it reduces a picture.
    public func decoded(eighths: Int) -> LossyPixels? {
        guard eighths == 1 || eighths == 2 || eighths == 4 || eighths == 8 else { return nil }
        var decoder = FrameDecoder(header)
        guard let frame = decoder.decode() else { return nil }
        let bytes = eighths == 8 ? frame.filteredPixels() : frame.reducedPixels(side: 8 / eighths)
        return LossyPixels(width: (width * eighths + 7) / 8, height: (height * eighths + 7) / 8, bytes: bytes)
    }
}

/// A decoded picture.
///
///     let top = pixels.bytes[..<(3 * pixels.width)]  // the first row: red, green, blue, red, ...
public struct LossyPixels: Sendable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The RGB bytes, three per pixel, in rows from the top without padding.
    public let bytes: [UInt8]
}

/// Finds the frame in a file's chunks (WebP Container Specification).
struct LossyFile {
    /// The positions of the frame's bytes.
    let frame: Range<Int>
    /// The size that an extended file claims; nil for a simple file.
    let canvas: (width: Int, height: Int)?

    /// Reads the chunks. Returns nil if the file is unusual or truncated. Ignores bytes after the file's end.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 20, bytes[0..<4].elementsEqual("RIFF".utf8), bytes[8..<12].elementsEqual("WEBP".utf8)
        else { return nil }
        let length = Self.number(bytes, at: 4, bytes: 4)
        guard length <= bytes.count - 8 else { return nil }
        let end = 8 + length
        var position = 12
        var found: Range<Int>?
        var canvas: (width: Int, height: Int)?
        while position + 8 <= end {
            let size = Self.number(bytes, at: position + 4, bytes: 4)
            let content = position + 8
            guard size <= end - content else { return nil }
            switch String(decoding: bytes[position..<position + 4], as: UTF8.self) {
            case "VP8 ":
                guard found == nil else { return nil }
                found = content..<content + size
            case "VP8X":
                // The mask selects the flags of a profile, transparency, an orientation, and an animation.
                guard found == nil, size >= 10, bytes[content] & 0x3A == 0 else { return nil }
                canvas = (
                    1 + Self.number(bytes, at: content + 4, bytes: 3), 1 + Self.number(bytes, at: content + 7, bytes: 3)
                )
            case "VP8L", "ALPH", "ANIM", "ANMF", "EXIF", "ICCP": return nil
            default: break
            }
            position = content + size + size % 2
        }
        guard let found else { return nil }
        frame = found
        self.canvas = canvas
    }

    /// Reads a number whose lowest byte comes first.
    static func number(_ bytes: [UInt8], at position: Int, bytes count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
    }
}

/// The contents of a frame before its macroblocks (RFC 6386, 9).
struct FrameHeader: Sendable {
    let width: Int
    let height: Int
    /// The words of all coded parts of the frame.
    let words: [UInt32]
    /// The part with the header and the modes. The reader `modes` has already read the header.
    let modesPart: CodedWords.Part
    let modes: BooleanReader
    /// The parts with the coefficients: 1, 2, 4 or 8. The rows of macroblocks use these parts in turn.
    let partitions: [CodedWords.Part]
    /// Whether each macroblock states its segment.
    let hasSegmentMap: Bool
    let segmentProbabilities: [UInt8]
    /// The quantisation steps of the four segments.
    let steps: [QuantisationSteps]
    let filter: LoopFilter
    let tokens: TokenProbabilities
    /// The probability that a macroblock has coefficients, in units of 1/256. Nil means that all macroblocks have
    /// coefficients.
    let skipProbability: UInt8?

    /// The number of macroblocks in a row.
    var columns: Int { (width + 15) / 16 }
    /// The number of rows of macroblocks.
    var rows: Int { (height + 15) / 16 }

    /// The longest side that this decoder accepts, in pixels.
    private static let sideLimit = 4096
    /// The maximum number of pixels that this decoder accepts.
    private static let areaLimit = 4 << 20
    /// The minimum number of bits for a macroblock's modes. Because of this limit, a short file cannot make Vitrine
    /// allocate the memory of a large picture.
    private static let leastBits = 3

    /// The values of a frame's segments.
    private struct Segments {
        var isEnabled = false
        var hasMap = false
        /// Whether a segment's values replace the frame's values. Otherwise, they are added to the frame's values. A
        /// segment without values has 0, as in libwebp.
        var areAbsolute = true
        var indices = [0, 0, 0, 0]
        var levels = [0, 0, 0, 0]
        var probabilities: [UInt8] = [255, 255, 255]

        /// Reads the segments' values (RFC 6386, 9.3).
        init(_ reader: inout BooleanReader, _ words: [UInt32]) {
            isEnabled = reader.flag(words, 128)
            guard isEnabled else { return }
            hasMap = reader.flag(words, 128)
            if reader.flag(words, 128) {
                areAbsolute = reader.flag(words, 128)
                for index in 0..<4 { indices[index] = reader.optionalSignedNumber(words, bits: 7) }
                for index in 0..<4 { levels[index] = reader.optionalSignedNumber(words, bits: 6) }
            }
            guard hasMap else { return }
            for index in 0..<3 where reader.flag(words, 128) {
                probabilities[index] = UInt8(truncatingIfNeeded: reader.number(words, bits: 8))
            }
        }

        /// Returns a segment's value. `own` has the values of all segments, and `common` is the frame's value.
        func value(_ own: [Int], _ segment: Int, _ common: Int) -> Int {
            !isEnabled ? common : areAbsolute ? own[segment] : common + own[segment]
        }
    }

    /// Reads the header. Returns nil if the frame is damaged or unusual.
    init?(_ bytes: [UInt8], _ frame: Range<Int>) {
        let start = frame.lowerBound
        guard frame.count >= 10, bytes[start + 3..<start + 6].elementsEqual([0x9D, 0x01, 0x2A]) else { return nil }
        let tag = LossyFile.number(bytes, at: start, bytes: 3)
        // The frame must be a key frame of a known version, and must be shown (9.1).
        guard tag & 1 == 0, tag >> 1 & 7 <= 3, tag >> 4 & 1 == 1 else { return nil }
        width = LossyFile.number(bytes, at: start + 6, bytes: 2) & 0x3FFF
        height = LossyFile.number(bytes, at: start + 8, bytes: 2) & 0x3FFF
        guard width > 0, height > 0, width <= Self.sideLimit, height <= Self.sideLimit,
            width * height <= Self.areaLimit
        else { return nil }
        let first = start + 10..<start + 10 + tag >> 5
        let macroblocks = (width + 15) / 16 * ((height + 15) / 16)
        guard first.upperBound <= frame.upperBound, macroblocks * Self.leastBits <= 8 * first.count else { return nil }

        var coded = CodedWords()
        modesPart = coded.add(bytes, first)
        var reader = BooleanReader(modesPart)
        let words = coded.words
        // Skip the bits for the colour space and for clamping (9.2). All decoders treat 0 and 1 alike.
        _ = reader.number(words, bits: 2)
        let segments = Segments(&reader, words)
        var filter = LoopFilter(&reader, words)
        let count = 1 << reader.number(words, bits: 2)
        let common = reader.number(words, bits: 7)
        let differences = QuantisationSteps.Differences(&reader, words)
        steps = (0..<4).map {
            QuantisationSteps(index: segments.value(segments.indices, $0, common), differences)
        }
        filter.setLevels((0..<4).map { segments.value(segments.levels, $0, filter.level) })
        self.filter = filter
        hasSegmentMap = segments.hasMap
        segmentProbabilities = segments.probabilities
        // Skip the flag that keeps the probabilities for the next frame.
        _ = reader.flag(words, 128)
        tokens = TokenProbabilities(reading: &reader, words)
        skipProbability =
            reader.flag(words, 128) ? UInt8(truncatingIfNeeded: reader.number(words, bits: 8)) : nil
        guard !reader.isBeyond(modesPart) else { return nil }
        modes = reader

        // The sizes of all parts but the last precede the parts (9.5).
        var position = first.upperBound + 3 * (count - 1)
        guard position <= frame.upperBound else { return nil }
        var partitions: [CodedWords.Part] = []
        for index in 0..<count {
            let size =
                index == count - 1
                ? frame.upperBound - position
                : LossyFile.number(bytes, at: first.upperBound + 3 * index, bytes: 3)
            guard size <= frame.upperBound - position else { return nil }
            partitions.append(coded.add(bytes, position..<position + size))
            position += size
        }
        self.partitions = partitions
        self.words = coded.words
    }
}

/// A picture's coded parts in 32-bit words. In each word, the first bit is the highest.
struct CodedWords {
    /// A part that a `BooleanReader` reads.
    struct Part {
        /// The indices of the part's words.
        let words: Range<Int>
        /// The number of bits in the part.
        let bits: Int
    }

    /// The words of all parts.
    private(set) var words: [UInt32] = []

    /// Adds the bytes of a part; zeros fill the last word.
    mutating func add(_ bytes: [UInt8], _ range: Range<Int>) -> Part {
        let first = words.count
        words.reserveCapacity(first + (range.count + 3) / 4)
        var position = range.lowerBound
        while range.upperBound - position >= 4 {
            words.append(
                UInt32(bytes[position]) << 24 | UInt32(bytes[position + 1]) << 16
                    | UInt32(bytes[position + 2]) << 8 | UInt32(bytes[position + 3]))
            position += 4
        }
        if position < range.upperBound {
            let rest = (position..<range.upperBound).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[$1]) }
            words.append(rest << UInt32(8 * (position + 4 - range.upperBound)))
        }
        return Part(words: first..<words.count, bits: 8 * range.count)
    }
}
