import Pixels

/// Decodes Windows bitmaps with all versions of the header. Supports 1 to 32 bits per pixel, run lengths, and rows
/// stored from the top or the bottom.
///
/// This decoder uses no library, and checks every access to the file.
enum BMPDecoder: PictureDecoder {
    static let name = "BMP"

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.starts(with: "BM".utf8) else { return false }
        // Two letters are too few for a signature, so this also checks the length of the second header.
        let length = FileBytes(bytes).number(at: 14, length: 4, isBigEndian: false)
        return length.map(BMPHeader.lengths.contains) ?? false
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        let header = try BMPHeader(bytes)
        try PictureBounds.check(header.size, isHeldWhole: header.hasRuns)
        let plan = DecodePlan(stored: header.size, orientation: .upright, request: request)
        let facts = PictureFacts(format: name)
        guard request.wantsPixels else { return plan.reply(facts) }

        var output = OutputRows(
            plan, source: header.size, region: plan.region, channels: header.hasAlpha ? .rgba : .rgb,
            conversion: ColourConversion(profile: header.profile))
        var reader = BMPRows(bytes, header)
        for row in output.sourceRows {
            reader.read(row).withUnsafeBufferPointer { output.add($0) }
        }
        return try output.reply(facts, isComplete: reader.isComplete, cameToAnything: reader.cameToAnything)
    }
}

/// A bitmap's header.
struct BMPHeader {
    /// The lengths of all versions of the second header. That header follows the file header of 14 bytes.
    static let lengths: Set = [12, 16, 40, 52, 56, 64, 108, 124]

    /// The picture's size.
    let size: PixelSize
    /// Whether the file's first row is the uppermost one. Usually it is the lowest.
    let isTopDown: Bool
    /// The number of bits of a pixel.
    let depth: Int
    /// Whether the pixels are palette indices, compressed as run lengths.
    let hasRuns: Bool
    /// The palette's colours in RGB; empty if pixels state their own colours.
    let palette: [UInt8]
    /// The bit masks of red, green, blue and opacity in a pixel of 16 or 32 bits.
    let masks: [UInt32]
    /// The offset of the pixels in the file.
    let start: Int
    /// The colour profile; nil if the file has none.
    let profile: UnsafeRawBufferPointer?

    /// Whether pixels have an opacity.
    var hasAlpha: Bool { masks[3] != 0 }
    /// The number of bytes of a row, a multiple of four.
    var rowLength: Int { (size.width * depth + 31) / 32 * 4 }

    private enum Compression {
        static let none = 0
        static let runsOfBytes = 1
        static let runsOfHalves = 2
        static let masks = 3
        static let masksWithOpacity = 6
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(DecodeFailure) {
        let file = FileBytes(bytes)
        func number(_ offset: Int, _ length: Int) throws(DecodeFailure) -> Int {
            guard let number = file.number(at: offset, length: length, isBigEndian: false) else {
                throw .damaged("its header is incomplete")
            }
            return number
        }
        let length = try number(14, 4)
        let isOld = length == 12
        let width = isOld ? try number(18, 2) : Self.signed(try number(18, 4))
        let height = isOld ? try number(20, 2) : Self.signed(try number(22, 4))
        size = PixelSize(width: width, height: abs(height))
        isTopDown = height < 0
        depth = try number(isOld ? 24 : 28, 2)
        let compression = length >= 40 ? try number(30, 4) : Compression.none
        let runs = [Compression.runsOfBytes: 8, Compression.runsOfHalves: 4]
        hasRuns = runs[compression] != nil
        // In the header of OS/2, the compression numbers from 3 on have other meanings.
        let hasMasks =
            [Compression.masks, Compression.masksWithOpacity].contains(compression) && length != 64
            && [16, 32].contains(depth)
        guard [1, 2, 4, 8, 16, 24, 32].contains(depth),
            compression == Compression.none || hasMasks || runs[compression] == depth
        else { throw .unsupportedFormat("BMP (compression \(compression) of \(depth) bits)") }

        var place = 14 + length
        var masks: [UInt32] = depth == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF_0000, 0xFF00, 0xFF, 0]
        if hasMasks {
            let count = compression == Compression.masksWithOpacity || length >= 56 ? 4 : 3
            for index in 0..<count { masks[index] = UInt32(try number(54 + 4 * index, 4)) }
            if length == 40 { place += 4 * count }
        }
        self.masks = masks
        let pixels = try number(10, 4)
        start = pixels
        palette = depth <= 8 ? try Self.palette(file, at: place, isOld ? 3 : 4, length, depth, end: pixels) : []
        profile = length == 124 ? Self.profile(file) : nil
    }

    /// Reads the palette's colours, which are stored in the order blue, green, red. The list may be shorter than the
    /// file states.
    private static func palette(
        _ file: FileBytes, at place: Int, _ width: Int, _ length: Int, _ depth: Int, end: Int
    ) throws(DecodeFailure) -> [UInt8] {
        let stated = length >= 40 ? file.number(at: 46, length: 4, isBigEndian: false) ?? 0 : 0
        var count = min(stated > 0 ? stated : 256, 1 << depth)
        // The pixels may begin before the end that the stated number of colours implies.
        if end > place { count = min(count, (end - place) / width) }
        var palette = [UInt8](repeating: 0, count: 3 << depth)
        for color in 0..<count {
            for channel in 0..<3 {
                guard let value = file[place + width * color + 2 - channel] else {
                    throw .damaged("its palette is incomplete")
                }
                palette[3 * color + channel] = value
            }
        }
        return palette
    }

    /// Returns the embedded profile of a file with the last version of the header. The stated offset counts from the
    /// start of that header.
    private static func profile(_ file: FileBytes) -> UnsafeRawBufferPointer? {
        func number(_ offset: Int) -> Int { file.number(at: 14 + offset, length: 4, isBigEndian: false) ?? 0 }
        guard number(56) == 0x4D42_4544, number(116) <= ICCProfile.longest else { return nil }
        return file.part(at: 14 + number(112), count: number(116))
    }

    private static func signed(_ number: Int) -> Int { Int(Int32(truncatingIfNeeded: number)) }
}

/// The rows of a bitmap, in RGB or RGBA.
struct BMPRows {
    /// Whether all rows so far were in the file.
    private(set) var isComplete = true
    /// Whether any row was in the file.
    private(set) var cameToAnything = false

    private let file: FileBytes
    private let header: BMPHeader
    /// The channels' fields in a pixel with masks.
    private let fields: [Field]
    /// A row as stored.
    private var stored: [UInt8]
    /// A row's pixels.
    private var row: [UInt8]
    /// All palette indices, unpacked from run lengths, in the file's order of rows.
    private var numbers: [UInt8] = []

    /// One channel's bits in a pixel.
    private struct Field {
        let mask: UInt32
        let shift: UInt32
        /// The largest value, at most 255.
        let most: UInt32

        init(_ mask: UInt32) {
            self.mask = mask
            let width = UInt32(mask.nonzeroBitCount)
            // Only the upper eight bits of a field are used.
            shift = UInt32(mask.trailingZeroBitCount) + (width > 8 ? width - 8 : 0)
            most = width == 0 ? 0 : 1 << min(width, 8) - 1
        }

        func value(_ pixel: UInt32) -> UInt8 {
            guard most > 0 else { return 0 }
            let value = min((pixel & mask) >> shift, most)
            return UInt8((value * 255 + most / 2) / most)
        }
    }

    init(_ bytes: UnsafeRawBufferPointer, _ header: BMPHeader) {
        file = FileBytes(bytes)
        self.header = header
        fields = header.masks.prefix(header.hasAlpha ? 4 : 3).map(Field.init)
        stored = Array(repeating: 0, count: header.hasRuns ? header.size.width : header.rowLength)
        row = Array(repeating: 0, count: header.size.width * (header.hasAlpha ? 4 : 3))
        if header.hasRuns { unpack() }
    }

    /// Returns a row, counted from the top. Missing rows are black.
    mutating func read(_ index: Int) -> [UInt8] {
        let index = header.isTopDown ? index : header.size.height - 1 - index
        if header.hasRuns {
            let start = index * header.size.width
            stored.replaceSubrange(stored.indices, with: numbers[start..<start + header.size.width])
            lookUp(depth: 8)
            return row
        }
        guard let part = file.part(at: header.start + index * header.rowLength, count: header.rowLength) else {
            isComplete = false
            for place in row.indices { row[place] = 0 }
            return row
        }
        cameToAnything = true
        stored.withUnsafeMutableBytes { $0.copyBytes(from: part) }
        switch header.depth {
        case 24:
            for pixel in 0..<header.size.width {
                row[3 * pixel] = stored[3 * pixel + 2]
                row[3 * pixel + 1] = stored[3 * pixel + 1]
                row[3 * pixel + 2] = stored[3 * pixel]
            }
        case 16, 32: separate()
        default: lookUp(depth: header.depth)
        }
        return row
    }

    /// Separates the channels of pixels of 16 or 32 bits.
    private mutating func separate() {
        let (length, channels) = (header.depth / 8, fields.count)
        for pixel in 0..<header.size.width {
            var value: UInt32 = 0
            for byte in 0..<length { value |= UInt32(stored[length * pixel + byte]) << UInt32(8 * byte) }
            for channel in 0..<channels { row[channels * pixel + channel] = fields[channel].value(value) }
        }
    }

    /// Replaces the palette indices of a row by colours. In each byte, the first pixel has the highest bits.
    private mutating func lookUp(depth: Int) {
        let (perByte, most) = (8 / depth, 1 << depth - 1)
        for pixel in 0..<header.size.width {
            let shift = 8 - depth * (pixel % perByte + 1)
            let color = 3 * (Int(stored[pixel / perByte]) >> shift & most)
            guard color + 2 < header.palette.count else { continue }
            for channel in 0..<3 { row[3 * pixel + channel] = header.palette[color + channel] }
        }
    }

    /// Unpacks run lengths. Each pair of bytes is a count and a palette index. If the count is 0, the second byte is a
    /// command. The command 0 ends the row, 1 ends the picture, and 2 moves to the right and up. A larger command is
    /// the count of indices that follow.
    private mutating func unpack() {
        let (width, height) = (header.size.width, header.size.height)
        numbers = Array(repeating: 0, count: width * height)
        var (x, y, place) = (0, 0, header.start)
        let hasHalves = header.depth == 4
        func half(_ byte: UInt8, _ index: Int) -> UInt8 {
            hasHalves ? (index % 2 == 0 ? byte >> 4 : byte & 15) : byte
        }
        while y < height {
            guard let count = file[place], let second = file[place + 1] else {
                isComplete = false
                return
            }
            place += 2
            cameToAnything = true
            switch (count, second) {
            case (0, 0): (x, y) = (0, y + 1)
            case (0, 1): return
            case (0, 2):
                (x, y) = (x + Int(file[place] ?? 0), y + Int(file[place + 1] ?? 0))
                place += 2
            case (0, _):
                for index in 0..<Int(second) {
                    guard let byte = file[place + (hasHalves ? index / 2 : index)] else { break }
                    if x < width { numbers[y * width + x] = half(byte, index) }
                    x += 1
                }
                let length = hasHalves ? (Int(second) + 1) / 2 : Int(second)
                place += length + length % 2
            default:
                for index in 0..<Int(count) where x + index < width {
                    numbers[y * width + x + index] = half(second, index)
                }
                x += Int(count)
            }
        }
    }
}
